/* What is configured, and prompts that are only rendered. */
#include <stdlib.h>

#include "app/agents/compose.h"
#include "data/json-out.h"
#include "prompts/names.h"

static enum config_kind config_kind_of(enum agents_kind kind)
{
	static const enum config_kind kinds[] = {
		[AGENTS_AGENT] = KIND_AGENT,
		[AGENTS_ROLE] = KIND_ROLE,
		[AGENTS_CONTEXT] = KIND_CONTEXT,
		[AGENTS_TASK] = KIND_TASK,
	};

	return kinds[kind];
}

const char *agents_kind_name(enum agents_kind kind)
{
	return config_kind_name(config_kind_of(kind));
}

static bool tell(enum agents_kind kind, const struct config_entry *e, agents_fn *fn, void *data)
{
	return fn(data, &(struct agents_entry){
				.kind = kind,
				.name = e->name,
				.alias = config_text(e, "alias"),
				.description = config_text(e, "description"),
				.file = e->place->doc->source.name,
				.fields = e->value,
				.local = e->scope == SCOPE_LOCAL,
				.required = kind == AGENTS_CONTEXT && config_bool(e, "required"),
			});
}

static int by_name(const void *a, const void *b)
{
	const struct config_entry *const *x = a, *const *y = b;

	return str_cmp((*x)->name, (*y)->name);
}

bool agents_each(enum agents_kind kind, struct str cwd, agents_fn *fn, void *data, struct report *r)
{
	VEC(const struct config_entry *) list = { 0 };
	struct config c = { 0 };
	bool ok = prompts_load(&c, cwd, true, r), more = true;

	if (ok) {
		vec_each (e, &c.entries[config_kind_of(kind)])
			if (!config_any_agent(*e))
				vec_push(&list, *e);
	}
	if (kind == AGENTS_TASK && list.len)
		qsort(list.at, list.len, sizeof(*list.at), by_name);
	for (size_t i = 0; i < list.len && more; i++)
		more = tell(kind, list.at[i], fn, data);
	vec_done(&list);
	config_done(&c);
	return ok;
}

bool agents_find(enum agents_kind kind, struct str cwd, struct str typed, struct buf *notes,
	agents_fn *fn, void *data, struct report *r)
{
	struct config c = { 0 };
	const struct config_entry *e = NULL;

	if (prompts_load(&c, cwd, true, r))
		e = names_find(&c, config_kind_of(kind), typed, notes, r);
	if (e)
		(void)tell(kind, e, fn, data);
	config_done(&c);
	return e != NULL;
}

void agents_entry_write(const struct agents_entry *entry, struct json_out *o)
{
	json_out_object(o, NULL);
	json_out_str(o, "name", entry->name);
	json_out_str(o, "scope", entry->local ? S("local") : S("global"));
	json_out_str(o, "file", entry->file);
	json_out_value(o, "fields", entry->fields);
	json_out_object_end(o);
}

/* -- rendering -----------------------------------------------------------------------------------
 */

static bool refuse_section(void *data, const char *const *argv, const char *cwd, double timeout_s,
	size_t max_output, struct buf *out, struct buf *why)
{
	(void)data;
	(void)argv;
	(void)cwd;
	(void)timeout_s;
	(void)max_output;
	(void)out;
	buf_adds(why, "commands are not allowed here");
	return false;
}

static json_t *message(struct str text)
{
	return json_pack("{s:s, s:o}", "role", "user", "text", json_from_str(text));
}

json_t *agents_render(const struct agents_request *q, bool commands, struct report *r)
{
	const struct prompt_request request = prompt_request_of(q);
	struct agents_launch l = { .role_file = TEMPORARY_NONE, .prompt_file = TEMPORARY_NONE };
	json_t *messages = NULL;

	prompt_date_now(&l.date);
	if (prompts_load(&l.config, q->cwd, true, r) &&
		select_all(&l.config, &request, &l.selection, r, &l.warnings) &&
		prompt_resolve(&(struct resolve_input){ .config = &l.config,
				       .request = &request,
				       .selection = &l.selection,
				       .date = buf_str(&l.date),
				       .run = commands ? prompts_run_section : refuse_section,
				       .run_data = &l },
			&l.resolved, r, &l.warnings)) {
		messages = json_array();
		if (l.resolved.role.len)
			json_array_append_new(messages, message(buf_str(&l.resolved.role)));
		if (l.resolved.prompt.len)
			json_array_append_new(messages, message(buf_str(&l.resolved.prompt)));
	}
	prompts_done(&l);
	return messages;
}
