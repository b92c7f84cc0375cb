/* A recipe as a tool. */
#include <stdlib.h>
#include <string.h>

#include "app/recipes.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "data/json-schema.h"
#include "hosts/mcp/tool.h"

enum { NAME_MAX_CHARS = 64, NAME_HEAD = 55, DESCRIPTION_MAX = 1024 };

struct tool *tool_ref(struct tool *t)
{
	t->references++;
	return t;
}

void tool_unref(struct tool *t)
{
	if (!t || --t->references)
		return;
	recipe_ref_free(t->ref);
	json_decref(t->input);
	json_decref(t->output);
	json_decref(t->secrets);
	json_decref(t->paths);
	json_decref(t->listed);
	arena_done(&t->arena);
	free(t);
}

/* -- names and texts -----------------------------------------------------------------------------
 */

/* The name of the tool for a recipe of this id: legal characters, at most 64. */
static void tool_name(struct str id, struct buf *b)
{
	char sum[SHA256_HEX];

	for (size_t i = 0; i < id.len; i++) {
		char c = id.p[i];
		bool legal = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || ascii_digit(c) ||
			     c == '_' || c == '.' || c == '-';

		buf_addc(b, legal ? c : '_');
	}
	if (b->len <= NAME_MAX_CHARS)
		return;
	sha256_hex(id, sum);
	buf_truncate(b, NAME_HEAD);
	buf_printf(b, "_%.8s", sum);
}

/* What a Markdown file says of itself: its first heading and its first paragraph. */
struct prose {
	struct str heading;
	struct buf paragraph;
};

static struct str next_line(struct str text, size_t *at)
{
	size_t end = str_find(text, '\n', *at);
	struct str line = str_sub(text, *at, end - *at);

	*at = end + 1;
	return line;
}

static void read_prose(struct str text, struct prose *ret)
{
	bool fenced = false;
	size_t at = 0;

	if (str_starts(text, S("---\n"))) {
		at = 4;
		while (at < text.len && !str_starts(next_line(text, &at), S("---")))
			;
	}
	while (at < text.len) {
		struct str line = str_trim(next_line(text, &at));
		bool fence = str_starts(line, S("```")) || str_starts(line, S("~~~"));
		size_t marks = 0;

		while (marks < line.len && line.p[marks] == '#')
			marks++;
		bool heading = marks && marks < line.len && line.p[marks] == ' ';
		if (!fenced && heading && !ret->heading.len)
			ret->heading = str_trim(str_from(line, marks));
		if (ret->paragraph.len && (!line.len || fence || heading))
			return;
		fenced ^= fence;
		if (line.len && !fence && !fenced && !heading) {
			buf_adds(&ret->paragraph, ret->paragraph.len ? " " : "");
			buf_add(&ret->paragraph, line);
		}
	}
}

static void set_texts(struct tool *t)
{
	struct prose prose = { 0 };
	AUTO_BUF label = BUF_INIT;
	AUTO_BUF said = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	recipe_ref_shown_member(t->ref, "label", &label);
	recipe_ref_description(t->ref, &said);
	struct str title = str_trim(buf_str(&label));
	struct str description = buf_str(&said);
	if (strcmp(recipe_ref_format(t->ref), "markdown") == 0) {
		recipe_ref_shown_text(t->ref, &text);
		read_prose(buf_str(&text), &prose);
	}
	if (!title.len)
		title = prose.heading;
	if (!description.len)
		description = buf_str(&prose.paragraph);
	description = utf8_head(description, DESCRIPTION_MAX);
	if (title.len)
		json_object_set_new(t->listed, "title", json_from_str(title));
	if (description.len)
		json_object_set_new(t->listed, "description", json_from_str(description));
	buf_done(&prose.paragraph);
}

/* -- arguments -----------------------------------------------------------------------------------
 */

static void take_argument(void *data, const struct recipe_argument *a)
{
	struct tool *t = data;
	json_t *properties = json_object_get(t->input, "properties");
	json_t *property = json_object_getn(properties, a->name.p, a->name.len);

	if (!a->path || !property)
		return;
	json_array_append_new(t->paths, json_from_str(a->name));
	json_object_set_new(property, "description",
		json_string(
			t->anywhere ? "path" : "path, relative to the project root and inside it"));
}

static void remove_name(json_t *array, const char *name)
{
	for (size_t i = json_array_size(array); i-- > 0;)
		if (strcmp(json_string_value(json_array_get(array, i)), name) == 0)
			json_array_remove(array, i);
}

static void set_input(struct tool *t)
{
	const json_t *secrets = recipe_ref_member(t->ref, "secrets");
	json_t *name;
	size_t i;

	t->input = recipes_input_schema(t->ref);
	t->paths = json_array();
	t->secrets = json_array();
	recipe_arguments_each(t->ref, take_argument, t);
	json_t *properties = json_object_get(t->input, "properties");
	json_t *required = json_object_get(t->input, "required");
	if (t->async)
		json_object_del(properties, "run_id"); /* each call has a run of its own */
	json_array_foreach(secrets, i, name)
	{
		if (!json_is_string(name))
			continue;
		json_array_append(t->secrets, name);
		json_object_del(properties, json_string_value(name));
		remove_name(required, json_string_value(name));
	}
	if (!json_array_size(required))
		json_object_del(t->input, "required");
}

