#include "steps/language/condition.h"

#include "data/big.h"
#include "steps/language/text.h"
#include "steps/language/token.h"

#include "unit.h"

static const char variables[] = "{\"x\":\"x\",\"empty\":\"\",\"zero\":0,\"zeros\":\"0\",\"real\":0."
				"0,\"five\":5,\"minus\":-7,"
				"\"small\":1e-05,\"yes\":true,\"no\":false,\"nothing\":null,"
				"\"list\":[1],\"map\":{\"k\":\"v\","
				"\"n\":{\"j\":4}},\"line\":\"42\\n\",\"quote\":\"it's\",\"back\":"
				"\"a\\\\b\",\"inject\":\"' or "
				"'x' == 'x\",\"words\":\"in "
				"progress\",\"json\":\"{\\\"k\\\":{\\\"j\\\":5}}\",\"and\":\"and\","
				"\"braces\":\"{{x}}\"}";

struct fixture {
	json_t *vars;
	struct report report;
	struct doc doc;
	struct place place;
};

static enum condition decide(struct fixture *f, struct str text)
{
	*f = (struct fixture){ .doc = { .source = { S("t"), text }, .plain = true } };
	f->place.doc = &f->doc;
	f->vars = json_loads(variables, 0, NULL);
	assert_non_null(f->vars);
	(void)json_object_set_new(f->vars, "big", json_big(S("12345678901234567890")));
	return condition_decide(text, &f->place, f->vars, &f->report);
}

static void teardown(struct fixture *f)
{
	json_decref(f->vars);
	report_done(&f->report);
}

static void assert_is(const char *text, enum condition want)
{
	struct fixture f;
	AUTO_REPORT r = REPORT_INIT;
	enum condition got = decide(&f, str_of(text));

	if (got != want)
		fail_msg("(%s) is %d, not %d", text, (int)got, (int)want);
	assert_int_equal(f.report.errors, got >= CONDITION_UNDEFINED);
	assert_int_equal(f.report.issues.len, got >= CONDITION_UNDEFINED);
	/* What was decided has been valid all along. */
	if (got < CONDITION_BAD)
		assert_true(condition_check(str_of(text), &f.place, &r));
	teardown(&f);
}

#define assert_yes(text) assert_is(text, CONDITION_TRUE)
#define assert_no(text) assert_is(text, CONDITION_FALSE)

/* The issue as "column+length: message / hint"; the condition itself is cut off the message. */
static void assert_bad(const char *text, const char *want)
{
	struct fixture f;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF got = BUF_INIT, shown = BUF_INIT;

	assert_int_equal(decide(&f, str_of(text)), CONDITION_BAD);
	assert_int_equal(f.report.issues.len, 1);
	const struct issue *i = &f.report.issues.at[0];
	buf_printf(&shown, "\"%s\"", text);
	assert_true(str_ends(i->message, buf_str(&shown)));
	buf_printf(&got, "%zu+%zu: %.*s / %.*s", i->column, i->mark_len,
		(int)(i->message.len - shown.len), i->message.p, STR(i->hint));
	assert_str(buf_str(&got), want);
	assert_false(condition_check(str_of(text), &f.place, &r));
	assert_int_equal(r.errors, 1);
	buf_done(&shown);
	teardown(&f);
}

static void blank_is_true(void **state UNUSED)
{
	assert_yes("");
	assert_yes("  \n\t");
}

static void values_compare(void **state UNUSED)
{
	assert_yes("{{x}} == 'x'");
	assert_yes("{{x}} == \"x\"");
	assert_yes("'x'=={{x}}");
	assert_no("{{x}} != 'x'");
	assert_no("{{x}} == 'X'");
	assert_yes("{{map.k}} == 'v'");
	assert_yes("{{map.n.j}} > 3");
	assert_yes("{{json.k.j}} == 5");
	assert_yes("x == {{x}}");
	assert_yes("'' == ''");
	assert_no("'' == ' '");
}

