#include "data/edit.h"

#include "data/json.h"
#include "unit.h"

static void assert_set(const char *text, const char *name, const char *value, const char *want)
{
	AUTO_BUF got = BUF_INIT;

	assert_true(edit_set_member(str_of(text), str_of(name), str_of(value), &got));
	assert_str(buf_str(&got), want);
}

static void a_value_is_replaced_where_it_stands(void **state UNUSED)
{
	assert_set("{\"a\":1,\"b\":2}", "a", "3", "{\"a\":3,\"b\":2}");
	assert_set("{ \"a\" :\t1.50 , \"b\":[1 ,2] }\n", "b", "null",
		"{ \"a\" :\t1.50 , \"b\":null }\n");
	assert_set("{\"a\":\"}\\\"{\",\"b\":{\"a\":1}}", "a", "{}", "{\"a\":{},\"b\":{\"a\":1}}");
	assert_set("{\"a\":1e2,\"b\":true}", "a", "\"x, y\"", "{\"a\":\"x, y\",\"b\":true}");
}

static void of_duplicates_the_last_is_replaced(void **state UNUSED)
{
	assert_set("{\"a\":1,\"b\":2,\"a\":3}", "a", "4", "{\"a\":1,\"b\":2,\"a\":4}");
}

static void names_are_compared_without_their_escapes(void **state UNUSED)
{
	assert_set("{\"us\\u0061ge\":1,\"template\":2}", "usage", "3",
		"{\"us\\u0061ge\":3,\"template\":2}");
	assert_set("{\"a\\\"b\":1}", "a\"b", "2", "{\"a\\\"b\":2}");
	assert_set("{\"x\":1}", "a\"b", "2", "{\"x\":1,\"a\\\"b\":2}");
}

