#include "hosts/cli/prompt-text.h"

#include "base/plain-text.h"
#include "data/json-out.h"

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

/* -- what is configured --------------------------------------------------------------------------
 */

/* How it is started: on a terminal, and without one. */
static void agent_lines(const struct agents_entry *entry, struct buf *b)
{
	static const char *const fields[] = { "command", "batch" };

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++) {
		const json_t *text = json_object_get(entry->fields, fields[i]);

		if (!json_is_string(text))
			continue;
		buf_printf(b, "    %-8s ", fields[i]);
		text_plain(b, json_str(text));
		buf_addc(b, '\n');
	}
}

static void prompt_text_line(const struct agents_entry *entry, struct buf *b)
{
	text_plain(b, entry->name);
	if (entry->alias.len) {
		buf_adds(b, " (");
		text_plain(b, entry->alias);
		buf_addc(b, ')');
	}
	if (entry->required)
		buf_adds(b, " [required]");
	if (entry->local)
		buf_adds(b, " [local]");
	if (entry->description.len) {
		buf_adds(b, "  ");
		text_plain(b, entry->description);
	}
	buf_addc(b, '\n');
	if (entry->kind == AGENTS_AGENT)
		agent_lines(entry, b);
}

void prompt_text_entry(const struct agents_entry *entry, struct buf *b)
{
	const char *key;
	json_t *value;

	line(b, agents_kind_name(entry->kind), entry->name);
	line(b, "file", entry->file);
	json_object_foreach((json_t *)entry->fields, key, value)
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

static bool take_line(void *data, const struct agents_entry *entry)
{
	prompt_text_line(entry, data);
	return true;
}

static bool take_json(void *data, const struct agents_entry *entry)
{
	agents_entry_write(entry, data);
	return true;
}

bool prompt_list(enum agents_kind kind, struct str cwd, bool json, struct buf *b, struct report *r)
{
	struct json_out o = { .b = b };
	AUTO_BUF table = BUF_INIT;

	if (!json)
		return agents_each(kind, cwd, take_line, b, r);
	buf_printf(&table, "%ss", agents_kind_name(kind));
	json_out_object(&o, NULL);
	json_out_array(&o, buf_cstr(&table));
	bool ok = agents_each(kind, cwd, take_json, &o, r);
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(b, '\n');
	return ok;
}

/* -- a prompt ------------------------------------------------------------------------------------
 */

void prompt_text_choice(const struct agents_choice *c, bool verbose, struct buf *b)
{
	static const char *const states[] = {
		[AGENTS_CONTEXT_USED] = "",
		[AGENTS_CONTEXT_EMPTY] = " (empty)",
		[AGENTS_CONTEXT_LEFT_OUT] = " (left out)",
	};
	AUTO_BUF list = BUF_INIT;

	line(b, "agent", c->agent);
	if (c->model.len)
		line(b, "model", c->model);
	line(b, "role", c->has_role ? c->role : S("none"));
	for (size_t i = 0; i < c->context_count; i++)
		buf_printf(&list, "%s%.*s%s", list.len ? ", " : "", STR(c->contexts[i].name),
			states[c->contexts[i].state]);
	line(b, "contexts", list.len ? buf_str(&list) : S("none"));
	if (c->has_task)
		line(b, "task", c->task);
	if (!verbose)
		return;
	line(b, "directory", c->cwd);
	line(b, "form", c->shell ? S("shell") : S("direct"));
	if (c->has_role)
		block(b, "role text", c->role_text);
	block(b, "prompt", c->prompt);
}
