#include "data/json-out.h"

#include "kitchen.h"

static struct recipe_ref *open_text(struct kitchen *k, const char *text)
{
	kitchen_put(k, "agent/recipes/r.json", text);
	struct recipe_ref *ref = recipes_open(
		k->app, "r", &(struct recipe_open){ .as = OPERAND_RECIPE }, &k->report);

	assert_non_null(ref);
	return ref;
}

static void assert_json(const json_t *got, const char *want)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, got, 0);
	assert_str(buf_str(&text), want);
}

static const char typed[] =
	"{\"template\":\"echo {name} {n:int=3} {f:bool=false} {e:enum(a,b)=a} {l:array=[]}\"}";

static void defaults_have_their_types(void **state)
{
	struct kitchen *k = kitchen_new();
	struct recipe_ref *ref = open_text(k, typed);

	(void)state;
	AUTO_JSON *schema = recipes_input_schema(ref);
	assert_json(schema, "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"},"
			    "\"n\":{\"type\":\"integer\",\"default\":3},"
			    "\"f\":{\"type\":\"boolean\",\"default\":false},"
			    "\"e\":{\"type\":\"string\",\"enum\":[\"a\",\"b\"],\"default\":\"a\"},"
			    "\"l\":{\"type\":\"array\",\"items\":{},\"default\":[]}},"
			    "\"required\":[\"name\"],\"additionalProperties\":false}");
	recipe_ref_free(ref);
	kitchen_free(k);
}

static void an_async_one_takes_the_name_of_its_run(void **state)
{
	struct kitchen *k = kitchen_new();
	struct recipe_ref *ref = open_text(k, "{\"template\":\"echo {n:int=3}\",\"async\":true}");

	(void)state;
	AUTO_JSON *schema = recipes_input_schema(ref);
	assert_json(schema,
		"{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\",\"default\":3},"
		"\"run_id\":{\"type\":\"string\"}},\"required\":[],"
		"\"additionalProperties\":false}");
	recipe_ref_free(ref);
	kitchen_free(k);
}

static void what_it_prints_is_for_its_author_to_say(void **state)
{
	struct kitchen *k = kitchen_new();
	struct recipe_ref *ref = open_text(k, typed);

	(void)state;
	assert_null(recipes_output_schema(ref));
	recipe_ref_free(ref);
	ref = open_text(k, "{\"template\":\"true\",\"output_schema\":{\"type\":\"object\"}}");
	AUTO_JSON *schema = recipes_output_schema(ref);
	assert_json(schema, "{\"type\":\"object\"}");
	recipe_ref_free(ref);
	kitchen_free(k);
}

static void a_plan_is_a_document(void **state)
{
	struct kitchen *k = kitchen_new();
	AUTO_JSON *values = json_pack("{s:s}", "name", "Ada");
	struct recipe_ref *ref = open_text(k, "{\"template\":\"echo {name} {run_id}\"}");

	(void)state;
	struct recipe_ref *with = recipe_ref_with(ref, values, &k->report);
	AUTO_BUF text = BUF_INIT;
	assert_true(recipes_plan(with, NULL, &(struct json_out){ .b = &text }, &k->report));
	assert_true(str_starts(
		buf_str(&text), S("{\"argv\":[[\"echo\",\"Ada\",\"{run_id}\"]],\"leaves\":")));
	assert_int_equal(json_object_size(values), 1); /* the caller's are as they were */
	buf_reset(&text);
	assert_false(recipes_plan(ref, NULL, &(struct json_out){ .b = &text }, &k->report));
	assert_true(!text.len && k->report.errors > 0);
	recipe_ref_free(with);
	recipe_ref_free(ref);
	kitchen_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults_have_their_types),
		cmocka_unit_test(an_async_one_takes_the_name_of_its_run),
		cmocka_unit_test(what_it_prints_is_for_its_author_to_say),
		cmocka_unit_test(a_plan_is_a_document),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
