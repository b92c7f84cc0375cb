#include "app/catalog/list.h"

#include <string.h>

#include "app/catalog/entries.h"
#include "app/catalog/steps-text.h"
#include "app/settings.h"
#include "base/clock.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "base/utf8.h"
#include "base/width.h"
#include "data/json-out.h"
#include "runs/dir/run-dir.h"
#include "runs/ledger/ledger.h"
#include "steps/read/recipe.h"

static const char *const states[] = { "active", "invalid", "disabled" };

static bool is_tool(const struct opened *o)
{
	return o->state == STATE_ACTIVE && o->active->layer == LAYER_USER;
}

/* -- text for a terminal: names and descriptions were written by others --------------------------
 */

/* One line, with blanks up to `width` columns. */
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
static void add_value(struct buf *b, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	text_plain(b, buf_str(&text));
}

struct listing {
	bool json, tools_only;
	size_t width;
	struct buf user, packaged; /* for a terminal */
	struct json_out out;       /* for programs */
	struct ledger *ledger;     /* NULL: there is none */
	unsigned usage;            /* of the settings */
};

/* -- list ----------------------------------------------------------------------------------------
 */

static void set_time(json_t *object, const char *name, uint64_t ms)
{
	AUTO_BUF text = BUF_INIT;

	if (!ms)
		return;
	clock_rfc3339(&text, ms);
	json_object_set_new(object, name, json_from_str(buf_str(&text)));
}

/* How often it was started: a user's JSON recipe says it itself, the ledger of all others. A new
 * reference, NULL when nobody knows. */
static json_t *usage_of(const struct opened *o, const struct listing *l)
{
	bool own = o->active->layer == LAYER_USER && l->usage == SETTINGS_USAGE_FILE && o->recipe &&
		   o->recipe->file->format == RECIPE_JSON;
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct recipe_usage counted;
	json_t *usage = NULL;

	if (own)
		return json_incref(json_object_get(o->recipe->file->object, "usage"));
	if (l->ledger && ledger_usage(l->ledger, o->active->path, &a, &counted, &ignored)) {
		usage = json_pack("{s:I}", "calls", (json_int_t)counted.calls);
		set_time(usage, "last_called", counted.last_called);
		json_object_set_new(usage, "fingerprint", json_from_str(counted.fingerprint));
		set_time(usage, "reset_at", counted.reset_at);
	}
	arena_done(&a);
	return usage;
}

static void entry_json(const struct opened *o, const struct listing *l, struct json_out *out)
{
	AUTO_JSON *usage = usage_of(o, l);

	json_out_object(out, NULL);
	json_out_str(out, "id", o->entry->id);
	json_out_str(out, "path", o->active->path);
	json_out_str(out, "layer", str_of(recipe_layer_name(o->active->layer)));
	json_out_str(out, "state", str_of(states[o->state]));
	json_out_bool(out, "tool", is_tool(o));
	json_out_bool(out, "async", o->recipe && recipe_async(o->recipe));
	json_out_str_or_null(out, "description", o->recipe ? recipe_description(o->recipe) : S(""));
	json_out_array(out, "shadowed");
	for (size_t i = 1; i < o->entry->candidates.len; i++)
		json_out_str(out, NULL, o->entry->candidates.at[i].path);
	json_out_array_end(out);
	json_out_value(out, "usage", json_is_object(usage) ? usage : NULL);
	json_out_str_or_null(out, "error", entries_first_error(&o->issues));
	json_out_object_end(out);
}

static void calls_text(const struct opened *o, const struct listing *l, struct buf *b)
{
	AUTO_JSON *usage = usage_of(o, l);
	double calls = json_number_value(json_object_get(usage, "calls"));

	if (calls >= 1)
		buf_printf(b, " [%.0f call%s]", calls, calls >= 2 ? "s" : "");
}

static void entry_text(const struct opened *o, const struct listing *l, struct buf *b)
{
	struct str what =
		o->recipe ? recipe_description(o->recipe) : entries_first_error(&o->issues);
	size_t from = b->len;

	buf_adds(b, "  ");
	add_padded(b, o->entry->id, l->width);
	buf_addc(b, ' ');
	if (o->state != STATE_ACTIVE)
		buf_printf(b, " (%s)", states[o->state]);
	buf_addc(b, ' ');
	struct str line = str_sub(what, 0, str_find(what, '\n', 0));
	text_plain(b, utf8_head(line, 200));
	if (o->entry->candidates.len > 1)
		buf_printf(b, " [shadows %zu]", o->entry->candidates.len - 1);
	calls_text(o, l, b);
	while (b->len > from && b->p[b->len - 1] == ' ')
		buf_truncate(b, b->len - 1);
	buf_addc(b, '\n');
}

