#include "recipe/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/path.h"
#include "data/edit.h"
#include "template/words.h"

enum { ID_MAX = 64, LOCK_WAIT_MS = 5000 };

/* The name of the file of a tool: lower case, [a-z0-9_]. Empty when it is reserved. */
static void tool_id(struct buf *b, const char *name)
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
			report_hint(r, "a name is a letter or _, then letters, digits, _ and -");
			continue;
		}
		if (d.unknown_type) {
			report_warning(r, (struct where){ 0 },
				"unknown type in '%.*s': it is left out, and any text is taken",
				STR(text));
			report_hint(r, DECLARATION_TYPES);
		}
		AUTO_BUF shown = BUF_INIT;
		declaration_write(&d, &shown);
		size_t i;
		json_t *before;
		json_array_foreach(args, i, before)
		{
			struct declaration known;

			if (declaration_parse(json_str(before), &known) &&
				str_eq(known.name, d.name)) {
				report_error(r, (struct where){ 0 },
					"the argument '%.*s' is declared twice", STR(d.name));
				ok = report_hint(r, "leave one of them out");
			}
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
			report_hint(r, "declared as %s; change the type or the default",
				type_name(d.type.kind));
		}
		json_object_setn_nocheck(defaults, d.name.p, d.name.len, text_value);
	}
	return ok;
}

/* -- standing for another recipe -----------------------------------------------------------------
 * A template of one word that names a recipe imports it: by its id, by the name of its file, or by
 * a path. */

static bool is_one_word(struct str text)
{
	struct arena a = ARENA_INIT;
	struct word *words;

	bool one = text.len && words_split(&a, text, &words) == 1 && str_eq(words[0].text, text);
	arena_done(&a);
	return one;
}

/* Whether the tool would hide the recipe, and could not import it by its name. */
static bool hides(const struct recipe_entry *e, bool project)
{
	enum recipe_layer own = project ? LAYER_PROJECT : LAYER_USER;

	return e && e->candidates.at[e->candidates.len - 1].layer != own;
}

/* What is imported, in `ret`; empty: the word names a program. False with an issue added. */
static bool find_import(const struct recipe_index *index, struct str word, struct str own,
	bool project, struct buf *ret, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct recipe_location at = { 0 };
	struct arena a = ARENA_INIT;
	enum recipe_format format;
	struct str id = recipe_format_of(word, &format) ? recipe_id_of(word) : word;

	/* Only a name with an extension may be that of a file. */
	if (id.len < word.len && recipe_locate(&a, &index->dirs, word, &at, &ignored) && at.by_path)
		buf_add(ret, path_absolute(&a, at.path));
	arena_done(&a);
	const struct recipe_entry *e = ret->len ? NULL : recipe_index_find(index, id);
	if (str_eq(id, own) && hides(e, project)) {
		report_error(r, (struct where){ 0 },
			"the tool '%.*s' would hide the recipe of that name, and cannot stand for "
			"it",
			STR(own));
		return report_hint(r, "call it otherwise, or give the path of the recipe");
	}
	if (e && !str_eq(id, own))
		buf_add(ret, id);
	return true;
}

/* What the import of a recipe is called. */
static void import_alias(struct buf *b, struct str from)
{
	buf_add(b, recipe_id_of(from));
	if (recipe_alias_valid(buf_str(b)))
		return;
	buf_reset(b);
	buf_adds(b, "recipe");
}

static bool add_template(const struct recipe_index *index, const struct tool_request *q,
	struct str own, json_t *ret, struct report *r)
{
	struct str text = str_trim(str_of(q->template));
	AUTO_BUF from = BUF_INIT;
	AUTO_BUF alias = BUF_INIT;
	json_t *value = NULL;

	if (text.len && strchr("{[\"", text.p[0])) {
		AUTO_REPORT ignored = REPORT_INIT; /* check_template() tells */
		struct source source = { S("<template>"), text };

		value = json_read(&source, &ignored);
	}
	if (!value && is_one_word(text) && !find_import(index, text, own, q->project, &from, r))
		return false;
	if (from.len) {
		import_alias(&alias, buf_str(&from));
		json_object_set_new(
			ret, "imports", json_pack("{s:s}", buf_cstr(&alias), buf_cstr(&from)));
		value = json_pack("{s:s}", "name", buf_cstr(&alias));
	}
	json_object_set_new(ret, "template", value ? value : json_from_str(text));
	return true;
}

