#include "hosts/cli/recipe-text.h"

#include <string.h>

#include "base/plain-text.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "base/width.h"
#include "data/json-out.h"

/* Names and descriptions were written by others: they are made fit for a terminal. */

/* One line, with spaces up to `width` columns. */
static void add_padded(struct buf *b, struct str text, size_t width)
{
	size_t from = b->len;

	text_plain(b, text);
	size_t used = width_text(str_from(buf_str(b), from));
	if (used < width)
		buf_fill(b, ' ', width - used);
}

static void add_lines(struct buf *b, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		text_plain(b, str_sub(text, at, end - at));
		buf_addc(b, '\n');
		at = end + 1;
	}
}

/* A JSON value as it is written. */
static void add_value(struct buf *b, const json_t *value, bool exact)
{
	AUTO_BUF text = BUF_INIT;

	(exact ? json_write_typed : json_write)(&text, value, 0);
	text_plain(b, buf_str(&text));
}

static void named_line(struct buf *b, struct str name, struct str text)
{
	buf_adds(b, "  ");
	add_padded(b, name, 16);
	buf_addc(b, ' ');
	text_plain(b, text);
	buf_addc(b, '\n');
}

/* -- list ----------------------------------------------------------------------------------------
 */

enum layer { OF_PROJECT, OF_USER, OF_PACKAGE, LAYERS };

struct row {
	struct str call, what; /* how it is called; its description */
	enum recipe_state state;
	enum layer layer;
	bool trusted;
	size_t shadows;
	double calls;
};

struct rows {
	struct arena arena;
	VEC(struct row) list;
	size_t count[LAYERS], invalid[LAYERS];
	bool tools;   /* only those */
	size_t width; /* of the widest call that is not too wide */
};

enum { CALL_WIDTH_MAX = 40 };

static enum layer layer_of(const struct recipe_info *info)
{
	return strcmp(info->layer, "user") == 0      ? OF_USER
	       : strcmp(info->layer, "project") == 0 ? OF_PROJECT
						     : OF_PACKAGE;
}

static void add_usage(void *data, const struct recipe_argument *arg)
{
	const char *form = arg->list ? ":='[…]'" : "=…";

	buf_printf(data, arg->required ? " %.*s%s" : " [%.*s%s]", STR(arg->name), form);
}

static struct str call_of(struct arena *a, const struct recipe_info *info)
{
	AUTO_BUF call = BUF_INIT;

	buf_add(&call, info->id);
	for (size_t i = 0; i < info->argument_count; i++)
		add_usage(&call, &info->arguments[i]);
	return arena_str(a, buf_str(&call));
}

static bool take_row(void *data, const struct recipe_info *info)
{
	struct rows *all = data;
	struct str what = info->format ? info->description : info->error;

	if (all->tools && !info->tool)
		return true;
	vec_push(&all->list,
		(struct row){ .call = call_of(&all->arena, info),
			.what = arena_str(&all->arena, str_sub(what, 0, str_find(what, '\n', 0))),
			.state = info->state,
			.layer = layer_of(info),
			.trusted = info->trust == TRUST_GIVEN,
			.shadows = info->shadowed_count,
			.calls = json_number_value(json_object_get(info->usage, "calls")) });
	all->count[layer_of(info)]++;
	all->invalid[layer_of(info)] += info->state == RECIPE_INVALID;
	return true;
}

static void add_row(struct buf *b, const struct row *row, size_t width)
{
	size_t from = b->len;

	buf_adds(b, "  ");
	add_padded(b, row->call, width);
	buf_addc(b, ' ');
	if (row->state != RECIPE_ACTIVE)
		buf_printf(b, " (%s)", recipe_state_name(row->state));
	buf_addc(b, ' ');
	text_plain(b, utf8_head(row->what, 200));
	if (row->trusted)
		buf_adds(b, " [trusted]");
	if (row->shadows)
		buf_printf(b, " [shadows %zu]", row->shadows);
	if (row->calls >= 1)
		buf_printf(b, " [%.0f call%s]", row->calls, row->calls >= 2 ? "s" : "");
	while (b->len > from && b->p[b->len - 1] == ' ')
		buf_truncate(b, b->len - 1);
	buf_addc(b, '\n');
}