static void numbers_compare_as_numbers(void **state UNUSED)
{
	assert_yes("{{five}} == 5.0");
	assert_yes("{{five}} == '5.00'");
	assert_yes("'9' < 10");
	assert_yes("9 < '10'");
	assert_yes("{{line}} == 42");
	assert_yes("' 1_000 ' == 1000");
	assert_yes("1e3 == 1000");
	assert_yes("'1E+3' == 1000");
	assert_yes("{{small}} == '0.00001'");
	assert_yes("{{small}} > 0");
	assert_yes(".5 == 0.5");
	assert_yes("5. == 5");
	assert_yes("inf > 1");
	assert_yes("'-Infinity' < -1");
	assert_yes("{{big}} == 12345678901234567890");
	assert_yes("{{big}} > 5");
	assert_yes("9007199254740993 == 9007199254740992");
	assert_yes("0x10 != 16");
	assert_yes("1__0 != 10");
	assert_yes("_1 != 1");
	assert_yes("{{yes}} != 1");
	/* Nothing is equal to, below or above nan. */
	assert_no("nan == nan");
	assert_yes("nan != nan");
	assert_no("nan <= nan");
	assert_no("nan >= 1");
}

static void other_values_compare_by_code_point(void **state UNUSED)
{
	assert_yes("'a' < 'b'");
	assert_yes("'Z' < 'a'");
	assert_yes("'z' < 'é'");
	assert_yes("'\xef\xbf\xbd' < '\xf0\x9f\x98\x80'");
	assert_no("'nine' < 10");
	assert_yes("'10' < 'nine'");
	assert_yes("'a' <= 'a'");
	assert_yes("'ab' > 'a'");
	assert_no("'ab' >= 'b'");
}

static void signs_belong_to_numbers(void **state UNUSED)
{
	assert_yes("{{minus}} == -7");
	assert_yes("-1 < +2");
	assert_yes("(-1)");
	assert_yes("{{minus}} < -.5");
	assert_yes("-inf < 0");
	assert_bad("5 -3", "3+2: found `-3`, expected a comparison, `and`, `or` or the end, in the "
			   "condition  / "
			   "there is no arithmetic: compute it in a bash step");
	assert_bad("- 1",
		"1+1: found `-`, expected a value, in the condition  / there is no arithmetic: "
		"compute it in a bash step");
	assert_is("-x", CONDITION_BAD);
	assert_is("--1", CONDITION_BAD);
}

static void true_and_false_are_words_in_any_case(void **state UNUSED)
{
	assert_yes("{{yes}} == true");
	assert_yes("{{yes}} == True");
	assert_yes("{{yes}} == TRUE");
	assert_yes("{{no}} == False");
	assert_no("{{yes}} == 'True'");
	assert_yes("{{yes}} == 'true'");
	assert_yes("TRUE");
	assert_no("FALSE");
	assert_no("fAlse");
}

static void alone_a_few_texts_are_false(void **state UNUSED)
{
	assert_no("{{empty}}");
	assert_no("{{zero}}");
	assert_no("{{zeros}}");
	assert_no("{{no}}");
	assert_no("''");
	assert_no("'0'");
	assert_no("0");
	assert_no("false");
	assert_no("'False'");
	assert_no("none");
	assert_no("None");
	assert_yes("{{real}}");
	assert_yes("{{x}}");
	assert_yes("'FALSE'");
	assert_yes("NONE");
	assert_yes("no");
	assert_yes("null");
	assert_yes("' '");
	assert_yes("00");
	assert_yes("'0 '");
	assert_yes("-0");
}

static void operators_bind_as_the_grammar_says(void **state UNUSED)
{
	assert_yes("1 or 0 and 0");
	assert_no("(1 or 0) and 0");
	assert_no("0 and 0 or 0");
	assert_yes("0 and 0 or 1");
	assert_no("not {{x}} == 'x'");
	assert_yes("not 0 and 1");
	assert_yes("not not 1");
	assert_no("not not not 1");
	assert_yes("not (0 or 0)");
	assert_yes("({{x}} == 'x') == true");
	assert_yes("({{x}} == 'n') == ({{empty}} == 'n')");
	assert_yes("((({{x}} == 'x')))");
	assert_yes("(0) != true");
	assert_yes("1 and(1)");
	assert_yes("not(0)");
	assert_yes("1<2 and 1");
}