/* In the order in which they are written. */
static json_t *requested(const struct recipe_index *index, const struct tool_request *q,
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
	if (!q->template || add_template(index, q, id, object, r))
		return object;
	json_decref(object);
	return NULL;
}

/* -- changing a file -----------------------------------------------------------------------------
 */

static bool set_member(struct buf *text, const char *name, struct str json)
{
	AUTO_BUF changed = BUF_INIT;

	if (!edit_set_member(buf_str(text), str_of(name), json, &changed))
		return false;
	buf_swap(text, &changed);
	return true;
}

/* Sets the members of `changes` in the JSON object `text`; the other members stay as written. */
static bool set_members(struct buf *text, const json_t *changes)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)changes, name, value)
	{
		AUTO_BUF json = BUF_INIT;

		json_write(&json, value, 0);
		if (!set_member(text, name, buf_str(&json)))
			return false;
	}
	return true;
}

static bool remove_member(struct buf *text, struct str name)
{
	AUTO_BUF changed = BUF_INIT;

	if (!edit_remove_member(buf_str(text), name, &changed))
		return false;
	buf_swap(text, &changed);
	return true;
}

/* Whether a node in `value` is the import, or a text refers to a part of it. */
static bool uses_import(const json_t *value, struct str alias)
{
	static const char *const parts[] = { "name", "file", "defaults", "values" };
	const char *key;
	json_t *item;
	size_t i;

	for (i = 0; json_is_string(value) && i < ARRAY_SIZE(parts); i++) {
		AUTO_BUF reference = BUF_INIT;

		buf_printf(&reference, "%.*s.%s", STR(alias), parts[i]);
		if (str_contains(json_str(value), buf_str(&reference)))
			return true;
	}
	if (str_eq(json_text_of(value, "name"), alias))
		return true;
	json_array_foreach(value, i, item)
	{
		if (uses_import(item, alias))
			return true;
	}
	json_object_foreach((json_t *)value, key, item)
	{
		if (uses_import(item, alias))
			return true;
	}
	return false;
}

/* The import that the old template stood for, spelled as add_template() spells it, when what the
 * file is to hold has no use for it: the tool would need a recipe that it does not run. Empty:
 * there is none. Borrowed from the document. */
static struct str useless_import(const struct doc *doc, const json_t *changes)
{
	const json_t *imports = json_object_get(doc->root, "imports");
	struct str alias = json_text_of(json_object_get(doc->root, "template"), "name");
	struct str from = json_text_of(imports, alias.p);
	AUTO_BUF made = BUF_INIT;

	if (!from.len || !json_object_get(changes, "template") ||
		json_object_get(json_object_get(changes, "imports"), alias.p))
		return S("");
	import_alias(&made, from);
	/* A path that is not whole was written by a person. */
	bool written = from.p[0] != '/' && str_find(from, '/', 0) < from.len;
	if (written || !str_eq(buf_str(&made), alias))
		return S("");
	AUTO_JSON *after = json_copy(doc->root);
	json_object_update(after, (json_t *)changes);
	json_object_del(after, "imports");
	json_object_del(after, "name"); /* of the recipe itself */
	/* What is given for `defaults` is put into those that are there. */
	return uses_import(after, alias) ||
			       uses_import(json_object_get(doc->root, "defaults"), alias)
		       ? S("")
		       : alias;
}

/* What is given for `defaults` and `imports` is put into the object that is there, and `useless`,
 * if it is not empty, is taken out of it. */
static bool merge(struct buf *text, const struct doc *doc, const char *name, const json_t *changes,
	struct str useless)
{
	struct place root = { .doc = doc };
	struct place place = { .doc = doc, .up = &root, .key = str_of(name) };
	struct where w = place_where(&place);
	AUTO_BUF object = BUF_INIT;