/* -- what else its author says -------------------------------------------------------------------
 */

static enum tool_effects effects_of(const struct recipe_ref *ref)
{
	static const char *const words[] = { NULL, "read", "write", "destructive" };
	const json_t *said = recipe_ref_member(ref, "effects");

	for (enum tool_effects e = EFFECTS_READ; e <= EFFECTS_DESTRUCTIVE; e++)
		if (json_is_string(said) && str_eq(json_str(said), str_of(words[e])))
			return e;
	return EFFECTS_UNKNOWN;
}

static void set_annotations(struct tool *t)
{
	const json_t *idempotent = recipe_ref_member(t->ref, "idempotent");
	const json_t *network = recipe_ref_member(t->ref, "network");
	json_t *hints = json_object();

	t->effects = effects_of(t->ref);
	if (t->effects != EFFECTS_UNKNOWN)
		json_object_set_new(
			hints, "readOnlyHint", json_boolean(t->effects == EFFECTS_READ));
	if (t->effects == EFFECTS_WRITE || t->effects == EFFECTS_DESTRUCTIVE)
		json_object_set_new(
			hints, "destructiveHint", json_boolean(t->effects == EFFECTS_DESTRUCTIVE));
	if (json_is_boolean(idempotent))
		json_object_set_new(
			hints, "idempotentHint", json_boolean(json_is_true(idempotent)));
	if (json_is_boolean(network))
		json_object_set_new(hints, "openWorldHint", json_boolean(json_is_true(network)));
	if (json_object_size(hints))
		json_object_set_new(t->listed, "annotations", hints);
	else
		json_decref(hints);
}

static bool set_output(struct tool *t, struct report *r)
{
	const json_t *type;

	t->output = recipes_output_schema(t->ref);
	if (!t->output)
		return true;
	if (!json_schema_usable(t->output, r))
		return false;
	type = json_object_get(t->output, "type");
	t->wrapped = !json_is_string(type) || !str_eq(json_str(type), S("object"));
	json_object_set_new(t->listed, "outputSchema",
		t->wrapped ? json_pack("{s:s, s:{s:O}, s:[s]}", "type", "object", "properties",
				     "result", t->output, "required", "result")
			   : json_incref(t->output));
	return true;
}

uint64_t tool_budget(const json_t *said)
{
	static const struct {
		const char *unit;
		double ms;
	} units[] = { { "ms", 1 }, { "s", 1000 }, { "m", 60000 }, { "h", 3600000 },
		{ "d", 86400000 } };
	double n = json_number_value(said), scale = 1000;
	char *rest;

	if (json_is_string(said)) {
		n = strtod(json_string_value(said), &rest);
		scale = *rest && rest != json_string_value(said) ? 0 : 1000;
		for (size_t i = 0; i < ARRAY_SIZE(units); i++)
			if (strcmp(rest, units[i].unit) == 0 && rest != json_string_value(said))
				scale = units[i].ms;
		if (!scale || rest == json_string_value(said))
			return BUDGET_UNSET;
	} else if (!json_is_number(said)) {
		return BUDGET_UNSET;
	}
	return n >= 0 && n * scale < 1e15 ? (uint64_t)(n * scale) : BUDGET_UNSET;
}

static json_t *recipe_meta(const struct tool *t)
{
	char sum[SHA256_HEX];
	json_t *meta;

	sha256_hex(recipe_ref_path(t->ref), sum);
	meta = json_pack("{s:{s:s, s:s, s:b}}", "dev.roux/recipe", "path_digest", sum, "kind",
		t->steps ? "steps" : "template", "async", t->async);
	if (t->commands)
		json_object_set_new(json_object_get(meta, "dev.roux/recipe"), "steps",
			json_integer((json_int_t)t->commands));
	if (json_is_true(recipe_ref_member(t->ref, "always")))
		json_object_set_new(meta, "anthropic/alwaysLoad", json_true());
	return meta;
}

struct tool *tool_of_recipe(struct recipe_ref *ref, struct report *r)
{
	struct tool *t = mem_new(struct tool);
	const json_t *paths = recipe_ref_member(ref, "paths");
	AUTO_BUF name = BUF_INIT;

	t->references = 1;
	t->ref = recipe_ref_share(ref);
	t->id = arena_str(&t->arena, recipe_ref_id(ref));
	tool_name(t->id, &name);
	t->name = arena_str(&t->arena, buf_str(&name));
	t->async = recipe_ref_async(ref);
	t->steps = recipe_ref_is_steps(ref);
	t->commands = recipe_ref_size(ref);
	t->anywhere = json_is_string(paths) && str_eq(json_str(paths), S("anywhere"));
	t->sync_ms = tool_budget(recipe_ref_member(ref, "sync_budget"));
	t->progress_ms = tool_budget(recipe_ref_member(ref, "progress_budget"));
	t->listed = json_pack("{s:o}", "name", json_from_str(t->name));
	set_texts(t);
	set_input(t);
	json_object_set(t->listed, "inputSchema", t->input);
	set_annotations(t);
	bool ok = set_output(t, r);
	json_object_set_new(t->listed, "_meta", recipe_meta(t));
	if (ok)
		return t;
	tool_unref(t);
	return NULL;
}
