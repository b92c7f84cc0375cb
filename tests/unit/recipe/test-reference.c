#include "recipe/reference.h"

#include "recipe/recipe.h"
#include "runs/root.h"

/* Of a recipe a.json that imports b.json as `lint`: its template, as references leave it. `body` is
 * written with ' for ". */
static struct recipe *opened(const char *body, struct report *r)
{
	struct str dir = str_of(root);
	struct recipe_dirs dirs = { .agent = dir, .user = dir, .packaged = dir };
	AUTO_BUF text = BUF_INIT;

	put("b.json", "{\"defaults\":{\"level\":\"low\",\"deep\":{\"a\":{\"b\":7}},\"list\":[1,2]},"
		      "\"values\":{\"who\":\"me\"},\"template\":\"echo {level=x}\"}");
	for (const char *c = body; *c; c++)
		buf_addc(&text, *c == '\'' ? '"' : *c);
	put("a.json", buf_cstr(&text));
	return recipe_open_file(&dirs, str_of(at("a.json")), LAYER_USER, r);
}

#define IMPORTS "{'imports':{'lint':{'from':'./b.json','defaults':{'level':'high'}}},"

/* What the member `defaults` of a.json becomes. */
static void becomes(const char *defaults, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF got = BUF_INIT;
	struct recipe *recipe = opened(
		arena_printf(&arena, IMPORTS "'template':'echo','defaults':%s}", defaults).p, &r);

	if (!recipe)
		report_text(&r, REPORT_ALL, &got);
	if (!recipe)
		fail_msg("%s", buf_cstr(&got));
	json_write(&got, json_object_get(recipe->file->object, "defaults"), 0);
	for (size_t i = 0; i < got.len; i++)
		if (got.p[i] == '"')
			got.p[i] = '\'';
	assert_str(buf_str(&got), want);
	recipe_free(recipe);
}

static void refused(const char *defaults, const char *why)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct recipe *recipe = opened(
		arena_printf(&arena, IMPORTS "'template':'echo','defaults':%s}", defaults).p, &r);

	assert_null(recipe);
	report_text(&r, REPORT_ALL, &text);
	if (!str_contains(buf_str(&text), str_of(why)))
		fail_msg("no '%s' in: %s", why, buf_cstr(&text));
}

static void a_reference_takes_what_the_import_says(void **state UNUSED)
{
	becomes("{'x':'{lint.name}'}", "{'x':'b'}");
	becomes("{'x':'{lint.file}'}", arena_printf(&arena, "{'x':'%s'}", at("b.json")).p);
	becomes("{'x':'{lint.values.who}'}", "{'x':'me'}");
	becomes("{'x':'{lint.defaults.level}'}", "{'x':'high'}"); /* the binding wins */
}

static void a_text_that_is_only_one_takes_the_value_itself(void **state UNUSED)
{
	becomes("{'x':'{lint.defaults.list}'}", "{'x':[1,2]}");
	becomes("{'x':'{lint.defaults.deep.a.b}'}", "{'x':7}");
	becomes("{'x':'{lint.values}'}", "{'x':{'who':'me'}}");
	becomes("{'x':'is {lint.defaults.deep.a.b}!'}", "{'x':'is 7!'}");
}

static void what_is_missing_has_a_fallback_or_is_a_mistake(void **state UNUSED)
{
	becomes("{'x':'{lint.values.none=other}'}", "{'x':'other'}");
	becomes("{'x':'{lint.values.who=other}'}", "{'x':'me'}");
	refused("{'x':'{lint.values.none}'}", "lint.values.none");
	refused("{'x':'{lint.defaults.deep.a.c}'}", "lint.defaults.deep.a.c");
	refused("{'x':'{lint.defaults.level.more}'}", "lint.defaults.level.more");
}

static void an_import_that_is_not_there_is_a_mistake(void **state UNUSED)
{
	refused("{'x':'{other.values.who}'}", "other");
	refused("{'x':'{lint.nothing}'}", "lint.nothing");
}

static void other_braces_stay(void **state UNUSED)
{
	becomes("{'x':'{y} {lint} {a.b} {}'}", "{'x':'{y} {lint} {a.b} {}'}");
	becomes("{'x':5,'y':[null,{'z':'{lint.values.who}'}]}", "{'x':5,'y':[null,{'z':'me'}]}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_reference_takes_what_the_import_says),
		T(a_text_that_is_only_one_takes_the_value_itself),
		T(what_is_missing_has_a_fallback_or_is_a_mistake),
		T(an_import_that_is_not_there_is_a_mistake),
		T(other_braces_stay),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("reference", tests, NULL, NULL);
}