	buf_add(&object, str_sub(doc->source.text, w.offset, w.length));
	if (useless.len && !changes && json_object_size(json_object_get(doc->root, name)) == 1)
		return remove_member(text, place.key);
	return set_members(&object, changes) && (!useless.len || remove_member(&object, useless)) &&
	       set_member(text, name, buf_str(&object));
}

/* `doc` is what the file holds now. */
static bool apply_update(
	const struct doc *doc, const json_t *changes, struct buf *ret, struct report *r)
{
	const char *const merged[] = { "defaults", "imports" };
	const struct str useless[] = { S(""), useless_import(doc, changes) };
	AUTO_JSON *replaced = json_copy((json_t *)changes);
	bool ok = true;

	buf_add(ret, doc->source.text);
	for (size_t i = 0; i < ARRAY_SIZE(merged); i++) {
		const json_t *more = json_object_get(changes, merged[i]);

		if ((!more && !useless[i].len) ||
			!json_is_object(json_object_get(doc->root, merged[i])))
			continue;
		ok = ok && merge(ret, doc, merged[i], more, useless[i]);
		(void)json_object_del(replaced, merged[i]);
	}
	if (ok && set_members(ret, replaced))
		return true;
	return report_error(r, (struct where){ &doc->source, 0, 1 },
		"found %s, expected a recipe: an object", json_kind(doc->root));
}

/* -- checking ------------------------------------------------------------------------------------
 */

static bool begins_like_json(struct str text)
{
	return str_starts(text, S("{\"")) || str_starts(text, S("[\"")) ||
	       str_starts(text, S("[{"));
}

/* The template as typed, so that mistakes are shown in it. One that uses imports means something
 * only inside its file; all that can be told then is whether it is JSON. */
static bool check_template(struct str template, bool imports, struct report *r)
{
	if (!imports) {
		struct graph *g = graph_read(S("<template>"), template, DIALECT_NOW, r);

		graph_unref(g);
		return g != NULL;
	}
	if (!begins_like_json(str_trim(template)))
		return true;
	struct source source = { S("<template>"), template };
	AUTO_JSON *value = json_read(&source, r);
	return value != NULL;
}

/* Loads the text as the file that it is about to become. */
static bool validate(const struct recipe_dirs *dirs, const struct tool_request *q, struct str path,
	struct str text, struct report *r)
{
	struct source source = { path, text };
	AUTO_JSON *object = json_read(&source, r);
	bool imports = json_object_get(object, "imports");

	if (!object || (q->template && !check_template(str_of(q->template), imports, r)))
		return false;
	struct recipe *recipe = recipe_open_text(dirs, path, path, text, NULL, r);
	recipe_free(recipe);
	return recipe != NULL;
}

/* -- writing -------------------------------------------------------------------------------------
 */

/* The file of that name in a layer: as given, since files keep the names they have, or as `tool
 * add` would call it. Empty when there is none. */
static struct str find_tool(const struct recipe_index *index, const char *name, bool project)
{
	enum recipe_layer layer = project ? LAYER_PROJECT : LAYER_USER;
	AUTO_BUF id = BUF_INIT;

	tool_id(&id, name);
	const struct str names[] = { str_of(name), buf_str(&id) };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct recipe_entry *e = recipe_index_find(index, names[i]);

		for (size_t k = 0; e && k < e->candidates.len; k++)
			if (e->candidates.at[k].layer == layer)
				return e->candidates.at[k].path;
	}
	return S("");
}

static bool no_tool(const char *name, enum action what, struct report *r)
{
	report_error(r, (struct where){ 0 }, "there is no tool '%s'", name);
	return report_action(r, what, S(""));
}

static bool is_there(struct str path, struct report *r)
{
	report_error(r, (struct where){ 0 }, "there is a tool '%.*s' already: %.*s",
		STR(recipe_id_of(path)), STR(path));
	if (str_ends(path, S(".json")))
		return report_action(r, ACTION_UPDATE_TOOL, S(""));
	return report_hint(r, "edit that file, or remove it first");
}