static void quotes_protect(void **state UNUSED)
{
	assert_yes("{{quote}} == \"it's\"");
	assert_yes("{{quote}} == 'it\\'s'");
	assert_yes("{{quote}} == \"it\\'s\"");
	assert_yes("{{back}} == 'a\\\\b'");
	assert_yes("{{back}} == 'a\\b'");
	assert_yes("'\\n' == '\\\\n'");
	assert_yes("'a\\\"b' == \"a\\\"b\"");
	assert_yes("'and or not ( == ' != ''");
	assert_yes("{{and}} == 'and'");
}

static void a_value_is_no_text_of_the_expression(void **state UNUSED)
{
	assert_no("{{inject}} == 'x'");
	assert_yes("{{inject}} == \"' or 'x' == 'x\"");
	assert_no("'{{inject}}' == 'x'");
	assert_yes("'{{inject}}' == {{inject}}");
	assert_yes("{{words}} == 'in progress'");
	assert_yes("{{braces}} == '{{braces}}'");
	assert_no("{{braces}} == {{x}}");
}

static void references_in_quotes_insert_their_text(void **state UNUSED)
{
	assert_yes("'{{words}}' != 'done'");
	assert_yes("\"<{{x}}|{{five}}>\" == '<x|5>'");
	assert_yes("'{{list}}' == '[1]'");
	assert_yes("'{{nothing}}' == 'None'");
	assert_yes("'{{yes}}' == true");
	assert_yes("'{{ x }}' != 'x'");
	assert_yes("'{{{x}}}' == '{x}'");
	assert_yes("'\\{{x}}' == '\\\\x'");
	/* One that is cut by a quote is none. */
	assert_is("'{{x' == 'a}}'", CONDITION_FALSE);
	assert_is("'{{zz}}' == 'a'", CONDITION_UNDEFINED);
}

static void missing_and_null_are_undefined(void **state UNUSED)
{
	assert_is("{{zz}}", CONDITION_UNDEFINED);
	assert_is("{{map.zz}} == 'x'", CONDITION_UNDEFINED);
	assert_is("{{x.y}}", CONDITION_UNDEFINED);
	assert_is("{{nothing}}", CONDITION_UNDEFINED);
	assert_is("{{nothing}} == 'x'", CONDITION_UNDEFINED);
	/* On a side that would not matter too. */
	assert_is("1 or {{zz}}", CONDITION_UNDEFINED);
	assert_is("0 and {{zz}}", CONDITION_UNDEFINED);
	assert_is("0 and '{{zz}}' == 'x'", CONDITION_UNDEFINED);
	assert_is("0 and {{list}}", CONDITION_BAD);
}

static void an_undefined_one_is_told_with_its_place(void **state UNUSED)
{
	struct fixture f;

	assert_int_equal(decide(&f, S("1 or {{fiv}}")), CONDITION_UNDEFINED);
	const struct issue *i = &f.report.issues.at[0];
	assert_int_equal(i->column, 6);
	assert_int_equal(i->mark_len, 7);
	assert_str(i->message, "{{fiv}} is undefined");
	assert_true(str_starts(i->hint, S("did you mean 'five'? available: five, ")));
	teardown(&f);
}

static void without_variables_only_references_fail(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_int_equal(condition_decide(S("1 == 1"), NULL, NULL, &r), CONDITION_TRUE);
	assert_int_equal(condition_decide(S("{{a}}"), NULL, NULL, &r), CONDITION_UNDEFINED);
	assert_int_equal(condition_decide(S("1 ="), NULL, NULL, &r), CONDITION_BAD);
	assert_int_equal(r.errors, 2);
}

