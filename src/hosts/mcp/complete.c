/* completion/complete: values of variables in addresses of resources. */
#include <string.h>

#include "app/artifacts.h"
#include "app/runs.h"
#include "hosts/mcp/catalog.h"
#include "hosts/mcp/methods.h"
#include "hosts/mcp/run-steps.h"

enum { MOST = 100, LOOKED_AT = 1000 };

struct offers {
	json_t *values;
	struct str begins;
	size_t total;
};

static void offer(struct offers *o, struct str value)
{
	if (!str_starts(value, o->begins))
		return;
	o->total++;
	if (json_array_size(o->values) < MOST)
		json_array_append_new(o->values, json_from_str(value));
}

static bool offer_run(void *data, const struct run_entry *e)
{
	offer(data, e->id);
	return true;
}

static void begin_again(void *data)
{
	struct offers *o = data;

	json_array_clear(o->values);
	o->total = 0;
}

static bool offer_artifact(void *data, const struct artifact *a)
{
	offer(data, a->name);
	return true;
}

/* Names within the run that the client has chosen before. */
static void offer_of_run(struct mcp *m, struct offers *o, struct str run, bool steps)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, run);
	struct run_handle *h = run.len ? runs_open(m->app, buf_cstr(&name), &ignored) : NULL;
	if (!h)
		return;
	if (steps) {
		AUTO_JSON *all = run_steps(h);
		json_t *step;
		size_t i;

		json_array_foreach(all, i, step)
		{
			struct str label = json_text_of(step, "label");

			offer(o, label.len ? label : json_text_of(step, "path"));
		}
	} else {
		artifacts_each(h, offer_artifact, o);
	}
	run_close(h);
}

static void complete_resource(
	struct mcp *m, struct str template, const char *variable, struct str run, struct offers *o)
{
	AUTO_REPORT ignored = REPORT_INIT;
	bool recipes = str_starts(template, S("roux://recipes/"));

	if (strcmp(variable, "id") == 0 && recipes) {
		catalog_read(m->catalog);
		vec_each (t, &m->catalog->tools)
			if (!(*t)->builtin)
				offer(o, (*t)->id);
	} else if (strcmp(variable, "id") == 0) {
		runs_each(m->app, &(struct run_filter){ .limit = LOOKED_AT }, offer_run,
			begin_again, o, &ignored);
	} else if (strcmp(variable, "stream") == 0) {
		offer(o, S("stderr"));
		offer(o, S("stdout"));
	} else if (strcmp(variable, "step") == 0 || strcmp(variable, "name") == 0) {
		offer_of_run(m, o, run, variable[0] == 's');
	}
}

void method_complete(struct exchange *x)
{
	const json_t *ref = json_object_get(x->params, "ref");
	const json_t *argument = json_object_get(x->params, "argument");
	const json_t *variable = json_object_get(argument, "name");
	const json_t *value = json_object_get(argument, "value");
	struct str type = json_text_of(ref, "type"), template = json_text_of(ref, "uri");
	const json_t *context = json_object_get(json_object_get(x->params, "context"), "arguments");
	bool resource = str_eq(type, S("ref/resource"));

	if ((!resource && !str_eq(type, S("ref/prompt"))) ||
		(resource && !str_starts(template, S("roux://")))) {
		exchange_fail(x, RPC_PARAMS, NULL, "there is nothing of this kind to complete");
		return;
	}
	if (!json_is_string(variable) || !json_is_string(value)) {
		exchange_fail(x, RPC_PARAMS, NULL, "\"argument\" needs a name and a value");
		return;
	}
	struct offers o = { .values = json_array(), .begins = json_str(value) };
	if (resource)
		complete_resource(x->session->server, template, json_string_value(variable),
			json_text_of(context, "id"), &o);
	exchange_answer(x, json_pack("{s:{s:o, s:I, s:b}}", "completion", "values", o.values,
				   "total", (json_int_t)o.total, "hasMore", o.total > MOST));
}
