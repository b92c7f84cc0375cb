#include "recipe/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "data/edit.h"
#include "template/words.h"

enum { ID_MAX = 64, LOCK_WAIT_MS = 5000 };

void tool_id(struct buf *b, const char *name)
{
	size_t from = b->len;

	if (ascii_digit(name[0]))
		buf_adds(b, "tool_");
	for (const char *p = name; *p && b->len - from < ID_MAX; p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + ('a' - 'A')) : *p;
		bool kept = (c >= 'a' && c <= 'z') || ascii_digit(c) || c == '_';

		if (!kept && b->len > from && b->p[b->len - 1] == '_')
			continue;
		buf_addc(b, kept ? c : '_');
	}
	struct str id = str_from(buf_str(b), from);
	if (str_eq(id, S("roux")) || str_starts(id, S("roux_")))
		buf_truncate(b, from);
}

/* -- what is asked for, as members of a recipe ----------------------------------------------------
 */

/* `name`, `name:type`, each with an optional default, separated by commas outside parentheses. */
static bool read_args(const char *list, json_t *args, json_t *defaults, struct report *r)
{
	struct str rest = str_of(list);
	bool ok = true;

	for (size_t at = 0, depth = 0, from = 0; at <= rest.len; at++) {
		char c = at < rest.len ? rest.p[at] : ',';

		depth += c == '(';
		depth -= c == ')' && depth;
		if (c != ',' || (depth && at < rest.len))
			continue;
		struct str text = str_trim(str_sub(rest, from, at - from));
		struct declaration d;
		from = at + 1;
		if (!text.len)
			continue;
		if (!declaration_parse(text, &d)) {
			ok = report_error(r, (struct where){ 0 },
				"'%.*s' declares no argument, expected name, name:type or "
				"name:type=default",
				STR(text));
			continue;
		}
		AUTO_BUF shown = BUF_INIT;
		buf_add(&shown, d.name);
		if (!d.unknown_type && d.type.kind != TYPE_NONE) {
			size_t end = d.fallback.p ? (size_t)(d.fallback.p - text.p) - 1 : text.len;

			buf_add(&shown, str_sub(text, d.name.len, end - d.name.len));
		}
		size_t i;
		json_t *before;
		json_array_foreach(args, i, before)
		{
			struct declaration known;

			if (declaration_parse(json_str(before), &known) &&
				str_eq(known.name, d.name))
				ok = report_error(r, (struct where){ 0 },
					"the argument '%.*s' is declared twice", STR(d.name));
		}
		json_array_append_new(args, json_from_str(buf_str(&shown)));
		if (!d.fallback.p)
			continue;
		AUTO_JSON *text_value = json_from_str(d.fallback);
		AUTO_JSON *fitted = type_normalise(&d.type, text_value);
		if (!fitted) {
			AUTO_BUF wanted = BUF_INIT;

			type_describe(&d.type, &wanted);
			ok = report_error(r, (struct where){ 0 },
				"the default of '%.*s' is '%.*s', expected %s", STR(d.name),
				STR(d.fallback), buf_cstr(&wanted));
		}
		json_object_setn_nocheck(defaults, d.name.p, d.name.len, text_value);
	}
	return ok;
}

/* A template of one word that names a recipe delegates to it: it is imported. */
static bool names_recipe(const struct recipe_dirs *dirs, struct str word, struct str own)
{
	if (!word.len || str_eq(word, own))
		return false;
	struct arena a = ARENA_INIT;
	struct word *words;
	bool one = words_split(&a, word, &words) == 1 && str_eq(words[0].text, word);
	struct recipe_index *index = recipe_index_new(dirs);
	bool found = one && recipe_index_find(index, word);

	recipe_index_free(index);
	arena_done(&a);
	return found;
}

static void add_template(
	const struct recipe_dirs *dirs, const char *template, struct str id, json_t *ret)
{
	struct str text = str_trim(str_of(template));
	json_t *value = NULL;

	if (text.len && strchr("{[\"", text.p[0])) {
		AUTO_REPORT ignored = REPORT_INIT;
		struct source source = { S("template"), text };

		value = json_read(&source, &ignored);
	}
	if (!value && names_recipe(dirs, text, id)) {
		AUTO_BUF name = BUF_INIT;

		buf_add(&name, text);
		json_object_set_new(
			ret, "imports", json_pack("{s:s}", buf_cstr(&name), buf_cstr(&name)));
		value = json_pack("{s:s}", "name", buf_cstr(&name));
	}
	json_object_set_new(ret, "template", value ? value : json_from_str(text));
}

/* In the order in which they are written. */
static json_t *requested(const struct recipe_dirs *dirs, const struct tool_request *q,
	struct str id, struct report *r)
{
	json_t *object = json_object();
	AUTO_JSON *args = json_array();
	AUTO_JSON *defaults = json_object();

