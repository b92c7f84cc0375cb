#include "data/json-schema.h"

#include "unit.h"

static json_t *read_json(const char *text)
{
	AUTO_REPORT r = REPORT_INIT;
	json_t *value = json_read(&(struct source){ S("test"), str_of(text) }, &r);

	assert_non_null(value);
	return value;
}

static bool note(void *data, struct str path, struct str message)
{
	struct buf *b = data;

	buf_printf(b, "%s%.*s: %.*s", b->len ? "\n" : "", STR(path), STR(message));
	return true;
}

/* NULL: the value satisfies the schema. */
static void assert_check(const char *schema, const char *value, const char *said)
{
	AUTO_JSON *s = read_json(schema), *v = read_json(value);
	AUTO_BUF text = BUF_INIT;
	bool ok = json_schema_check(s, v, note, &text);

	assert_str(buf_str(&text), said ? said : "");
	assert_int_equal(ok, said == NULL);
}

static void types_are_told_apart(void **state UNUSED)
{
	assert_check("{\"type\":\"integer\"}", "5", NULL);
	assert_check("{\"type\":\"integer\"}", "5.0", NULL);
	assert_check("{\"type\":\"integer\"}", "5.5", ": expected an integer, found 5.5");
	assert_check("{\"type\":\"integer\"}", "\"5\"", ": expected an integer, found \"5\"");
	assert_check("{\"type\":[\"string\",\"null\"]}", "null", NULL);
	assert_check("{\"type\":[\"string\",\"null\"]}", "[]",
		": expected a string or a null, found []");
	assert_check("{\"enum\":[\"a\",1]}", "\"b\"", ": expected one of \"a\", 1, found \"b\"");
	assert_check("false", "1", ": is not allowed");
	assert_check("true", "1", NULL);
}

static void objects_say_what_is_missing_and_what_is_too_much(void **state UNUSED)
{
	const char *schema = "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}},"
			     "\"required\":[\"name\"],\"additionalProperties\":false}";

	assert_check(schema, "{\"name\":\"x\"}", NULL);
	assert_check(schema, "{}", ": 'name' is missing");
	assert_check(schema, "{\"name\":\"x\",\"nmae\":1}",
		": 'nmae' is not known; did you mean 'name'? known: name");
	assert_check(schema, "{\"name\":7}", "name: expected a string, found 7");
}

static void places_lead_to_the_value(void **state UNUSED)
{
	assert_check("{\"items\":{\"properties\":{\"a\":{\"minimum\":3}}}}",
		"[{\"a\":4},{\"a\":1}]", "[1].a: expected at least 3, found 1");
	assert_check("{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[\"a\"]", NULL);
	assert_check("{\"minItems\":2,\"uniqueItems\":true}", "[1,1]", ": has an item twice");
}

static void counts_are_words_of_their_number(void **state UNUSED)
{
	assert_check("{\"minLength\":1}", "\"\"", ": expected at least 1 character, found 0");
	assert_check("{\"maxLength\":2}", "\"äöü\"", ": expected at most 2 characters, found 3");
	assert_check("{\"maxItems\":1}", "[1,2]", ": expected at most 1 item, found 2");
	assert_check("{\"minItems\":2}", "[1]", ": expected at least 2 items, found 1");
	assert_check("{\"minProperties\":1}", "{}", ": expected at least 1 member, found 0");
}

static void schemas_are_combined(void **state UNUSED)
{
	assert_check("{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", "7", NULL);
	assert_check("{\"anyOf\":[{\"type\":\"string\"},{\"minimum\":5}]}", "3",
		": is none of what is allowed");
	assert_check("{\"oneOf\":[{\"minimum\":1},{\"minimum\":2}]}", "3",
		": is not exactly one of what is allowed");
	assert_check("{\"not\":{\"const\":1}}", "1", ": is what is not allowed");
	assert_check("{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5}}", "7",
		": expected a multiple of 5, found 7");
}

static void references_stay_in_the_schema(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *remote = read_json("{\"$ref\":\"http://e.org/x\"}");
	AUTO_JSON *loop = read_json("{\"$ref\":\"#\"}");

	assert_check("{\"$ref\":\"#/$defs/n\",\"$defs\":{\"n\":{\"type\":\"number\"}}}", "\"x\"",
		": expected a number, found \"x\"");
	assert_check("{\"properties\":{\"next\":{\"$ref\":\"#\"}},\"required\":[\"v\"]}",
		"{\"v\":1,\"next\":{\"v\":2,\"next\":{}}}", "next.next: 'v' is missing");
	assert_false(json_schema_usable(remote, &r));
	assert_true(json_schema_usable(loop, &r));
	assert_false(json_schema_check(loop, json_null(), NULL, NULL));
}

static void a_schema_has_limits(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF deep = BUF_INIT;

	for (int i = 0; i < 40; i++)
		buf_adds(&deep, "{\"not\":");
	buf_adds(&deep, "true");
	buf_fill(&deep, '}', 40);
	AUTO_JSON *schema = read_json(buf_cstr(&deep));
	assert_false(json_schema_usable(schema, &r));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_told_apart),
		cmocka_unit_test(objects_say_what_is_missing_and_what_is_too_much),
		cmocka_unit_test(places_lead_to_the_value),
		cmocka_unit_test(counts_are_words_of_their_number),
		cmocka_unit_test(schemas_are_combined),
		cmocka_unit_test(references_stay_in_the_schema),
		cmocka_unit_test(a_schema_has_limits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json-schema", tests, NULL, NULL);
}
