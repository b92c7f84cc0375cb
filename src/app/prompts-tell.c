/* What a launch and a configuration look like from outside. */
#include <stdlib.h>
#include <string.h>

#include "app/prompts.h"
#include "base/plain-text.h"
#include "base/utf8.h"

/* -- a launch ------------------------------------------------------------------------------------
 */

static void member_str(struct buf *b, const char *name, struct str value, bool *first)
{
	json_member(b, name, first);
	json_write_str(b, value);
}

static void member_or_null(
	struct buf *b, const char *name, bool there, struct str value, bool *first)
{
	json_member(b, name, first);
	if (there)
		json_write_str(b, value);
	else
		buf_adds(b, "null");
}

static void write_argv(struct buf *b, const struct compiled *c)
{
	buf_addc(b, '[');
	for (size_t i = 0; i < c->argc; i++) {
		buf_adds(b, i ? "," : "");
		json_write_str(b, str_of(c->argv[i]));
	}
	buf_addc(b, ']');
}

static void write_env(struct buf *b, const struct compiled *c)
{
	bool first = true;

	buf_addc(b, '{');
	for (size_t i = 0; i < c->envc; i++) {
		struct str entry = str_of(c->env[i]);
		size_t equals = str_find(entry, '=', 0);
		bool again = false;

		for (size_t k = i + 1; k < c->envc; k++)
			again |= strncmp(c->env[k], c->env[i], equals + 1) == 0;
		if (again)
			continue;
		buf_adds(b, first ? "" : ",");
		first = false;
		json_write_str(b, str_sub(entry, 0, equals));
		buf_addc(b, ':');
		json_write_str(b, str_from(entry, equals + 1));
	}
	buf_addc(b, '}');
}

static void write_contexts(struct buf *b, const struct resolved *r)
{
	bool first = true;

	buf_addc(b, '[');
	vec_each (c, &r->contexts) {
		if (c->state != CONTEXT_USED)
			continue;
		buf_adds(b, first ? "" : ",");
		first = false;
		json_write_str(b, c->name);
	}
	buf_addc(b, ']');
}

static void write_warnings(struct buf *b, const struct report *r)
{
	bool first = true;

	buf_addc(b, '[');
	vec_each (i, &r->issues) {
		buf_adds(b, first ? "" : ",");
		first = false;
		json_write_str(b, i->message);
	}
	buf_addc(b, ']');
}

void prompts_json(const struct prompts_launch *l, struct buf *b)
{
	const struct selection *s = &l->selection;
	bool first = true;

	member_str(b, "agent", s->agent->name, &first);
	member_or_null(b, "model", s->model.len > 0, s->model, &first);
	member_or_null(b, "role", s->has_role, s->role.name, &first);
	member_str(b, "role_text", buf_str(&l->resolved.role), &first);
	json_member(b, "contexts", &first);
	write_contexts(b, &l->resolved);
	member_or_null(b, "task", s->has_task, s->task.name, &first);
	member_str(b, "prompt", buf_str(&l->resolved.prompt), &first);
	member_str(b, "cwd", str_of(l->cwd), &first);
	member_str(b, "form", l->compiled.form == FORM_DIRECT ? S("direct") : S("shell"), &first);
	json_member(b, "argv", &first);
	write_argv(b, &l->compiled);
	json_member(b, "env", &first);
	write_env(b, &l->compiled);
	json_member(b, "stdin", &first);
	buf_adds(b, l->gives_stdin ? "\"prompt\"" : "null");
	member_str(b, "command", l->compiled.display, &first);
	json_member(b, "warnings", &first);
	write_warnings(b, &l->warnings);
	buf_adds(b, "}\n");
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

static void entry_json(const struct config_entry *e, struct buf *b)
{
	bool first = true;

	member_str(b, "name", e->name, &first);
	member_str(b, "scope", str_of(scope_name(e)), &first);
	member_str(b, "file", e->place->doc->source.name, &first);
	json_member(b, "fields", &first);
	json_write(b, e->value, 0);
	buf_addc(b, '}');
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
	bool first = true;

	vec_each (e, &c->entries[kind])
		if (!config_any_agent(*e))
			vec_push(&list, *e);
	/* The order of the file counts for agents, roles and contexts: the first is the default. */
	if (kind == KIND_TASK && list.len)
		qsort(list.at, list.len, sizeof(*list.at), by_name);
	if (json)
		buf_printf(b, "{\"%s\":[", config_table_name(kind));
	vec_each (e, &list) {
		if (json) {
			buf_adds(b, first ? "" : ",");
			entry_json(*e, b);
		} else {
			entry_line(*e, b);
		}
		first = false;
	}
	if (json)
		buf_adds(b, "]}\n");
	vec_done(&list);
}

void prompts_show(const struct config_entry *e, bool json, struct buf *b)
{
	const char *key;
	json_t *value;

	if (json) {
		entry_json(e, b);
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
