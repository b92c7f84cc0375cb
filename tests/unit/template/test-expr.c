#include "template/expr.h"

#include "base/buf.h"

#include "unit.h"

/* index 3, prev 2, next 4, repeat 5; nothing when `data` says so. */
static bool value_of(void *data, struct str name, int64_t *ret)
{
	if (data)
		return false;
	*ret = name.p[0] == 'i' ? 3 : name.p[0] == 'p' ? 2 : name.p[0] == 'n' ? 4 : 5;
	return true;
}

static enum expr_status eval(const char *text, int64_t *ret)
{
	struct str name;

	return expr_eval(str_of(text), value_of, NULL, ret, &name);
}

static void results_are_those_of_whole_numbers(void **state UNUSED)
{
	static const struct {
		const char *text;
		int64_t value;
	} good[] = { { "index", 3 }, { "index+1", 4 }, { "index-prev*next", -5 },
		{ "(index-prev)*next", 4 }, { "7/2", 3 }, { "(0-7)/2", -3 }, { "(0-7)%4", -3 },
		{ "7%(0-4)", 3 }, { "repeat-1-1", 3 }, { "100/10/5", 2 }, { " index\t+ 1 ", 4 },
		{ "((((5))))", 5 }, { "9223372036854775807", INT64_MAX },
		{ "0-9223372036854775807-1", INT64_MIN }, { "index\xc2\xa0+ 1", 4 } };

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		int64_t n = 0;

		if (eval(good[i].text, &n) != EXPR_OK || n != good[i].value)
			fail_msg("%s gave %lld", good[i].text, (long long)n);
	}
}

static void what_goes_beyond_64_bits_is_an_overflow(void **state UNUSED)
{
	static const char *const bad[] = { "9223372036854775807+1", "0-9223372036854775807-2",
		"9223372036854775807*2", "9223372036854775808", "(0-9223372036854775807-1)/(0-1)",
		"(0-9223372036854775807-1)%(0-1)" };
	int64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(eval(bad[i], &n), EXPR_OVERFLOW);
}

static void zero_divides_nothing(void **state UNUSED)
{
	int64_t n;

	assert_int_equal(eval("1/0", &n), EXPR_ZERO);
	assert_int_equal(eval("index%(index-3)", &n), EXPR_ZERO);
}

static void a_variable_without_a_number_is_named(void **state UNUSED)
{
	struct str name;
	int64_t n;

	assert_int_equal(expr_eval(S("1+prev"), value_of, &n, &n, &name), EXPR_VARIABLE);
	assert_str(name, "prev");
}

static void the_grammar_is_small(void **state UNUSED)
{
	static const char *const bad[] = { "", " ", "+1", "-1", "1+", "1**2", "1 1", "index prev",
		"(1", "1)", "()", "1.5", "0x10", "x", "_index", "index2", "1+x", "f(1)", "1,2",
		"index++1", "1+\0", "2^3", "1//2" };
	int64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		if (expr_fits(str_of(bad[i])))
			fail_msg("'%s' fits", bad[i]);
		assert_int_equal(eval(bad[i], &n), EXPR_SYNTAX);
	}
	assert_false(expr_fits(S("index+1\0")));
	assert_false(expr_fits(S("index\0+1")));
}

static void a_bare_number_is_no_arithmetic(void **state UNUSED)
{
	assert_false(expr_fits(S("5")));
	assert_false(expr_fits(S(" 5 ")));
	assert_true(expr_fits(S("(5)")));
	assert_true(expr_fits(S("index")));
	assert_true(expr_fits(S("1/0")));
	assert_true(expr_fits(S("index+99999999999999999999")));
}

static void a_number_too_long_excuses_nothing_behind_it(void **state UNUSED)
{
	assert_false(expr_fits(S("99999999999999999999999 print")));
	assert_false(expr_fits(S("99999999999999999999999+")));
}

static void depth_has_an_end(void **state UNUSED)
{
	AUTO_BUF deep = BUF_INIT;

	buf_fill(&deep, '(', 90);
	buf_addc(&deep, '1');
	buf_fill(&deep, ')', 90);
	assert_true(expr_fits(buf_str(&deep)));
	buf_reset(&deep);
	buf_fill(&deep, '(', 1 << 20);
	assert_false(expr_fits(buf_str(&deep)));
}

static void padding_covers_the_whole_text(void **state UNUSED)
{
	struct str inside;
	size_t k;

	assert_true(expr_padded(S("__(index*(2))"), &inside, &k));
	assert_int_equal(k, 2);
	assert_str(inside, "index*(2)");
	assert_false(expr_padded(S("_(index)*(2)"), &inside, &k));
	assert_false(expr_padded(S("(index)"), &inside, &k));
	assert_false(expr_padded(S("_index"), &inside, &k));
	assert_false(expr_padded(S("_("), &inside, &k));
	assert_false(expr_padded(S("_"), &inside, &k));
	assert_false(expr_padded(S(""), &inside, &k));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_are_those_of_whole_numbers),
		cmocka_unit_test(what_goes_beyond_64_bits_is_an_overflow),
		cmocka_unit_test(zero_divides_nothing),
		cmocka_unit_test(a_variable_without_a_number_is_named),
		cmocka_unit_test(the_grammar_is_small),
		cmocka_unit_test(a_bare_number_is_no_arithmetic),
		cmocka_unit_test(a_number_too_long_excuses_nothing_behind_it),
		cmocka_unit_test(depth_has_an_end),
		cmocka_unit_test(padding_covers_the_whole_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("expr", tests, NULL, NULL);
}