static void list_one(void *data, const struct opened *o)
{
	struct listing *l = data;

	if (l->tools_only && !is_tool(o))
		return;
	if (l->json)
		entry_json(o, l, &l->out);
	else
		entry_text(o, l, o->active->layer == LAYER_USER ? &l->user : &l->packaged);
}

static void add_layer(struct buf *b, const char *title, struct str dir, const struct buf *lines)
{
	if (!lines->len)
		return;
	buf_printf(b, "%s%s (", b->len ? "\n" : "", title);
	text_plain(b, dir);
	buf_adds(b, "):\n");
	buf_add(b, buf_str(lines));
}

static void open_usage(struct listing *l, const struct recipe_dirs *dirs)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	struct settings settings;

	l->ledger = ledger_open_existing(runs_root(&a, dirs->agent), &ignored);
	(void)settings_read(&settings, &ignored, &ignored);
	l->usage = settings.usage;
	settings_done(&settings);
	arena_done(&a);
}

static void list(
	const struct recipe_dirs *dirs, bool json, bool tools, struct buf *b, struct report *r)
{
	struct recipe_index *index = recipe_index_new(dirs);
	struct listing l = { .json = json, .tools_only = tools, .out.b = b };

	open_usage(&l, dirs);
	if (json) {
		json_out_object(&l.out, NULL);
		json_out_array(&l.out, tools ? "tools" : "recipes");
	}
	vec_each (e, &index->entries)
		l.width = MAX(l.width, MIN(width_text(e->id), (size_t)30));
	entries_each(index, list_one, &l);
	ledger_close(l.ledger);
	recipe_index_report(index, r);
	recipe_index_free(index);
	if (json) {
		json_out_array_end(&l.out);
		json_out_object_end(&l.out);
		buf_addc(b, '\n');
	} else if (l.user.len || l.packaged.len) {
		add_layer(b, "Yours, each a tool", dirs->user, &l.user);
		add_layer(b, "Packaged", dirs->packaged, &l.packaged);
	} else if (!r->errors) {
		buf_adds(b, tools ? "No tools. Put a recipe into " : "No recipes. Put one into ");
		text_plain(b, dirs->user);
		buf_adds(b, ", or `roux tool add NAME TEMPLATE`.\n");
	}
	buf_done(&l.user);
	buf_done(&l.packaged);
}

void recipes_list(const struct recipe_dirs *dirs, bool json, struct buf *b, struct report *r)
{
	list(dirs, json, false, b, r);
}

void recipes_tools(const struct recipe_dirs *dirs, bool json, struct buf *b, struct report *r)
{
	list(dirs, json, true, b, r);
}

void recipes_ids(const struct recipe_dirs *dirs, struct buf *b)
{
	struct recipe_index *index = recipe_index_new(dirs);

	vec_each (e, &index->entries) {
		size_t from = b->len;

		text_plain(b, e->id);
		if (str_eq(str_from(buf_str(b), from), e->id))
			buf_addc(b, '\n');
		else
			buf_truncate(b, from); /* what is shown would not be the id */
	}
	recipe_index_free(index);
}

static void argument_words(const struct public_argument *arg, struct buf *b)
{
	struct str member;

	if (arg->type.kind == TYPE_BOOL) {
		buf_printf(b, "%.*s=true\n%.*s=false\n", STR(arg->name), STR(arg->name));
	} else if (arg->type.kind == TYPE_ENUM) {
		for (size_t i = 0; (member = type_member(&arg->type, i)).p; i++)
			buf_printf(b, "%.*s=%.*s\n", STR(arg->name), STR(member));
	} else {
		buf_printf(b, "%.*s=\n", STR(arg->name));
	}
}

void recipes_argument_words(
	const struct recipe_dirs *dirs, size_t count, const char *const *words, struct buf *b)
{
	struct recipe *recipe = NULL;

	for (size_t i = 0; i < count && !recipe; i++) {
		AUTO_REPORT ignored = REPORT_INIT;

		if (words[i][0] != '-' && !strchr(words[i], '='))
			recipe = recipe_open(dirs, str_of(words[i]), false, NULL, &ignored);
	}
	for (size_t i = 0; recipe && i < recipe->arguments->count; i++)
		argument_words(&recipe->arguments->at[i], b);
	recipe_free(recipe);
}

/* -- show ----------------------------------------------------------------------------------------
 */