	if (q->args && !read_args(q->args, args, defaults, r)) {
		json_decref(object);
		return NULL;
	}
	if (q->description)
		json_object_set_new(
			object, "description", json_from_str(str_trim(str_of(q->description))));
	if (q->async >= 0)
		json_object_set_new(object, "async", json_boolean(q->async));
	if (q->args)
		json_object_set(object, "args", args);
	if (json_object_size(defaults))
		json_object_set(object, "defaults", defaults);
	if (q->template)
		add_template(dirs, q->template, id, object);
	return object;
}

/* -- writing -------------------------------------------------------------------------------------
 */

/* Loads the bytes as the file they are about to become, from a name that discovery passes over. */
static bool validate(
	const struct recipe_dirs *dirs, struct str id, struct str bytes, struct report *r)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/.check-%d-%.*s.json", STR(dirs->user), (int)getpid(), STR(id));
	int n = atomic_write(buf_cstr(&path), bytes, NULL);
	if (n < 0)
		return report_errno(r, -n, "cannot write to %.*s", STR(dirs->user));
	struct recipe *recipe = recipe_open_file(dirs, buf_str(&path), LAYER_USER, r);
	(void)unlink(buf_cstr(&path));
	recipe_free(recipe);
	return recipe != NULL;
}

static bool apply_update(struct buf *text, const json_t *changes, struct report *r)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)changes, name, value)
	{
		AUTO_BUF json = BUF_INIT;
		AUTO_BUF changed = BUF_INIT;

		json_write(&json, value, 0);
		if (!edit_set_member(buf_str(text), str_of(name), buf_str(&json), &changed))
			return report_error(
				r, (struct where){ 0 }, "the tool's file is no JSON object");
		buf_swap(text, &changed);
	}
	return true;
}

bool tool_write(const struct recipe_dirs *dirs, const struct tool_request *q, struct buf *id,
	struct buf *path, struct report *r)
{
	AUTO_CLOSE int lock = -1;
	AUTO_BUF text = BUF_INIT;

	tool_id(id, q->name);
	if (!id->len) {
		report_error(r, (struct where){ 0 }, "'%s' is no name for a tool", q->name);
		return report_hint(r, "names that begin with roux are reserved");
	}
	buf_printf(path, "%.*s/%s.json", STR(dirs->user), buf_cstr(id));
	AUTO_JSON *members = requested(dirs, q, buf_str(id), r);
	if (!members)
		return false;
	int n = dir_make(dirs->user.p);
	if (n < 0)
		return report_errno(r, -n, "cannot make the directory %.*s", STR(dirs->user));
	n = file_lock(buf_cstr(path), LOCK_WAIT_MS, &lock);
	if (n < 0)
		return report_errno(r, -n, "cannot lock %.*s", STR(dirs->user));
	bool exists = access(buf_cstr(path), F_OK) == 0;
	if (exists != q->update) {
		report_error(r, (struct where){ 0 },
			exists ? "there is a tool '%s' already" : "there is no tool '%s'",
			buf_cstr(id));
		return report_hint(r, "use `roux tool %s`", exists ? "update" : "add");
	}
	if (exists && (n = file_read(buf_cstr(path), RECIPE_MAX_BYTES, &text)) < 0)
		return report_errno(r, -n, "cannot read %s", buf_cstr(path));
	if (exists) {
		if (!apply_update(&text, members, r))
			return false;
	} else {
		json_write(&text, members, 2);
		buf_addc(&text, '\n');
	}
	if (!validate(dirs, buf_str(id), buf_str(&text), r))
		return false;
	n = atomic_write(buf_cstr(path), buf_str(&text),
		&(struct atomic_options){ .exclusive = !exists, .keep = exists, .follow = exists });
	return n == 0 || report_errno(r, -n, "cannot write %s", buf_cstr(path));
}

bool tool_remove(
	const struct recipe_dirs *dirs, const char *name, struct buf *path, struct report *r)
{
	struct recipe_index *index = recipe_index_new(dirs);
	const struct recipe_entry *e = recipe_index_find(index, str_of(name));
	AUTO_BUF id = BUF_INIT;

	tool_id(&id, name);
	if (!e)
		e = recipe_index_find(index, buf_str(&id));
	bool found = e && e->candidates.at[0].layer == LAYER_USER;
	if (found)
		buf_add(path, e->candidates.at[0].path);
	recipe_index_free(index);
	if (!found) {
		report_error(r, (struct where){ 0 }, "there is no tool '%s'", name);
		return report_hint(r, "`roux tool list` shows them");
	}
	return unlink(buf_cstr(path)) == 0 ||
	       report_errno(r, errno, "cannot remove %s", buf_cstr(path));
}
