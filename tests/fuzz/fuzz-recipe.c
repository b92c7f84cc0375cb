/* Recipes with what they import: read, shown, planned, described. Input: up to five parts with 0x1e
 * between them, each the text of a file: a.json, b.md, c.json, then values and d.yaml, a step
 * recipe that the others may import. `a` is loaded first, then `b`. */
#include "app/answers.h"
#include "app/catalog/ref.h"
#include "base/utf8.h"
#include "data/json-out.h"
#include "graph/plan.h"
#include "hosts/cli/recipe-text.h"
#include "recipe/usage.h"

#include "room.h"

static const char *const names[] = { "a.json", "b.md", "c.json" };
static const char steps[] = "d.yaml";

static json_t *read_back(const struct buf *b)
{
	AUTO_REPORT none = REPORT_INIT;
	struct source text = { S("shown"), buf_str(b) };
	json_t *value = json_read(&text, &none);

	HOLDS(value);
	return value;
}

static void shown(const struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF json = BUF_INIT;

	report_text(r, REPORT_ALL, &text);
	HOLDS(utf8_valid(buf_str(&text)));
	issues_json(r, REPORT_ALL, &json);
	AUTO_JSON *value = read_back(&json);
	HOLDS(json_is_array(value));
	vec_each (i, &r->issues) {
		HOLDS(i->message.len);
		HOLDS(!i->file.len || (i->line && i->column));
		HOLDS(i->mark + i->mark_len <= i->excerpt.len);
	}
}

static void describe(struct recipe *recipe)
{
	const struct recipe_ref ref = { .recipe = recipe, .graph = recipe->graph };
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF json = BUF_INIT;
	char hex[SHA256_HEX];

	recipes_describe(&ref, &(struct json_out){ .b = &json });
	AUTO_JSON *value = read_back(&json);
	HOLDS(json_is_array(json_object_get(value, "args")));
	HOLDS(json_array_size(json_object_get(value, "args")) == recipe->arguments->count);
	recipe_text_show(&ref, &text);
	recipe_text_help(&ref, &text);
	HOLDS(utf8_valid(buf_str(&text)));
	AUTO_JSON *schema = recipes_input_schema(&ref);
	HOLDS(json_is_object(json_object_get(schema, "properties")));
	usage_fingerprint(recipe->file->object, hex);
}

static void plan(struct recipe *recipe, const json_t *values)
{
	AUTO_REPORT r = REPORT_INIT;

	(void)public_arguments_check(
		recipe->arguments, recipe_called(recipe), values, CALLER_PERSON, &r);
	struct plan *p = plan_new(recipe->graph, values, &r);
	if (p) {
		AUTO_JSON *artifacts = recipe_artifact_paths(recipe, p, &r);

		HOLDS(artifacts || r.errors);
		plan_unref(p);
	}
	shown(&r);
}

/* A plan counts its copies out; a lot means too slow to look at. */
static bool small(const struct node *n)
{
	if (n->kind == NODE_EACH && n->count.number > 100)
		return false;
	for (size_t i = 0; i < n->child_count; i++)
		if (!small(n->children[i]))
			return false;
	return true;
}

static void load(const struct recipe_dirs *dirs, const char *name, const json_t *values)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%s/%s", room(), name);
	struct recipe *recipe = recipe_open_file(dirs, buf_str(&path), LAYER_USER, &r);
	shown(&r);
	HOLDS(!recipe == (r.errors > 0));
	if (!recipe)
		return;
	shown(&recipe->graph->warnings);
	describe(recipe);
	if (small(recipe->graph->root))
		plan(recipe, values);
	recipe_free(recipe);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = fuzz_str(data, size);
	struct str dir = str_of(room());
	struct recipe_dirs dirs = { .agent = dir, .user = dir, .packaged = dir };
	AUTO_REPORT ignored = REPORT_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		room_put(names[i], fuzz_first(&rest), NULL);
	struct source given = { S("values"), fuzz_first(&rest) };
	AUTO_JSON *values = given.text.len ? json_read(&given, &ignored) : NULL;
	room_put(steps, rest, NULL);
	AUTO_JSON *none = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		load(&dirs, names[i], json_is_object(values) ? values : none);
	return 0;
}
