#include "steps/language/answer.h"

#include "unit.h"

static void one_newline_at_the_end_goes(void **state UNUSED)
{
	assert_str(answer_text(S("a\n")), "a");
	assert_str(answer_text(S("a\n\n")), "a\n");
	assert_str(answer_text(S("a")), "a");
	assert_str(answer_text(S("\n")), "");
	assert_str(answer_text(S("")), "");
	assert_str(answer_text(S("a \t")), "a \t");
	assert_str(answer_text(S("a\r\n")), "a\r");
}

/* "none": refused. */
static void assert_json(struct str text, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF got = BUF_INIT;
	AUTO_JSON *value = answer_json(text, S("answer"), &r);

	assert_int_equal(r.errors, value ? 0 : 1);
	if (value)
		json_write(&got, value, 0);
	assert_str(value ? buf_str(&got) : S("none"), want);
}

static void the_whole_text_comes_first(void **state UNUSED)
{
	assert_json(S(" {\"a\": [1]}\n"), "{\"a\":[1]}");
	assert_json(S("42"), "42");
	assert_json(S("\"x\""), "\"x\"");
	assert_json(S("null"), "null");
	assert_json(S("{}"), "{}");
	assert_json(S("[\"```json\\n[2]\\n```\"]"), "[\"```json\\n[2]\\n```\"]");
}

static void then_the_first_fenced_block(void **state UNUSED)
{
	assert_json(S("Sure:\n```json\n{\"k\": [1, {\"z\": 2}]}\n```\n"), "{\"k\":[1,{\"z\":2}]}");
	assert_json(S("```\n[1]\n```"), "[1]");
	assert_json(S("see [0]\n```\n{\"a\":1}\n```\n[2]"), "{\"a\":1}");
	assert_json(S("```JSON\r\n[1]\r\n```"), "[1]");
	assert_json(S("```jsonc\n[1]\n```"), "[1]");
	assert_json(S("a ```{\"a\":1}``` b"), "{\"a\":1}");
	assert_json(S("a ```json{\"a\":1}``` b"), "{\"a\":1}");
	assert_json(S("x\n```json\n42\n```\n[7]"), "42");
	assert_json(S("x\n```json\n[1] // done\n```"), "[1]");
}

static void a_block_that_is_no_json_is_passed_over(void **state UNUSED)
{
	assert_json(S("```bash\nls\n```\nthen {\"a\":1}"), "{\"a\":1}");
	assert_json(S("```\n3 apples\n```\n[1]"), "[1]");
	assert_json(S("```json\n{}\n```\nand [1]"), "[1]");
	assert_json(S("```json\n[1"), "none");
	assert_json(S("```json\n{\"a\":\"```\"}\n```"), "{\"a\":\"```\"}");
	assert_json(S("``````[1]"), "[1]");
}

static void then_the_first_that_is_not_empty(void **state UNUSED)
{
	assert_json(S("The answer {} is [3, 4] ok"), "[3,4]");
	assert_json(S("a [x] {y} {\"a\":1} [2]"), "{\"a\":1}");
	assert_json(S("[[]] x"), "[[]]");
	assert_json(S("f(a[0]) [x]"), "[0]");
	assert_json(S("[1, [2, {\"a\": 3}, oops"), "{\"a\":3}");
	assert_json(S("{bad \"[1]\"}"), "[1]");
	assert_json(S("[\"[5]\", oops"), "[5]");
	assert_json(S("{\"a\": {\"b\": 1}, } x"), "{\"b\":1}");
	assert_json(S("[01] [1.] [.5] [+1] [\"\\x\"] [\"\t\"] [tru] [1 2] {1:2} {\"a\"} [,1] [9]"),
		"[9]");
	assert_json(S("x [true, false, null, -1.5e+3, \"\\u00e9\\n\"] y"),
		"[true,false,null,-1500,\"é\\n\"]");
}

static void then_an_empty_one(void **state UNUSED)
{
	assert_json(S("nothing: {} or []"), "{}");
	assert_json(S("nothing: [ ] or {}"), "[]");
	assert_json(S("```json\n[]\n```"), "[]");
}

static void else_there_is_none(void **state UNUSED)
{
	assert_json(S(""), "none");
	assert_json(S("  \n"), "none");
	assert_json(S("no json here"), "none");
	assert_json(S("[1, 2"), "none");
	assert_json(S("\"a\" and \"b\""), "none");
	assert_json(S("[\"\xff\"] x"), "none");
}

static void what_looks_right_and_is_too_much_is_told(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF deep = BUF_INIT;

	buf_adds(&deep, "x ");
	buf_fill(&deep, '[', 5000);
	buf_fill(&deep, ']', 5000);
	assert_null(answer_json(buf_str(&deep), S("answer"), &r));
	assert_int_equal(r.errors, 1);
	assert_true(str_contains(r.issues.at[0].message, S("depth")));
	/* What comes behind it is still found. */
	buf_adds(&deep, " {\"a\":1}");
	assert_json(buf_str(&deep), "{\"a\":1}");
}

/* A million brackets: each of these would take hours if every bracket were tried for itself. */
static void hostile_texts_take_no_time(void **state UNUSED)
{
	static const char *const pieces[] = { "[", "{", "{\"a\":", "[1,", "[\"", "\",[\",", "[[],",
		"[\"\\\"", "[{\"[\":[", "[ ", "[1e999],", "```[", "{\"a\":[\"{\",", "[\"[\\\\" };

	for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_BUF text = BUF_INIT;

		buf_adds(&text, "x [");
		while (text.len < 1 << 20)
			buf_adds(&text, pieces[i]);
		json_decref(answer_json(buf_str(&text), S("answer"), &r));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_newline_at_the_end_goes),
		cmocka_unit_test(the_whole_text_comes_first),
		cmocka_unit_test(then_the_first_fenced_block),
		cmocka_unit_test(a_block_that_is_no_json_is_passed_over),
		cmocka_unit_test(then_the_first_that_is_not_empty),
		cmocka_unit_test(then_an_empty_one),
		cmocka_unit_test(else_there_is_none),
		cmocka_unit_test(what_looks_right_and_is_too_much_is_told),
		cmocka_unit_test(hostile_texts_take_no_time),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("answer", tests, NULL, NULL);
}
