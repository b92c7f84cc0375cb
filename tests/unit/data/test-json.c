#include "data/json.h"

#include "data/big.h"

#include "unit.h"

static json_t *parse(struct str text, struct report *r)
{
	struct source source = { S("t"), text };

	return json_read(&source, r);
}

/* `text` read and written again. */
static void assert_rewritten(struct str text, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	AUTO_JSON *value = parse(text, &r);

	assert_non_null(value);
	json_write(&b, value, 0);
	assert_str(buf_str(&b), want);
	assert_int_equal(r.errors, 0);
}

static void values_come_back_compact_and_exact(void **state UNUSED)
{
	assert_rewritten(S(" { \"b\" : [ 1 , -2.50, true,false, null ] , \"a\" : { } } "),
		"{\"b\":[1,-2.5,true,false,null],\"a\":{}}");
	assert_rewritten(S("\"\""), "\"\"");
	assert_rewritten(S("[]"), "[]");
	assert_rewritten(S("0.1"), "0.1");
	assert_rewritten(S("1e-7"), "1e-7");
}

static void numbers_keep_every_digit_that_fits(void **state UNUSED)
{
	assert_rewritten(S("9223372036854775807"), "9223372036854775807");
	assert_rewritten(S("-9223372036854775808"), "-9223372036854775808");
	assert_rewritten(S("9007199254740993"), "9007199254740993");
	assert_rewritten(S("1.0"), "1");
	assert_rewritten(S("1e3"), "1000");
	assert_rewritten(S("-0"), "0");
	assert_rewritten(S("123456789012345680000"), "123456789012345680000");
	assert_rewritten(S("1e21"), "1e+21");
}

static void one_large_integer_does_not_harm_the_others(void **state UNUSED)
{
	assert_rewritten(S("[9007199254740993,99999999999999999999]"),
		"[9007199254740993,100000000000000000000]");
}

static void of_duplicate_members_the_last_wins(void **state UNUSED)
{
	assert_rewritten(S("{\"a\":1,\"b\":2,\"a\":3}"), "{\"a\":3,\"b\":2}");
}

static void strings_may_hold_any_character(void **state UNUSED)
{
	assert_rewritten(S("\"a\\u0000b\""), "\"a\\u0000b\"");
	assert_rewritten(S("\"\\ud83d\\ude00 \\u00e9\""), "\"\xf0\x9f\x98\x80 \xc3\xa9\"");
	assert_rewritten(S("\"\\b\\f\\n\\r\\t\\\"\\\\\\/\\u001f\\u007f\""),
		"\"\\b\\f\\n\\r\\t\\\"\\\\/\\u001f\\u007f\"");
}

static void numbers_beyond_64_bits_are_kept_or_rounded(void **state UNUSED)
{
	const struct source source = { S("t"),
		S("{\"a\":[12345678901234567890,\"x\"],\"b\":-99999999999999999999,\"c\":{}}") };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF kept = BUF_INIT;
	AUTO_BUF rounded = BUF_INIT;
	AUTO_JSON *value = json_read_big(&source, &r);
	AUTO_JSON *doubles = json_big_rounded(value);
	AUTO_JSON *same = json_big_rounded(doubles);

	assert_str(json_text_of(value, "b"), "");
	json_write(&rounded, doubles, 0);
	assert_str(buf_str(&rounded),
		"{\"a\":[12345678901234567000,\"x\"],\"b\":-100000000000000000000,\"c\":{}}");
	json_write(&kept, value, 0);
	assert_str(buf_str(&kept), source.text.p);
	assert_ptr_equal(same, doubles);
}

static void a_byte_order_mark_is_skipped(void **state UNUSED)
{
	assert_rewritten(S("\xef\xbb\xbf[1]"), "[1]");
}

/* Plain bytes are taken eight at a time: every character is found wherever it stands. */
static void every_ascii_character_is_escaped_at_every_place(void **state UNUSED)
{
	for (int c = 1; c < 0x80; c++)
		for (size_t at = 0; at < 17; at++) {
			AUTO_REPORT r = REPORT_INIT;
			AUTO_BUF text = BUF_INIT;
			AUTO_BUF written = BUF_INIT;

			buf_fill(&text, '~', at);
			buf_addc(&text, (char)c);
			buf_fill(&text, ' ', 16 - at);
			buf_addc(&written, '[');
			json_write_str(&written, buf_str(&text));
			buf_addc(&written, ']');
			AUTO_JSON *read =
				json_read(&(struct source){ S("t"), buf_str(&written) }, &r);
			assert_non_null(read);
			struct str back = json_str(json_array_get(read, 0));
			assert_true(str_eq(back, buf_str(&text)));
			assert_int_equal(written.len,
				text.len + 4 +
					(c == '"' || c == '\\' || (c >= 8 && c <= 13 && c != 11) ? 1
						: c < 0x20 || c == 0x7f                          ? 5
									: 0));
		}
}

static void controls_above_ascii_are_escaped_unless_it_is_exact(void **state UNUSED)
{
	struct str text = S("a\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0");
	AUTO_BUF b = BUF_INIT;

	json_write_str(&b, text);
	assert_str(buf_str(&b), "\"a\\u007f\\u0080\\u009b\\u009f\xc2\xa0\"");
	buf_reset(&b);
	json_write_str_exact(&b, text);
	assert_str(buf_str(&b), "\"a\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0\"");
}