/* Where tools are put; empty with an issue added: there is no project. */
static struct str tool_dir(const struct recipe_index *index, bool project, struct report *r)
{
	if (!project)
		return index->dirs.user;
	if (!index->dirs.project.recipes.len) {
		report_error(r, (struct where){ 0 }, "there is no project here");
		report_action(r, ACTION_INIT_PROJECT, S(""));
	}
	return index->dirs.project.recipes;
}

/* The file to write, in `path`. */
static bool choose_path(const struct recipe_index *index, const struct tool_request *q,
	struct buf *path, struct report *r)
{
	struct str found = find_tool(index, q->name, q->project);
	struct str dir = tool_dir(index, q->project, r);

	if (!dir.len)
		return false;
	if (q->update) {
		if (!found.len)
			return no_tool(q->name, ACTION_ADD_TOOL, r);
		if (!str_ends(found, S(".json"))) {
			report_error(r, (struct where){ 0 }, "%.*s is not a JSON file", STR(found));
			return report_hint(r, "edit the file itself");
		}
		buf_add(path, found);
		return true;
	}
	if (found.len)
		return is_there(found, r);
	AUTO_BUF id = BUF_INIT;
	tool_id(&id, q->name);
	if (!id.len) {
		report_error(r, (struct where){ 0 }, "'%s' is not a name for a tool", q->name);
		return report_hint(r, q->name[0] ? "names that begin with roux are reserved"
						 : "letters, digits and _ make one");
	}
	buf_printf(path, "%.*s/%s.json", STR(dir), buf_cstr(&id));
	int n = dir_make(dir.p);
	return n == 0 || report_errno(r, -n, "cannot make the directory %.*s", STR(dir));
}

static bool updated_text(const char *path, const json_t *members, struct buf *ret, struct report *r)
{
	AUTO_BUF before = BUF_INIT;
	int n = file_read(path, RECIPE_MAX_BYTES, &before);

	if (n < 0)
		return report_errno(r, -n, "cannot read %s", path);
	struct doc doc = { .source = { str_of(path), buf_str(&before) } };
	doc.root = json_read(&doc.source, r);
	bool ok = doc.root && apply_update(&doc, members, ret, r);
	doc_done(&doc);
	return ok;
}

static bool write_file(const struct recipe_index *index, const struct tool_request *q,
	const char *path, struct report *r)
{
	AUTO_CLOSE int lock = -1;
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *members = requested(index, q, recipe_id_of(str_of(path)), r);

	if (!members)
		return false;
	int n = file_lock(path, LOCK_WAIT_MS, &lock);
	if (n < 0)
		return report_errno(r, -n, "cannot lock the directory of %s", path);
	if (!q->update) {
		json_write(&text, members, 2);
		buf_addc(&text, '\n');
	} else if (!updated_text(path, members, &text, r)) {
		return false;
	}
	if (!validate(&index->dirs, q, str_of(path), buf_str(&text), r))
		return false;
	n = atomic_write(path, buf_str(&text),
		&(struct atomic_options){ .mode = q->project ? 0644 : 0,
			.exclusive = !q->update,
			.keep = q->update,
			.follow = q->update });
	if (n == -EEXIST)
		return is_there(str_of(path), r);
	return n == 0 || report_errno(r, -n, "cannot write %s", path);
}

bool tool_write(const struct recipe_dirs *dirs, const struct tool_request *q, struct buf *path,
	struct report *r)
{
	struct recipe_index *index = recipe_index_new(dirs);
	bool ok = choose_path(index, q, path, r) && write_file(index, q, buf_cstr(path), r);

	recipe_index_free(index);
	return ok;
}

bool tool_remove(const struct recipe_dirs *dirs, const char *name, bool project, struct buf *path,
	struct report *r)
{
	struct recipe_index *index = recipe_index_new(dirs);

	buf_add(path, find_tool(index, name, project));
	recipe_index_free(index);
	if (!path->len)
		return no_tool(name, ACTION_LIST_TOOLS, r);
	return unlink(buf_cstr(path)) == 0 ||
	       report_errno(r, errno, "cannot remove %s", buf_cstr(path));
}