static void a_new_member_comes_last(void **state UNUSED)
{
	assert_set("{\"a\":1}", "b", "2", "{\"a\":1,\"b\":2}");
	assert_set("{\"a\": 1}", "b", "2", "{\"a\": 1, \"b\": 2}");
	assert_set("{ \"a\": 1, \"template\": 2, \"c\": 3 }", "b", "{\"x\":[1,2],\"y\":{}}",
		"{ \"a\": 1, \"template\": 2, \"c\": 3, \"b\": {\"x\": [1, 2], \"y\": {}} }");
	assert_set("{\n  \"a\": 1\n}\n", "b", "2", "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
}

static void a_new_member_comes_before_a_template_at_the_end(void **state UNUSED)
{
	assert_set("{\"template\":\"x\"}", "u", "1", "{\"u\":1,\"template\":\"x\"}");
	assert_set("{\"template\": \"x\"}", "u", "1", "{\"u\": 1, \"template\": \"x\"}");
	assert_set(
		"{\"a\":1,\"template\":\"x\"}", "u", "1", "{\"a\":1,\"u\":1,\"template\":\"x\"}");
	assert_set("{\n\t\"template\": [\n\t\t\"x\"\n\t]\n}", "u", "{\"calls\":1,\"l\":[]}",
		"{\n\t\"u\": {\n\t\t\"calls\": 1,\n\t\t\"l\": []\n\t},\n"
		"\t\"template\": [\n\t\t\"x\"\n\t]\n}");
	/* A blank line stays with what it sets apart. */
	assert_set("{\n    \"a\": 1,\n\n    \"template\": 2\n}", "u", "3",
		"{\n    \"a\": 1,\n    \"u\": 3,\n\n    \"template\": 2\n}");
}

static void assert_removed(const char *text, const char *name, const char *want)
{
	AUTO_BUF got = BUF_INIT;

	assert_true(edit_remove_member(str_of(text), str_of(name), &got));
	assert_str(buf_str(&got), want);
}

static void a_member_is_removed_with_its_line(void **state UNUSED)
{
	assert_removed("{\"a\":1, \"b\":2, \"c\":3}", "a", "{\"b\":2, \"c\":3}");
	assert_removed("{\"a\":1, \"b\":2, \"c\":3}", "b", "{\"a\":1, \"c\":3}");
	assert_removed("{\n  \"a\": 1,\n  \"b\": 2\n}\n", "a", "{\n  \"b\": 2\n}\n");
	assert_removed("{\n  \"a\": 1,\n  \"b\": {\"a\":1}\n}\n", "b", "{\n  \"a\": 1\n}\n");
	assert_removed("{\n  \"a\": 1\n}\n", "a", "{}\n");
	assert_removed("{\"a\":1,\"b\":2,\"\\u0061\":3}", "a", "{\"b\":2}");
	assert_removed("\xEF\xBB\xBF{ \"a\": 1 }", "b", "\xEF\xBB\xBF{ \"a\": 1 }");
}

static void an_empty_object_gets_its_first_member(void **state UNUSED)
{
	assert_set("{}", "a", "{\"b\":1}", "{\"a\": {\"b\": 1}}");
	assert_set("{\n}\n", "a", "1", "{\n  \"a\": 1\n}\n");
	assert_set("{\r\n}\r\n", "a", "[1]", "{\r\n  \"a\": [\r\n    1\r\n  ]\r\n}\r\n");
}

static void byte_order_mark_and_line_ends_stay(void **state UNUSED)
{
	assert_set("\xEF\xBB\xBF{\r\n  \"d\": 1.0,\r\n  \"template\": \"x\"\r\n}\r\n", "u",
		"{\"calls\":1}",
		"\xEF\xBB\xBF{\r\n  \"d\": 1.0,\r\n  \"u\": {\r\n    \"calls\": 1\r\n  },\r\n"
		"  \"template\": \"x\"\r\n}\r\n");
}

static void an_object_on_one_line_stays_on_it(void **state UNUSED)
{
	assert_set("{\n  \"u\": {\"calls\": 1},\n  \"template\": 2\n}", "u",
		"{\"calls\":2,\"l\":[1,2]}",
		"{\n  \"u\": {\"calls\": 2, \"l\": [1, 2]},\n  \"template\": 2\n}");
	assert_set("{\n  \"u\": {},\n  \"template\": 2\n}", "u", "{\"calls\":2}",
		"{\n  \"u\": {\n    \"calls\": 2\n  },\n  \"template\": 2\n}");
	assert_set("{\n  \"u\": {\n    \"calls\": 1\n  },\n  \"template\": 2\n}", "u",
		"{\"calls\":2,\"l\":1}",
		"{\n  \"u\": {\n    \"calls\": 2,\n    \"l\": 1\n  },\n  \"template\": 2\n}");
}

static void what_is_not_an_object_is_refused(void **state UNUSED)
{
	static const char *const bad[] = { "", " ", "[]", "1", "\"{}\"", "{", "{\"a", "{\"a\"",
		"{\"a\"}", "{\"a\":", "{\"a\":1", "{\"a\":1,", "{\"a\":[", "{\"a\":\"\\" };
	AUTO_BUF got = BUF_INIT;

	buf_adds(&got, "before");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(edit_set_member(str_of(bad[i]), S("a"), S("1"), &got));
	assert_str(buf_str(&got), "before");
}

/* A fixed series of numbers, so that a failure comes back. */
static uint64_t bits = 88172645463325252u;

static unsigned pick(unsigned below)
{
	bits ^= bits << 13;
	bits ^= bits >> 7;
	bits ^= bits << 17;
	return (unsigned)(bits >> 33) % below;
}

static void add_blank(struct buf *b)
{
	static const char *const blanks[] = { "", "", "", " ", "\n  ", "\r\n\t", "\n\n", "  " };

	buf_adds(b, blanks[pick(ARRAY_SIZE(blanks))]);
}

static void add_any(struct buf *b, unsigned depth)
{
	static const char *const scalars[] = { "1", "-1.50e+3", "true", "null", "\"\"",
		"\"a,b\\\"]}\"", "\"\\\\\"", "\"\\u00e9 \xC3\xA9\"", "12345678901234567890" };
	static const char *const names[] = { "\"a\"", "\"b\"", "\"template\"", "\"\\u0061\"",
		"\"usage\"", "\"{\"" };
	bool object = depth == 0 || pick(2);
	unsigned n = pick(5);

	if (depth > 2 || (depth && pick(2))) {
		buf_adds(b, scalars[pick(ARRAY_SIZE(scalars))]);
		return;
	}
	buf_addc(b, object ? '{' : '[');
	for (unsigned i = 0; i < n; i++) {
		if (i)
			buf_addc(b, ',');
		add_blank(b);
		if (object) {
			buf_adds(b, names[pick(ARRAY_SIZE(names))]);
			add_blank(b);
			buf_addc(b, ':');
			add_blank(b);
		}
		add_any(b, depth + 1);
		add_blank(b);
	}
	add_blank(b);
	buf_addc(b, object ? '}' : ']');
}

static json_t *parse(const struct buf *b)
{
	const struct source source = { S("test.json"), buf_str(b) };
	AUTO_REPORT r = REPORT_INIT;
	json_t *value = json_read(&source, &r);

	if (!value)
		fail_msg("broken: %s", buf_cstr(b));
	return value;
}

static void assert_equal(const json_t *want, const struct buf *got, const struct buf *from)
{
	AUTO_JSON *value = parse(got);

	if (!json_equal(want, value))
		fail_msg("%s\nbecame\n%s", buf_cstr(from), buf_cstr(got));
}

static void just_that_member_changes(void **state UNUSED)
{
	static const char *const values[] = { "1", "{}", "{\"x\":[1,{\"y\":\"z: ,\"}],\"e\":[]}",
		"[[],[1]]", " [ 1 , 2 ] " };
	static const char *const names[] = { "usage", "a", "template", "\"\n" };

	for (int i = 0; i < 20000; i++) {
		AUTO_BUF text = BUF_INIT;
		AUTO_BUF value_text = BUF_INIT;
		AUTO_BUF set = BUF_INIT;
		struct str name = str_of(names[pick(ARRAY_SIZE(names))]);

		if (!pick(4))
			buf_adds(&text, "\xEF\xBB\xBF");
		add_blank(&text);
		add_any(&text, 0);
		add_blank(&text);
		buf_adds(&value_text, values[pick(ARRAY_SIZE(values))]);
		AUTO_JSON *object = parse(&text);
		AUTO_JSON *value = parse(&value_text);

		assert_true(edit_set_member(buf_str(&text), name, buf_str(&value_text), &set));
		(void)json_object_set(object, name.p, value);
		assert_equal(object, &set, &text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_replaced_where_it_stands),
		cmocka_unit_test(of_duplicates_the_last_is_replaced),
		cmocka_unit_test(names_are_compared_without_their_escapes),
		cmocka_unit_test(a_new_member_comes_last),
		cmocka_unit_test(a_new_member_comes_before_a_template_at_the_end),
		cmocka_unit_test(a_member_is_removed_with_its_line),
		cmocka_unit_test(an_empty_object_gets_its_first_member),
		cmocka_unit_test(byte_order_mark_and_line_ends_stay),
		cmocka_unit_test(an_object_on_one_line_stays_on_it),
		cmocka_unit_test(what_is_not_an_object_is_refused),
		cmocka_unit_test(just_that_member_changes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("edit", tests, NULL, NULL);
}