/* Recipes whose calls are very long do not move the descriptions of the others. */
static size_t call_width(const struct rows *all, bool packaged)
{
	size_t width = 0;

	vec_each (row, &all->list) {
		size_t call = width_text(row->call);

		if (call <= CALL_WIDTH_MAX && (packaged || row->layer != OF_PACKAGE))
			width = MAX(width, call);
	}
	return width;
}

static void add_layer(
	struct buf *b, struct rows *all, enum layer layer, const char *title, struct str dir)
{
	bool first = true;

	vec_each (row, &all->list) {
		if (row->layer != layer)
			continue;
		if (first) {
			buf_printf(b, "%s%s (", b->len ? "\n" : "", title);
			text_plain(b, dir);
			buf_adds(b, "):\n");
		}
		first = false;
		add_row(b, row, all->width);
	}
}

static void count_packaged(struct buf *b, const struct rows *all)
{
	buf_printf(b, "\nPackaged: %zu recipe%s", all->count[OF_PACKAGE],
		all->count[OF_PACKAGE] == 1 ? "" : "s");
	if (all->invalid[OF_PACKAGE])
		buf_printf(b, ", %zu invalid", all->invalid[OF_PACKAGE]);
	buf_adds(b, "; `roux list --all` shows them\n");
}

void recipe_text_list(struct app *app, bool tools, bool packaged, struct buf *b, struct report *r)
{
	struct rows all = { .tools = tools };

	bool ok = recipes_each(app, NULL, take_row, &all, r);
	packaged |= all.count[OF_PACKAGE] == all.list.len;
	all.width = call_width(&all, packaged);
	add_layer(b, &all, OF_PROJECT, "Project", recipes_project_dir(app));
	add_layer(b, &all, OF_USER, "Yours, each a tool", recipes_user_dir(app));
	if (packaged)
		add_layer(b, &all, OF_PACKAGE, "Packaged", recipes_packaged_dir(app));
	else if (all.count[OF_PACKAGE])
		count_packaged(b, &all);
	if (!all.list.len && ok) {
		buf_adds(b, tools ? "No tools. Put a recipe into " : "No recipes. Put one into ");
		text_plain(b, recipes_user_dir(app));
		buf_adds(b, ", or `roux tool add NAME TEMPLATE`.\n");
	}
	vec_done(&all.list);
	arena_done(&all.arena);
}

/* -- one recipe ----------------------------------------------------------------------------------
 */

static void usage_line(const struct recipe_ref *ref, struct buf *b)
{
	AUTO_BUF operand = BUF_INIT;
	AUTO_BUF line = BUF_INIT;

	buf_add(&operand, recipe_ref_operand(ref));
	buf_adds(&line, "Usage: ");
	command_display(&line, (const char *const[]){ "roux", "run", buf_cstr(&operand) }, 3);
	recipe_arguments_each(ref, add_usage, &line);
	text_plain(b, buf_str(&line));
	buf_addc(b, '\n');
}

static void add_argument(void *data, const struct recipe_argument *arg)
{
	struct buf *b = data;

	if (!b->len)
		buf_adds(b, "\nArguments:\n");
	buf_adds(b, "  ");
	add_padded(b, arg->name, 16);
	buf_addc(b, ' ');
	text_plain(b, arg->wanted);
	if (arg->required)
		buf_adds(b, "; required");
	if (json_is_null(arg->fallback)) {
		buf_adds(b, "; null by default");
	} else if (json_is_string(arg->fallback) && !json_string_length(arg->fallback)) {
		buf_adds(b, "; empty by default");
	} else if (arg->fallback) {
		buf_adds(b, "; default ");
		add_value(b, arg->fallback, arg->exact);
	}
	buf_addc(b, '\n');
}

static void arguments_text(const struct recipe_ref *ref, struct buf *b)
{
	AUTO_BUF lines = BUF_INIT;

	recipe_arguments_each(ref, add_argument, &lines);
	buf_add(b, buf_str(&lines));
}

static void description_text(const struct recipe_ref *ref, struct buf *b)
{
	AUTO_BUF text = BUF_INIT;

	recipe_ref_description(ref, &text);
	if (text.len)
		buf_addc(b, '\n');
	add_lines(b, buf_str(&text));
}