static void lists_and_mappings_cannot_be_tested(void **state UNUSED)
{
	assert_is("{{list}}", CONDITION_BAD);
	assert_is("{{map}} == 'x'", CONDITION_BAD);
}

#define OPERATOR "expected a comparison, `and`, `or` or the end, in the condition  / "

static void mistakes_show_where_and_what_to_write(void **state UNUSED)
{
	static const char membership[] =
		"there is no such operator: compare with ==, join comparisons with `or`, or decide "
		"in a bash step and test its output";
	AUTO_BUF want = BUF_INIT;

	assert_bad("{{x}} && 1", "7+2: found `&&`, " OPERATOR "write `and`");
	assert_bad("{{x}} || 1", "7+2: found `||`, " OPERATOR "write `or`");
	assert_bad("!{{x}}", "1+1: found `!`, expected a value, in the condition  / write `not`");
	assert_bad("{{x}} = 'x'", "7+1: found `=`, " OPERATOR "write `==`");
	assert_bad("{{x}} AND 1",
		"7+3: found `AND`, " OPERATOR "keywords are lower case: write `and`");
	buf_printf(&want, "7+2: found `in`, " OPERATOR "%s", membership);
	assert_bad("{{x}} in 'xyz'", buf_cstr(&want));
	buf_reset(&want);
	buf_printf(&want, "7+8: found `contains`, " OPERATOR "%s", membership);
	assert_bad("{{x}} contains 'x'", buf_cstr(&want));
	assert_bad("{{ x }} == 1",
		"1+2: found `{{`, expected a value, in the condition  / a variable is {{name}}, "
		"with "
		"nothing else between the braces: no white space, filters or indexes");
	assert_bad("{{x}} == 1 == 1",
		"12+2: found `==`, " OPERATOR "comparisons do not chain: join them with `and`");
	assert_bad("{{x}} 'x'", "7+3: found `'x'`, " OPERATOR
				"put a comparison, `and` or `or` between two values; a "
				"string of several words needs quotes");
	assert_bad("{{x}}-1",
		"6+2: found `-1`, " OPERATOR "there is no arithmetic: compute it in a bash step");
	assert_bad("{{x}}b", "6+1: found `b`, " OPERATOR
			     "put the whole string in quotes, references too: '{{a}}-b'");
	assert_bad("{{x}})", "6+1: found `)`, " OPERATOR "there is no ( for it");
}

static void mistakes_at_the_end_are_told_there(void **state UNUSED)
{
	static const char value[] = " / a value is {{name}}, 'text', a number, true or false";
	AUTO_BUF want = BUF_INIT;

	buf_printf(&want, "9+0: a value is expected at the end of the condition %s", value);
	assert_bad("{{x}} ==", buf_cstr(&want));
	buf_reset(&want);
	buf_printf(&want, "4+0: a value is expected at the end of the condition %s", value);
	assert_bad("not", buf_cstr(&want));
	assert_bad("({{x}}", "7+0: ) is expected at the end of the condition  / a ) is missing");
	assert_bad("(1 and",
		"7+0: a value is expected at the end of the condition  / a value and a ) are "
		"missing");
	assert_bad("{{x}} == 'a",
		"10+1: a quote is never closed, in the condition  / close it with another '; "
		"inside a string write it as \\'");
}

