/* Configured tasks and roles as prompts (docs/mcp.md, "Resources and prompts"). */
#include <stdlib.h>

#include "app/agents.h"
#include "hosts/mcp/call.h"
#include "hosts/mcp/catalog.h"
#include "hosts/mcp/methods.h"

static const struct {
	enum agents_kind kind;
	const char *prefix, *word;
} kinds[] = { { AGENTS_TASK, "task.", "Task" }, { AGENTS_ROLE, "role.", "Role" } };

/* The configuration of the project is read only when the project is trusted: this directory has
 * none. */
static struct str place_of(const struct mcp *m)
{
	return app_state_root(m->app);
}

struct listing {
	json_t *all;
	size_t kind;
};

static bool see(void *data, const struct agents_entry *e)
{
	struct listing *l = data;
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF about = BUF_INIT;

	buf_printf(&name, "%s%.*s", kinds[l->kind].prefix, STR(e->name));
	if (e->description.len)
		buf_add(&about, e->description);
	else
		buf_printf(&about, "%s %.*s", kinds[l->kind].word, STR(e->name));
	json_array_append_new(
		l->all, json_pack("{s:o, s:o, s:[{s:s, s:s, s:b}]}", "name",
				json_from_str(buf_str(&name)), "description",
				json_from_str(buf_str(&about)), "arguments", "name", "instructions",
				"description", "what to do, in your own words", "required", 0));
	return true;
}

static int by_name(const void *a, const void *b)
{
	return str_cmp(json_text_of(*(json_t *const *)a, "name"),
		json_text_of(*(json_t *const *)b, "name"));
}

static json_t *sorted(json_t *all)
{
	size_t count = json_array_size(all);
	json_t **items = mem_resize(NULL, count + 1, sizeof(*items));
	json_t *ordered = json_array();

	for (size_t i = 0; i < count; i++)
		items[i] = json_array_get(all, i);
	if (count)
		qsort(items, count, sizeof(*items), by_name);
	for (size_t i = 0; i < count; i++)
		json_array_append(ordered, items[i]);
	free(items);
	json_decref(all);
	return ordered;
}

/* Of fixtures: its arguments are those of the recipe. */
static json_t *prompt_of_recipe(const struct tool *t)
{
	const json_t *required = json_object_get(t->input, "required");
	json_t *arguments = json_array(), *schema, *one;
	const char *name;
	size_t i;

	json_object_foreach(json_object_get(t->input, "properties"), name, schema)
	{
		bool needed = false;

		json_array_foreach(required, i, one) needed |= str_eq(json_str(one), str_of(name));
		json_array_append_new(
			arguments, json_pack("{s:s, s:b}", "name", name, "required", needed));
	}
	return json_pack("{s:o, s:o*, s:o}", "name", json_from_str(t->name), "description",
		json_incref(json_object_get(t->listed, "description")), "arguments", arguments);
}

json_t *prompts_all(const struct mcp *m)
{
	struct listing l = { .all = json_array() };

	if (m->options.no_prompts)
		return l.all;
	for (l.kind = 0; l.kind < ARRAY_SIZE(kinds); l.kind++) {
		AUTO_REPORT ignored = REPORT_INIT; /* nothing is configured, most often */

		(void)agents_each(kinds[l.kind].kind, place_of(m), see, &l, &ignored);
	}
	catalog_read(m->catalog);
	vec_each (t, &m->catalog->prompts)
		json_array_append_new(l.all, prompt_of_recipe(*t));
	return sorted(l.all);
}

/* Borrowed; NULL: it is not one. */
static struct tool *recipe_prompt(const struct mcp *m, struct str name)
{
	vec_each (t, &m->catalog->prompts)
		if (str_eq((*t)->name, name))
			return *t;
	return NULL;
}

static bool enabled(struct exchange *x)
{
	if (!x->session->server->options.no_prompts)
		return true;
	exchange_fail(x, RPC_METHOD, NULL, "prompts are switched off");
	return false;
}

void method_prompts_list(struct exchange *x)
{
	if (enabled(x))
		answer_page(x, "prompts", prompts_all(x->session->server), 0);
}

static const json_t *find(const json_t *all, struct str name)
{
	for (size_t i = 0; i < json_array_size(all); i++)
		if (str_eq(json_text_of(json_array_get(all, i), "name"), name))
			return json_array_get(all, i);
	return NULL;
}

static void answer(struct exchange *x, const json_t *prompt, const json_t *texts)
{
	json_t *messages = json_array(), *one;
	size_t i;

	json_array_foreach(texts, i, one) json_array_append_new(
		messages, json_pack("{s:s, s:{s:s, s:O}}", "role", "user", "content", "type",
				  "text", "text", json_object_get(one, "text")));
	exchange_answer(x, json_pack("{s:O, s:o}", "description",
				   json_object_get(prompt, "description"), "messages", messages));
}

/* False: an argument is wrong, and that has been answered. */
static bool check_arguments(struct exchange *x, const json_t *arguments)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)arguments, name, value)
	{
		if (!str_eq(str_of(name), S("instructions")) || !json_is_string(value)) {
			exchange_fail(x, RPC_PARAMS, NULL,
				"the argument '%s' is not one of this prompt: it takes the string "
				"'instructions'",
				name);
			return false;
		}
	}
	return true;
}

void method_prompts_get(struct exchange *x)
{
	struct mcp *m = x->session->server;
	struct str name = json_text_of(x->params, "name");
	const json_t *arguments = json_object_get(x->params, "arguments");
	AUTO_REPORT issues = REPORT_INIT;

	if (!enabled(x))
		return;
	AUTO_JSON *all = prompts_all(m);
	const json_t *prompt = find(all, name);
	if (!prompt) {
		exchange_fail(x, RPC_PARAMS, NULL, "unknown prompt '%.*s'", STR(name));
		return;
	}
	if (recipe_prompt(m, name)) {
		call_begin(x, recipe_prompt(m, name));
		return;
	}
	if (!check_arguments(x, arguments))
		return;
	bool task = str_starts(name, str_of(kinds[0].prefix));
	struct str own = str_from(name, str_of(kinds[task ? 0 : 1].prefix).len);
	struct str said = json_text_of(arguments, "instructions");
	struct agents_request q = { .mode = task ? AGENTS_LAUNCH_TASK : AGENTS_PROMPT,
		.cwd = place_of(m),
		.stands = place_of(m),
		.dry = true,
		.captured = true };
	if (task) {
		q.task = own;
		q.instructions = said;
	} else {
		q.role = own;
		q.text = said;
	}
	AUTO_JSON *texts = agents_render(&q, true, &issues);
	if (texts)
		answer(x, prompt, texts);
	else
		exchange_fail_report(x, RPC_PARAMS, &issues);
}
