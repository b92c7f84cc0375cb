#include "base/number.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "unit.h"

static struct buf text;

static struct str spelled(double value)
{
	buf_reset(&text);
	number_text(&text, value);
	return buf_str(&text);
}

static void whole_numbers_have_neither_point_nor_exponent(void **state UNUSED)
{
	assert_str(spelled(0), "0");
	assert_str(spelled(-0.0), "0");
	assert_str(spelled(5), "5");
	assert_str(spelled(-17), "-17");
	assert_str(spelled(1e15), "1000000000000000");
	assert_str(spelled(9007199254740993.0), "9007199254740992");
	assert_str(spelled(1e18), "1000000000000000000");
	assert_str(spelled(18446744073709549568.0), "18446744073709550000");
}

static void fractions_are_as_short_as_can_be(void **state UNUSED)
{
	assert_str(spelled(0.1), "0.1");
	assert_str(spelled(-2.5), "-2.5");
	assert_str(spelled(0.1 + 0.2), "0.30000000000000004");
	assert_str(spelled(1.0 / 3), "0.3333333333333333");
	assert_str(spelled(123456.789), "123456.789");
	assert_str(spelled(5e-324), "5e-324");
}

static void exponents_are_spelled_as_ecmascript_does(void **state UNUSED)
{
	assert_str(spelled(1e-6), "0.000001");
	assert_str(spelled(1e-7), "1e-7");
	assert_str(spelled(1.5e-7), "1.5e-7");
	assert_str(spelled(0.00000123), "0.00000123");
	assert_str(spelled(1e20), "100000000000000000000");
	assert_str(spelled(1e21), "1e+21");
	assert_str(spelled(-1.25e300), "-1.25e+300");
	assert_str(spelled(DBL_MAX), "1.7976931348623157e+308");
	assert_str(spelled(123456789012345680000.0), "123456789012345680000");
}

static void python_has_a_point_or_an_exponent(void **state UNUSED)
{
	static const struct {
		double value;
		const char *want;
	} cases[] = {
		{ 1.5, "1.5" },
		{ 2, "2.0" },
		{ 0, "0.0" },
		{ -0.0, "-0.0" },
		{ 0.1, "0.1" },
		{ 1e15, "1000000000000000.0" },
		{ 9999999999999998, "9999999999999998.0" },
		{ 1e16, "1e+16" },
		{ 12345678901234567890.0, "1.2345678901234567e+19" },
		{ 1e22, "1e+22" },
		{ 1e100, "1e+100" },
		{ 1e-4, "0.0001" },
		{ 1e-5, "1e-05" },
		{ 1.5e-7, "1.5e-07" },
		{ -2.5e-300, "-2.5e-300" },
		{ 123456.789, "123456.789" },
		{ -INFINITY, "-inf" },
		{ NAN, "nan" },
		{ 5e-324, "5e-324" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ 9007199254740993.0, "9007199254740992.0" },
		{ 9007199254740994.0, "9007199254740994.0" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		buf_reset(&text);
		number_text_python(&text, cases[i].value);
		assert_str(buf_str(&text), cases[i].want);
	}
}

/* A fixed series over the whole range of exponents. */
static void every_number_reads_back_equal(void **state UNUSED)
{
	uint64_t bits = 88172645463325252u;

	for (int i = 0; i < 20000; i++) {
		double d;

		bits ^= bits << 13;
		bits ^= bits >> 7;
		bits ^= bits << 17;
		memcpy(&d, &bits, sizeof(d));
		if (!(d - d == 0))
			continue;
		(void)spelled(d);
		if (strtod(buf_cstr(&text), NULL) != d)
			fail_msg("%.17g became %s", d, buf_cstr(&text));
	}
}

static void plain_decimals_are_read(void **state UNUSED)
{
	static const struct {
		const char *text;
		double value;
	} good[] = { { "0", 0 }, { "5", 5 }, { "007", 7 }, { "1.5", 1.5 }, { ".5", 0.5 },
		{ "0.25", 0.25 }, { "3000000000", 3e9 } };
	static const char *const bad[] = { "", ".", "1.", "-1", "+1", "1e3", "0x1", " 1", "1 ",
		"1.2.3", "nan", "inf", "1,5" };
	double d = 42;

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_true(number_plain(str_of(good[i].text), &d));
		assert_true(d == good[i].value);
	}
	d = 42;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_false(number_plain(str_of(bad[i]), &d));
	assert_false(number_plain(S("1\0"), &d));
	assert_true(d == 42);
}

static int tidy(void **state UNUSED)
{
	buf_done(&text);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_numbers_have_neither_point_nor_exponent),
		cmocka_unit_test(fractions_are_as_short_as_can_be),
		cmocka_unit_test(exponents_are_spelled_as_ecmascript_does),
		cmocka_unit_test(python_has_a_point_or_an_exponent),
		cmocka_unit_test(every_number_reads_back_equal),
		cmocka_unit_test(plain_decimals_are_read),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("number", tests, NULL, tidy);
}