static void other_mistakes_are_refused_too(void **state UNUSED)
{
	static const char *const texts[] = { "== 'x'", "and", "1 and", "or 1", "1 and or 1", "()",
		")", "1 not 1", "1 not in 2", "[1]", "1 in [1,2]", "1 + 1", "a ? b : c", "{{a|b}}",
		"${x}", "`x`", "\xe2\x80\x9cx\xe2\x80\x9d", "1 === 1", "1 <> 2", "1 =< 2", "x;",
		"#", "'a' 'b'", "1 == == 1", "\"", "\\", "1e-5", "'a\\", "\xff", "\x01" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		assert_is(texts[i], CONDITION_BAD);
	struct fixture f;
	assert_int_equal(decide(&f, S("1\0")), CONDITION_BAD);
	teardown(&f);
}

static void nesting_has_a_limit(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	for (size_t depth = 200; depth <= 201; depth++) {
		buf_reset(&text);
		buf_fill(&text, '(', depth);
		buf_addc(&text, '1');
		buf_fill(&text, ')', depth);
		assert_int_equal(condition_decide(buf_str(&text), NULL, NULL, &r),
			depth == 200 ? CONDITION_TRUE : CONDITION_BAD);
	}
	assert_int_equal(r.errors, 1);
	/* `not` is no nesting. */
	buf_reset(&text);
	for (size_t i = 0; i < 100000; i++)
		buf_adds(&text, "not ");
	buf_adds(&text, "0");
	assert_int_equal(condition_decide(buf_str(&text), NULL, NULL, &r), CONDITION_FALSE);
	buf_reset(&text);
	buf_fill(&text, '(', 1 << 20);
	assert_int_equal(condition_decide(buf_str(&text), NULL, NULL, &r), CONDITION_BAD);
}

static void numbers_are_read_as_the_rules_say(void **state UNUSED)
{
	static const char *const yes[] = { "1", "+1", "-1", "1.", ".5", "1.5e10", "1E-5", " 1\n",
		"1_0", "1_0.0_1e1_0", "inf", "-INF", "infinity", "nan", "+NaN", "1e999",
		"\xc2\xa0"
		"7" };
	static const char *const no[] = { "", " ", "+", ".", "e5", "1e", "1e+", "_1", "1_", "1__0",
		"1_.5", "1._5", "1e_5", "0x10", "1 2", "--1", "+-1", "1.5.2", "infi", "nano", "1a",
		"true", "1,5" };
	double number;

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++)
		if (!token_number(str_of(yes[i]), &number))
			fail_msg("'%s' is a number", yes[i]);
	for (size_t i = 0; i < ARRAY_SIZE(no); i++)
		if (token_number(str_of(no[i]), &number))
			fail_msg("'%s' is none", no[i]);
	assert_false(token_number(S("1\0"), &number));
	assert_true(token_number(S("-1_2.5e1"), &number));
	assert_true(number == -125);
}

static void a_text_of_a_step_is_decided(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	struct scope s = { .vars = json_pack("{s:i}", "n", 3) };
	bool truth = false;

	const struct text *t = step_text(&a, S("{{n}} < 5"), NULL);
	assert_true(text_decide(t, &s, &truth, &r));
	assert_true(truth);
	t = step_text(&a, S("{{n}} <"), NULL);
	assert_false(text_decide(t, &s, &truth, &r));
	assert_int_equal(r.errors, 1);
	json_decref(s.vars);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blank_is_true),
		cmocka_unit_test(values_compare),
		cmocka_unit_test(numbers_compare_as_numbers),
		cmocka_unit_test(other_values_compare_by_code_point),
		cmocka_unit_test(signs_belong_to_numbers),
		cmocka_unit_test(true_and_false_are_words_in_any_case),
		cmocka_unit_test(alone_a_few_texts_are_false),
		cmocka_unit_test(operators_bind_as_the_grammar_says),
		cmocka_unit_test(quotes_protect),
		cmocka_unit_test(a_value_is_no_text_of_the_expression),
		cmocka_unit_test(references_in_quotes_insert_their_text),
		cmocka_unit_test(missing_and_null_are_undefined),
		cmocka_unit_test(an_undefined_one_is_told_with_its_place),
		cmocka_unit_test(without_variables_only_references_fail),
		cmocka_unit_test(lists_and_mappings_cannot_be_tested),
		cmocka_unit_test(mistakes_show_where_and_what_to_write),
		cmocka_unit_test(mistakes_at_the_end_are_told_there),
		cmocka_unit_test(other_mistakes_are_refused_too),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(numbers_are_read_as_the_rules_say),
		cmocka_unit_test(a_text_of_a_step_is_decided),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("condition", tests, NULL, NULL);
}
