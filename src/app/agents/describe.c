/* What a launch and a configuration look like from outside. */
#include <stdlib.h>
#include <string.h>

#include "app/agents/compose.h"
#include "base/environ.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "data/json-out.h"

/* -- a launch ------------------------------------------------------------------------------------
 */

static void or_null(struct json_out *o, const char *name, bool there, struct str value)
{
	if (there)
		json_out_str(o, name, value);
	else
		json_out_null(o, name);
}

static void write_env(struct json_out *o, const struct compiled *c)
{
	json_out_object(o, "env");
	for (size_t i = 0; i < c->envc; i++) {
		struct str entry = str_of(c->env[i]);
		size_t equals = str_find(entry, '=', 0);

		if (environ_sets(c->env + i + 1, c->env[i]))
			continue;
		json_out_name(o, str_sub(entry, 0, equals));
		json_out_str(o, NULL, str_from(entry, equals + 1));
	}
	json_out_object_end(o);
}

static void write_contexts(struct json_out *o, const struct resolved *r)
{
	json_out_array(o, "contexts");
	vec_each (c, &r->contexts)
		if (c->state == CONTEXT_USED)
			json_out_str(o, NULL, c->name);
	json_out_array_end(o);
}

void prompts_json(const struct prompts_launch *l, struct buf *b)
{
	const struct selection *s = &l->selection;
	const struct compiled *c = &l->compiled;
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_str(&o, "agent", s->agent->name);
	json_out_str_or_null(&o, "model", s->model);
	or_null(&o, "role", s->has_role, s->role.name);
	json_out_str(&o, "role_text", buf_str(&l->resolved.role));
	write_contexts(&o, &l->resolved);
	or_null(&o, "task", s->has_task, s->task.name);
	json_out_str(&o, "prompt", buf_str(&l->resolved.prompt));
	json_out_str(&o, "cwd", str_of(l->cwd));
	json_out_str(&o, "form", c->form == FORM_DIRECT ? S("direct") : S("shell"));
	json_out_array(&o, "argv");
	for (size_t i = 0; i < c->argc; i++)
		json_out_str(&o, NULL, str_of(c->argv[i]));
	json_out_array_end(&o);
	write_env(&o, c);
	json_out_str_or_null(&o, "stdin", l->gives_stdin ? S("prompt") : S(""));
	json_out_str(&o, "command", c->display);
	json_out_array(&o, "warnings");
	vec_each (i, &l->warnings.issues)
		json_out_str(&o, NULL, i->message);
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static void line(struct buf *b, const char *name, struct str value)
{
	buf_printf(b, "%-9s ", name);
	text_plain(b, value);
	buf_addc(b, '\n');
}

static void block(struct buf *b, const char *name, struct str text)
{
	buf_printf(b, "%s\n", name);
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		buf_adds(b, "  ");
		text_plain(b, str_sub(text, at, end - at));
		buf_addc(b, '\n');
		at = end + 1;
	}
}

void prompts_summary(const struct prompts_launch *l, bool verbose, struct buf *b)
{
	static const char *const states[] = {
		[CONTEXT_USED] = "", [CONTEXT_EMPTY] = " (empty)", [CONTEXT_SKIPPED] = " (left out)"
	};
	const struct selection *s = &l->selection;
	AUTO_BUF list = BUF_INIT;

	line(b, "agent", s->agent->name);
	if (s->model.len)
		line(b, "model", s->model);
	line(b, "role", s->has_role ? s->role.name : S("none"));
	vec_each (c, &l->resolved.contexts)
		buf_printf(&list, "%s%.*s%s", list.len ? ", " : "", STR(c->name), states[c->state]);
	line(b, "contexts", list.len ? buf_str(&list) : S("none"));
	if (s->has_task)
		line(b, "task", s->task.name);
	if (!verbose)
		return;
	line(b, "directory", str_of(l->cwd));
	line(b, "form", l->compiled.form == FORM_DIRECT ? S("direct") : S("shell"));
	if (s->has_role)
		block(b, "role text", buf_str(&l->resolved.role));
	block(b, "prompt", buf_str(&l->resolved.prompt));
}

/* -- a configuration -----------------------------------------------------------------------------
 */

static int by_name(const void *a, const void *b)
{
	const struct config_entry *const *x = a, *const *y = b;

	return str_cmp((*x)->name, (*y)->name);
}

static const char *scope_name(const struct config_entry *e)
{
	return e->scope == SCOPE_LOCAL ? "local" : "global";
}

static void entry_json(const struct config_entry *e, struct json_out *o)
{
	json_out_object(o, NULL);
	json_out_str(o, "name", e->name);
	json_out_str(o, "scope", str_of(scope_name(e)));
	json_out_str(o, "file", e->place->doc->source.name);
	json_out_value(o, "fields", e->value);
	json_out_object_end(o);
}

static void entry_line(const struct config_entry *e, struct buf *b)
{
	struct str alias = config_text(e, "alias"), says = config_text(e, "description");

	text_plain(b, e->name);
	if (alias.len) {
		buf_adds(b, " (");
		text_plain(b, alias);
		buf_addc(b, ')');
	}
	if (e->kind == KIND_CONTEXT && config_bool(e, "required"))
		buf_adds(b, " [required]");
	if (e->scope == SCOPE_LOCAL)
		buf_adds(b, " [local]");
	if (says.len) {
		buf_adds(b, "  ");
		text_plain(b, says);
	}
	buf_addc(b, '\n');
}

void prompts_list(const struct config *c, enum config_kind kind, bool json, struct buf *b)
{
	VEC(const struct config_entry *) list = { 0 };
	struct json_out o = { .b = b };

	vec_each (e, &c->entries[kind])
		if (!config_any_agent(*e))
			vec_push(&list, *e);
	/* The order of the file counts for agents, roles and contexts: the first is the default. */
	if (kind == KIND_TASK && list.len)
		qsort(list.at, list.len, sizeof(*list.at), by_name);
	if (json) {
		json_out_object(&o, NULL);
		json_out_array(&o, config_table_name(kind));
	}
	vec_each (e, &list) {
		if (json)
			entry_json(*e, &o);
		else
			entry_line(*e, b);
	}
	if (json) {
		json_out_array_end(&o);
		json_out_object_end(&o);
		buf_addc(b, '\n');
	}
	vec_done(&list);
}

void prompts_show(const struct config_entry *e, bool json, struct buf *b)
{
	const char *key;
	json_t *value;

	if (json) {
		entry_json(e, &(struct json_out){ .b = b });
		buf_addc(b, '\n');
		return;
	}
	line(b, config_kind_name(e->kind), e->name);
	line(b, "file", e->place->doc->source.name);
	json_object_foreach((json_t *)e->value, key, value)
	{
		AUTO_BUF text = BUF_INIT;

		if (json_is_string(value) && str_contains(json_str(value), S("\n"))) {
			block(b, key, json_str(value));
			continue;
		}
		if (json_is_string(value))
			buf_add(&text, json_str(value));
		else
			json_write(&text, value, 0);
		line(b, key, buf_str(&text));
	}
}