void recipe_text_help(const struct recipe_ref *ref, struct buf *b)
{
	usage_line(ref, b);
	description_text(ref, b);
	arguments_text(ref, b);
}

/* The types of messages of one direction, in one line. */
static void types_text(const char *name, const json_t *list, struct buf *b)
{
	AUTO_BUF types = BUF_INIT;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
	{
		if (json_is_object(item))
			item = json_object_get(item, "type");
		buf_adds(&types, i ? ", " : "");
		buf_add(&types, json_str(item));
	}
	if (types.len)
		named_line(b, str_of(name), buf_str(&types));
}

static void mailbox_text(const json_t *mailbox, struct buf *b)
{
	AUTO_BUF lines = BUF_INIT;

	types_text("accepts", json_object_get(mailbox, "accepts"), &lines);
	types_text("emits", json_object_get(mailbox, "emits"), &lines);
	if (lines.len)
		buf_printf(b, "\nMailbox:\n%s", buf_cstr(&lines));
}

/* The imports with their paths, and the artifacts. */
static void paths_text(const json_t *parts, struct buf *b)
{
	const json_t *imports = json_object_get(parts, "imports");
	const json_t *artifacts = json_object_get(parts, "artifacts");
	const char *title = "\nImports:\n", *name;
	json_t *value;

	json_object_foreach((json_t *)imports, name, value)
	{
		buf_adds(b, title);
		named_line(b, str_of(name), json_str(json_object_get(value, "path")));
		title = "";
	}
	title = "\nArtifacts:\n";
	json_object_foreach((json_t *)artifacts, name, value)
	{
		buf_adds(b, title);
		named_line(b, str_of(name), json_str(value));
		title = "";
	}
}

void recipe_text_show(const struct recipe_ref *ref, struct buf *b)
{
	AUTO_JSON *parts = recipe_ref_parts(ref);

	text_plain(b, recipe_ref_id(ref));
	buf_printf(b, " (%s%s%s)\n", recipe_ref_format(ref), recipe_ref_async(ref) ? ", async" : "",
		recipe_ref_disabled(ref) ? ", disabled" : "");
	text_plain(b, recipe_ref_path(ref));
	buf_addc(b, '\n');
	description_text(ref, b);
	buf_addc(b, '\n');
	usage_line(ref, b);
	arguments_text(ref, b);
	paths_text(parts, b);
	mailbox_text(json_object_get(parts, "mailbox"), b);
	buf_adds(b, recipe_has_stages(ref)     ? "\nStages:\n"
		    : recipe_ref_is_steps(ref) ? "\nSteps:\n"
					       : "\nGraph:\n");
	recipe_outline(ref, b);
}

/* -- documents -----------------------------------------------------------------------------------
 */

static bool take_json(void *data, const struct recipe_info *info)
{
	AUTO_JSON *one = recipe_info_json(info);

	json_out_value(data, NULL, one);
	return true;
}

/* A host makes its tools of one answer: it has the schema of each too. */
static bool take_tool_json(void *data, const struct recipe_info *info)
{
	AUTO_JSON *one = recipe_info_json(info);

	if (info->ref)
		json_object_set_new(one, "schema", recipes_input_schema(info->ref));
	json_out_value(data, NULL, one);
	return true;
}

/* Where a host watches for new and changed ones. They need not exist yet. */
static void tool_directories(struct app *app, struct json_out *o)
{
	const struct str dirs[] = { recipes_user_dir(app), recipes_project_dir(app) };

	json_out_array(o, "directories");
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (dirs[i].len)
			json_out_str(o, NULL, dirs[i]);
	json_out_array_end(o);
}

void recipe_json_list(struct app *app, bool tools, struct buf *b, struct report *r)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_array(&o, tools ? "tools" : "recipes");
	(void)recipes_each(app, &(struct recipe_filter){ .tools = tools },
		tools ? take_tool_json : take_json, &o, r);
	json_out_array_end(&o);
	if (tools)
		tool_directories(app, &o);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

void recipe_json_show(const struct recipe_ref *ref, struct buf *b)
{
	struct json_out o = { .b = b };

	recipes_describe(ref, &o);
	buf_addc(b, '\n');
}