static void nothing_beyond_ascii_is_left_where_it_is_asked_for(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	json_write_str_ascii(&b, S("a\"\\\n\x1f\x7f\xc3\xa9\xe6\x97\xa5\xf0\x9f\x98\x80\xff"));
	assert_str(
		buf_str(&b), "\"a\\\"\\\\\\n\\u001f\\u007f\\u00e9\\u65e5\\ud83d\\ude00\\ufffd\"");
}

static void bytes_that_are_not_utf8_are_written_as_replacement_characters(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;

	json_write_str(&b, S("a\xff\xc3\xa9\xe2\x82"));
	assert_str(buf_str(&b), "\"a\xef\xbf\xbd\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\"");
	buf_reset(&b);
	AUTO_JSON *any = json_from_str(S("\xff\0"));
	assert_bytes(json_str(any), S("\xff\0"));
	json_write(&b, any, 0);
	assert_str(buf_str(&b), "\"\xef\xbf\xbd\\u0000\"");
}

static void mistakes_are_found_where_they_are(void **state UNUSED)
{
	static const struct {
		const char *text;
		size_t line, column;
	} bad[] = {
		{ "", 1, 1 },
		{ "[1,]", 1, 3 },
		{ "[1 2]", 1, 4 },
		{ "{\"a\" 1}", 1, 6 },
		{ "{\n  \"a\": tru\n}", 2, 8 },
		{ "{\"a\":1,}", 1, 7 },
		{ "[1] x", 1, 5 },
		{ "\"\xff\"", 1, 2 },
		{ "[\n\"ok\",\n\"\xc3(\"]", 3, 2 },
		{ "\xef\xbb\xbf{x", 1, 2 },
		{ "[\"\xc3\xa9\", x]", 1, 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO_REPORT r = REPORT_INIT;

		assert_null(parse(str_of(bad[i].text), &r));
		assert_int_equal(r.errors, 1);
		assert_int_equal(r.issues.len, 1);
		const struct issue *found = &r.issues.at[0];
		if (found->line != bad[i].line || found->column != bad[i].column)
			fail_msg("%s: found %zu:%zu (%.*s), want %zu:%zu", bad[i].text, found->line,
				found->column, STR(found->message), bad[i].line, bad[i].column);
	}
}

static void what_is_not_json_is_refused(void **state UNUSED)
{
	static const struct str bad[] = { { "[1]\0", 4 }, { "[true\0]", 7 }, { "[1\0,2]", 6 },
		{ "\0", 1 }, { "{\"a\\u0000\":1}", 13 }, { "1e999", 5 }, { "NaN", 3 }, { "'a'", 3 },
		{ "\"\\ud800\"", 8 }, { "01", 2 }, { "\"a\nb\"", 5 }, { "[", 1 },
		{ "// x\n1", 6 } };

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO_REPORT r = REPORT_INIT;
		json_t *value = parse(bad[i], &r);

		if (value)
			fail_msg("%.*s was taken", STR(bad[i]));
		assert_int_equal(r.errors, 1);
	}
}

static void nesting_has_an_end(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF deep = BUF_INIT;

	buf_fill(&deep, '[', 200000);
	assert_null(parse(buf_str(&deep), &r));
	assert_int_equal(r.errors, 1);
}

static void indented_text_has_one_member_a_line(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	AUTO_JSON *value = parse(S("{\"a\":[1,{}],\"b\":[]}"), &r);

	json_write(&b, value, 2);
	assert_str(buf_str(&b), "{\n  \"a\": [\n    1,\n    {}\n  ],\n  \"b\": []\n}");
}

static void objects_can_be_built_by_hand(void **state UNUSED)
{
	AUTO_BUF b = BUF_INIT;
	bool first = true;

	json_member(&b, "a", &first);
	json_write_str_or_null(&b, S(""));
	json_member(&b, "b", &first);
	json_write_str_or_null(&b, S("x"));
	buf_addc(&b, '}');
	assert_str(buf_str(&b), "{\"a\":null,\"b\":\"x\"}");
}

static void every_kind_has_a_name(void **state UNUSED)
{
	static const struct {
		const char *text, *name;
	} kinds[] = { { "{}", "an object" }, { "[]", "an array" }, { "\"\"", "a string" },
		{ "1", "a number" }, { "1.5", "a number" }, { "true", "true" },
		{ "false", "false" }, { "null", "null" } };

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_JSON *value = parse(str_of(kinds[i].text), &r);

		assert_string_equal(json_kind(value), kinds[i].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_come_back_compact_and_exact),
		cmocka_unit_test(numbers_keep_every_digit_that_fits),
		cmocka_unit_test(one_large_integer_does_not_harm_the_others),
		cmocka_unit_test(of_duplicate_members_the_last_wins),
		cmocka_unit_test(strings_may_hold_any_character),
		cmocka_unit_test(every_ascii_character_is_escaped_at_every_place),
		cmocka_unit_test(numbers_beyond_64_bits_are_kept_or_rounded),
		cmocka_unit_test(a_byte_order_mark_is_skipped),
		cmocka_unit_test(controls_above_ascii_are_escaped_unless_it_is_exact),
		cmocka_unit_test(nothing_beyond_ascii_is_left_where_it_is_asked_for),
		cmocka_unit_test(bytes_that_are_not_utf8_are_written_as_replacement_characters),
		cmocka_unit_test(mistakes_are_found_where_they_are),
		cmocka_unit_test(what_is_not_json_is_refused),
		cmocka_unit_test(nesting_has_an_end),
		cmocka_unit_test(indented_text_has_one_member_a_line),
		cmocka_unit_test(objects_can_be_built_by_hand),
		cmocka_unit_test(every_kind_has_a_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