static void node_json(const struct node *n, struct str path, struct json_out *out)
{
	json_out_object(out, NULL);
	json_out_str(out, "path", path);
	json_out_str(out, "kind", str_of(node_kind_name(n->kind)));
	json_out_str_or_null(
		out, "label", n->kind == NODE_EACH && !n->step ? n->children[0]->label : n->label);
	json_out_str_or_null(out, "text", n->child_count ? S("") : n->line);
	json_out_array(out, "children");
	for (size_t i = 0; i < n->child_count; i++) {
		AUTO_BUF child = BUF_INIT;

		/* The body of a repeated node is shown once: its path stands for all copies. */
		if (node_repeats(n))
			node_path_copy(&child, path, 0);
		else
			node_path_child(&child, path, i);
		node_json(n->children[i], buf_str(&child), out);
	}
	json_out_array_end(out);
	json_out_object_end(out);
}

/* NULL: there is none. One that is written as a text is a number or a flag when its type says so.
 */
static json_t *default_of(const struct public_argument *arg)
{
	bool plain = arg->type.kind == TYPE_INT || arg->type.kind == TYPE_NUMBER ||
		     arg->type.kind == TYPE_BOOL || arg->type.kind == TYPE_ARRAY;
	struct source text = { S("default"), arg->inline_text };
	AUTO_REPORT ignored = REPORT_INIT;

	if (arg->fallback && !json_is_string(arg->fallback))
		return json_incref((json_t *)arg->fallback);
	if (arg->fallback)
		text.text = json_str(arg->fallback);
	if (!text.text.p)
		return NULL;
	json_t *value = plain ? json_read(&text, &ignored) : NULL;
	return value ? value : json_from_str(text.text);
}

static void argument_json(const struct public_argument *arg, struct json_out *out)
{
	AUTO_JSON *value = default_of(arg);
	AUTO_BUF type = BUF_INIT;

	buf_adds(&type, type_name(arg->type.kind));
	if (arg->type.kind == TYPE_ENUM)
		buf_printf(&type, "(%.*s)", STR(arg->type.members));
	json_out_object(out, NULL);
	json_out_str(out, "name", arg->name);
	json_out_str(out, "type", buf_str(&type));
	json_out_bool(out, "required", arg->required);
	json_out_value(out, "default", value);
	json_out_object_end(out);
}

static void imports_json(const struct recipe_file *f, struct json_out *out)
{
	json_out_object(out, "imports");
	vec_each (import, &f->imports) {
		json_out_name(out, import->alias);
		json_out_object(out, NULL);
		json_out_str(out, "id", import->file->id);
		json_out_str(out, "path", import->file->path);
		json_out_object_end(out);
	}
	json_out_object_end(out);
}

static void artifacts_json(const struct recipe *recipe, struct json_out *out)
{
	AUTO_JSON *artifacts = recipe_artifacts(recipe);
	const char *name;
	json_t *artifact;

	json_out_object(out, "artifacts");
	json_object_foreach(artifacts, name, artifact)
		json_out_value(out, name, json_object_get(artifact, "path"));
	json_out_object_end(out);
}

static void show_json(const struct recipe *recipe, struct buf *b)
{
	const struct recipe_file *f = recipe->file;
	AUTO_JSON *mailbox = recipe_mailbox(recipe);
	AUTO_JSON *facts = recipe->steps ? step_recipe_facts(recipe->steps) : NULL;
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_str(&o, "id", f->id);
	json_out_str(&o, "path", f->path);
	json_out_str(&o, "format", str_of(recipe_format_name(f->format)));
	json_out_str_or_null(&o, "description", recipe_description(recipe));
	json_out_bool(&o, "async", recipe_async(recipe));
	json_out_array(&o, "args");
	for (size_t i = 0; i < recipe->arguments->count; i++)
		argument_json(&recipe->arguments->at[i], &o);
	json_out_array_end(&o);
	imports_json(f, &o);
	artifacts_json(recipe, &o);
	json_out_value(&o, "mailbox", mailbox);
	json_out_array(&o, "warnings");
	vec_each (i, &recipe->graph->warnings.issues)
		json_out_str(&o, NULL, i->message);
	json_out_array_end(&o);
	json_out_name(&o, S("graph"));
	node_json(recipe->graph->root, node_root_path(recipe->graph->root), &o);
	json_out_members(&o, facts);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static void node_text(const struct node *n, unsigned depth, struct buf *b)
{
	buf_fill(b, ' ', (size_t)depth * 2 + 2);
	if (n->kind == NODE_COMMAND) {
		if (n->label.len) {
			text_plain(b, n->label);
			buf_adds(b, ": ");
		}
		text_plain(b, utf8_head(n->line, 150));
	} else {
		const struct node *named = n->kind == NODE_EACH ? n->children[0] : n;

		buf_adds(b, n->wrapper ? "group" : node_kind_name(n->kind));
		if (named->label.len) {
			buf_addc(b, ' ');
			text_plain(b, named->label);
		}
		if (named->import.len) {
			buf_adds(b, " (from ");
			text_plain(b, named->import);
			buf_addc(b, ')');
		}
	}
	buf_addc(b, '\n');
	for (size_t i = 0; i < n->child_count && depth < 40; i++)
		node_text(n->children[i], depth + 1, b);
}

static void argument_text(const struct public_argument *arg, struct buf *b)
{
	AUTO_BUF wanted = BUF_INIT;

	type_describe(&arg->type, &wanted);
	buf_adds(b, "  ");
	add_padded(b, arg->name, 16);
	buf_addc(b, ' ');
	/* Shorter than a diagnostic, which has to name every form that would have done. */
	text_plain(b, arg->type.kind == TYPE_NONE   ? S("a text")
		      : arg->type.kind == TYPE_BOOL ? S("true or false")
						    : buf_str(&wanted));
	if (arg->required)
		buf_adds(b, "; required");
	AUTO_JSON *value = default_of(arg);
	bool nothing = json_is_string(value) && !json_string_length(value) && !arg->fallback;
	if (value && !arg->required && !nothing) {
		buf_adds(b, "; default ");
		add_value(b, value);
	}
	buf_addc(b, '\n');
}

static void arguments_text(const struct recipe *recipe, struct buf *b)
{
	for (size_t i = 0; i < recipe->arguments->count; i++) {
		if (i == 0)
			buf_adds(b, "\nArguments:\n");
		argument_text(&recipe->arguments->at[i], b);
	}
}

static void usage_line(const struct recipe *recipe, struct buf *b)
{
	AUTO_BUF line = BUF_INIT;

	/* A file that is found by its path only is called by it. */
	buf_printf(&line, "Usage: roux run %.*s",
		STR(recipe->by_path ? recipe->file->doc.source.name : recipe->file->id));
	for (size_t i = 0; i < recipe->arguments->count; i++) {
		const struct public_argument *arg = &recipe->arguments->at[i];

		const char *form = arg->type.kind == TYPE_ARRAY ? ":='[…]'" : "=…";

		buf_printf(&line, arg->required ? " %.*s%s" : " [%.*s%s]", STR(arg->name), form);
	}
	text_plain(b, buf_str(&line));
	buf_addc(b, '\n');
}

static void description_text(const struct recipe *recipe, struct buf *b)
{
	if (recipe_description(recipe).len)
		buf_addc(b, '\n');
	add_lines(b, recipe_description(recipe));
}

static void named_line(struct buf *b, struct str name, struct str text)
{
	buf_adds(b, "  ");
	add_padded(b, name, 16);
	buf_addc(b, ' ');
	text_plain(b, text);
	buf_addc(b, '\n');
}

void recipes_help(const struct recipe *recipe, struct buf *b)
{
	usage_line(recipe, b);
	description_text(recipe, b);
	arguments_text(recipe, b);
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

static void mailbox_text(const struct recipe *recipe, struct buf *b)
{
	AUTO_JSON *mailbox = recipe_mailbox(recipe);
	AUTO_BUF lines = BUF_INIT;

	types_text("accepts", json_object_get(mailbox, "accepts"), &lines);
	types_text("emits", json_object_get(mailbox, "emits"), &lines);
	if (lines.len)
		buf_printf(b, "\nMailbox:\n%s", buf_cstr(&lines));
}

void recipes_show(const struct recipe *recipe, bool json, struct buf *b)
{
	if (json) {
		show_json(recipe, b);
		return;
	}
	text_plain(b, recipe->file->id);
	buf_printf(b, " (%s%s%s)\n", recipe_format_name(recipe->file->format),
		recipe_async(recipe) ? ", async" : "", recipe_disabled(recipe) ? ", disabled" : "");
	text_plain(b, recipe->file->path);
	buf_addc(b, '\n');
	description_text(recipe, b);
	buf_addc(b, '\n');
	usage_line(recipe, b);
	arguments_text(recipe, b);
	for (size_t i = 0; i < recipe->file->imports.len; i++) {
		const struct recipe_import *import = &recipe->file->imports.at[i];

		buf_adds(b, i ? "" : "\nImports:\n");
		named_line(b, import->alias, import->file->path);
	}
	AUTO_JSON *artifacts = recipe_artifacts(recipe);
	const char *name;
	json_t *artifact;
	bool first = true;
	json_object_foreach(artifacts, name, artifact)
	{
		buf_adds(b, first ? "\nArtifacts:\n" : "");
		named_line(b, str_of(name), json_str(json_object_get(artifact, "path")));
		first = false;
	}
	mailbox_text(recipe, b);
	if (recipe->steps) {
		steps_text(recipe->steps, b);
		return;
	}
	buf_adds(b, "\nGraph:\n");
	node_text(recipe->graph->root, 0, b);
}
