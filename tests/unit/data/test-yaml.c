#include "data/yaml.h"

#include "data/big.h"

#include "unit.h"
#include "way.h"

/* -- what is read --------------------------------------------------------------------------------
 */

static json_t *read(struct str text, struct report *r)
{
	struct source s = { S("t.yaml"), text };

	return yaml_read(&s, r);
}

/* The text as JSON; of a text with mistakes, "!" and the first of them. */
static void assert_reads(struct str text, const char *json)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = read(text, &r);
	AUTO_BUF got = BUF_INIT;

	if (value)
		json_write(&got, value, 0);
	else
		buf_printf(&got, "!%.*s", STR(r.issues.at[0].message));
	assert_int_equal(!value, r.errors > 0);
	assert_str(buf_str(&got), json);
}

/* A plain scalar, and what it is. */
static void assert_scalar(const char *plain, const char *json)
{
	AUTO_BUF text = BUF_INIT, want = BUF_INIT;

	buf_printf(&text, "- %s\n", plain);
	buf_printf(&want, "[%s]", json);
	assert_reads(buf_str(&text), buf_cstr(&want));
}

static void words_are_booleans_in_three_spellings(void **state UNUSED)
{
	static const char *const yes[] = { "yes", "Yes", "YES", "on", "On", "ON", "true", "True",
		"TRUE" };
	static const char *const no[] = { "no", "No", "NO", "off", "Off", "OFF", "false", "False",
		"FALSE" };
	static const char *const texts[] = { "y", "n", "Y", "N", "yEs", "tRUE", "oN", "yess", "t" };

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		assert_scalar(yes[i], "true");
		assert_scalar(no[i], "false");
	}
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		AUTO_BUF want = BUF_INIT;

		json_write_str(&want, str_of(texts[i]));
		assert_scalar(texts[i], buf_cstr(&want));
	}
}

static void nothing_and_three_words_are_null(void **state UNUSED)
{
	assert_scalar("", "null");
	assert_scalar("~", "null");
	assert_scalar("null", "null");
	assert_scalar("Null", "null");
	assert_scalar("NULL", "null");
	assert_scalar("nUll", "\"nUll\"");
	assert_scalar("none", "\"none\"");
	assert_scalar("\"\"", "\"\"");
}

static void whole_numbers_have_five_notations(void **state UNUSED)
{
	assert_scalar("0", "0");
	assert_scalar("-0", "0");
	assert_scalar("+12", "12");
	assert_scalar("-12", "-12");
	assert_scalar("1_000", "1000");
	assert_scalar("1__0_", "10");
	assert_scalar("012", "10");
	assert_scalar("0_7", "7");
	assert_scalar("-0777", "-511");
	assert_scalar("0x1F", "31");
	assert_scalar("-0xf_f", "-255");
	assert_scalar("0b11", "3");
	assert_scalar("+0b1_0", "2");
	assert_scalar("1:30", "90");
	assert_scalar("1:2:3", "3723");
	assert_scalar("-1_0:30", "-630");
	assert_scalar("12:59:59", "46799");
}

static void what_only_looks_like_a_number_is_text(void **state UNUSED)
{
	static const char *const texts[] = { "08", "0o17", "0800", "_1", "0x", "0b", "0x_", "0b2",
		"0:30", "01:30", "1:60", "1:5a", "+", "--1", "1e3", "1.0e3", "0.1e3", "-.5", "+.5",
		"._5", "-.nan", "1.2.3", "12a", "+-1", "1,000", "=" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		AUTO_BUF want = BUF_INIT;

		json_write_str(&want, str_of(texts[i]));
		assert_scalar(texts[i], buf_cstr(&want));
	}
}

static void floats_need_a_point_and_a_signed_exponent(void **state UNUSED)
{
	assert_scalar("1.50", "1.5");
	assert_scalar("-1.5", "-1.5");
	assert_scalar("1.0e+3", "1000");
	assert_scalar("1.5E-3", "0.0015");
	assert_scalar("1.", "1");
	assert_scalar(".5", "0.5");
	assert_scalar("1_0.2_5", "10.25");
	assert_scalar("685.230_15e+03", "685230.15");
	assert_scalar("190:20:30.15", "685230.15");
	assert_scalar("-1:30.5", "-90.5");

	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = read(S("2.0"), &r);
	assert_true(json_is_real(value));
}

static void what_json_cannot_hold_is_spelled_out(void **state UNUSED)
{
	assert_scalar(".inf", "\"inf\"");
	assert_scalar("+.INF", "\"inf\"");
	assert_scalar("-.Inf", "\"-inf\"");
	assert_scalar(".nan", "\"nan\"");
	assert_scalar(".NaN", "\"nan\"");
	assert_scalar("1.0e+999", "\"inf\"");
}

static void integers_beyond_64_bits_print_exactly(void **state UNUSED)
{
	assert_scalar("9223372036854775807", "9223372036854775807");
	assert_scalar("-9223372036854775808", "-9223372036854775808");
	assert_scalar("9223372036854775808", "9223372036854775808");
	assert_scalar("-9223372036854775809", "-9223372036854775809");
	assert_scalar("123_456_789_012_345_678_901", "123456789012345678901");
	assert_scalar("0xfffffffffffffffffffff", "19342813113834066795298815");
	assert_scalar("-0xffffffffffffffff", "-18446744073709551615");
	assert_scalar("99999999999999999999:01", "5999999999999999999941");
	assert_scalar("01000000000000000000000", "9223372036854775808");
	assert_scalar("\"9223372036854775808\"", "\"9223372036854775808\"");

	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *big = read(S("-99999999999999999999"), &r);
	assert_true(json_is_big(big));
	assert_str(json_big_digits(big), "-99999999999999999999");
	assert_string_equal(json_kind(big), "a number");
	AUTO_JSON *text = json_string("99999999999999999999");
	assert_false(json_is_big(text));
	assert_false(json_is_big(NULL));
}

static void timestamps_stay_text(void **state UNUSED)
{
	assert_scalar("2025-01-01", "\"2025-01-01\"");
	assert_scalar("2025-01-01 10:00:00", "\"2025-01-01 10:00:00\"");
	assert_scalar("!!timestamp 2025-01-01", "\"2025-01-01\"");
}

static void quotes_keep_words_as_text(void **state UNUSED)
{
	assert_scalar("'yes'", "\"yes\"");
	assert_scalar("\"12\"", "\"12\"");
	assert_scalar("'it''s'", "\"it's\"");
	assert_scalar("\"a\\tb\\x41\\u00e9\\U0001F600\"", "\"a\\tbA\xc3\xa9\xf0\x9f\x98\x80\"");
	assert_scalar("\"a\\0b\"", "\"a\\u0000b\"");
}

static void block_scalars_keep_or_fold_their_lines(void **state UNUSED)
{
	assert_reads(S("a: |\n  x\n   y\n\n  z\n"), "{\"a\":\"x\\n y\\n\\nz\\n\"}");
	assert_reads(S("a: |-\n  x\n\n\nb: 1\n"), "{\"a\":\"x\",\"b\":1}");
	assert_reads(S("a: |+\n  x\n\nb: 1\n"), "{\"a\":\"x\\n\\n\",\"b\":1}");
	assert_reads(S("a: >\n  x\n  y\n\n  z\n"), "{\"a\":\"x y\\nz\\n\"}");
	assert_reads(S("a: |2\n    x\n"), "{\"a\":\"  x\\n\"}");
	assert_reads(S("a: one\n  two\n\n  three\n"), "{\"a\":\"one two\\nthree\"}");
	assert_reads(S("a: |\n  12\n"), "{\"a\":\"12\\n\"}");
}

static void collections_keep_their_order(void **state UNUSED)
{
	assert_reads(S("z: 1\na: [1, {y: 2, b: }]\nm: {}\n"),
		"{\"z\":1,\"a\":[1,{\"y\":2,\"b\":null}],\"m\":{}}");
	assert_reads(
		S("- - a\n  - b\n- c: d\n  e: f\n"), "[[\"a\",\"b\"],{\"c\":\"d\",\"e\":\"f\"}]");
	assert_reads(S("# nothing\n"), "null");
	assert_reads(S(""), "null");
	assert_reads(S("\xef\xbb\xbf"
		       "a: 1\n"),
		"{\"a\":1}");
	assert_reads(S("---\na: 1\n...\n"), "{\"a\":1}");
}

static void a_key_is_the_text_that_stands_there(void **state UNUSED)
{
	assert_reads(S("on: a\n1: b\n~: c\n0x10: d\n"),
		"{\"on\":\"a\",\"1\":\"b\",\"~\":\"c\",\"0x10\":\"d\"}");
	assert_reads(S("&k key: 1\nb: {*k : 2}\n"), "{\"key\":1,\"b\":{\"key\":2}}");
	assert_reads(S("? [a]\n: 1\n"), "!a key must be a string");
	assert_reads(S("\"a\\0b\": 1\n"), "!a key has a NUL in it");
}

static void of_duplicate_keys_the_last_counts_with_a_warning(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = read(S("a: 1\nb: 2\na: &x 3\nb: *x\n"), &r);

	assert_int_equal(json_integer_value(json_object_get(value, "a")), 3);
	assert_int_equal(json_integer_value(json_object_get(value, "b")), 3);
	assert_int_equal(r.errors, 0);
	assert_int_equal(r.warnings, 2);
	assert_int_equal(r.issues.at[0].line, 3);
	assert_int_equal(r.issues.at[0].column, 1);
	assert_str(r.issues.at[0].message, "the key 'a' stands here twice: the last counts");
}

static void an_anchor_outlives_the_key_that_held_it(void **state UNUSED)
{
	assert_reads(S("a: &x [1]\na: 2\nb: *x\n"), "{\"a\":2,\"b\":[1]}");
	assert_reads(S("- &x 1\n- &x 2\n- *x\n"), "[1,2,2]");
}

static void merges_give_way_to_what_stands_there(void **state UNUSED)
{
	assert_reads(S("b: &b {x: 1, y: 2}\nc: {y: 3, <<: *b}\n"),
		"{\"b\":{\"x\":1,\"y\":2},\"c\":{\"x\":1,\"y\":3}}");
	assert_reads(S("<<: [{a: 1}, {a: 2, b: 3}]\nz: 1\n"), "{\"a\":1,\"b\":3,\"z\":1}");
	assert_reads(S("<<: {a: 1}\n<<: {a: 2}\n"), "{\"a\":2}");
	assert_reads(S("\"<<\": 1\n"), "{\"<<\":1}");
	assert_reads(S("<<: x\n"), "!`<<` takes a mapping or a list of mappings, found a string");
	assert_reads(S("<<: [1]\n"), "!`<<` takes a mapping or a list of mappings, found an array");
}

static void tags_of_plain_data_are_honoured(void **state UNUSED)
{
	assert_scalar("!!str 12", "\"12\"");
	assert_scalar("!!int \"0x10\"", "16");
	assert_scalar("!!float 1", "1");
	assert_scalar("!!float \"-.5\"", "-0.5");
	assert_scalar("!!bool \"yes\"", "true");
	assert_scalar("!!null x", "null");
	assert_scalar("!!seq [a]", "[\"a\"]");
	assert_scalar("!!map {a: 1}", "{\"a\":1}");
}

static void other_tags_are_refused(void **state UNUSED)
{
	assert_reads(S("a: !!python/name:os.system\n"),
		"!the tag !!python/name:os.system on a scalar is not plain data");
	assert_reads(S("a: !foo [x]\n"), "!the tag !foo on a list is not plain data");
	assert_reads(S("a: !!str {x: 1}\n"), "!the tag !!str on a mapping is not plain data");
	assert_reads(S("a: !!binary aGk=\n"), "!the tag !!binary on a scalar is not plain data");
	assert_reads(S("a: !!int abc\n"), "!'abc' cannot be what its tag says");
}

/* -- what is refused -----------------------------------------------------------------------------
 */

static void assert_issue(struct str text, size_t line, size_t column, const char *message)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = read(text, &r);

	assert_null(value);
	assert_true(r.errors > 0);
	assert_int_equal(r.issues.at[0].line, line);
	assert_int_equal(r.issues.at[0].column, column);
	assert_str(r.issues.at[0].message, message);
}

static void mistakes_have_their_place(void **state UNUSED)
{
	assert_issue(S("name: [unclosed\n"), 2, 1,
		"not valid YAML: expected ',' or ']', in the list that begins in line 1");
	assert_issue(S("\xc3\xa9: a: b\n"), 1, 5,
		"not valid YAML: a second ': ' stands in the value of a key");
	assert_issue(S("a: \"open\nb: 1\n"), 1, 4, "not valid YAML: the quote is not closed");
	assert_issue(S("a: 1\nb\nc: 1\n"), 2, 1, "not valid YAML: a key has no ':' behind it");
	assert_issue(S("a:\n  - b\n c: 1\n"), 3, 2,
		"not valid YAML: expected a key, in the mapping that begins in line 1");
	assert_issue(S("a: 1\n---\nb: 2\n"), 2, 1, "a second document begins here");
	assert_issue(S("a: *nope\n"), 1, 4, "there is no anchor &nope above");
	assert_issue(S("a: &x [*x]\n"), 1, 8, "*x stands inside what it names");
	assert_issue(S("a: \xff\n"), 1, 4, "byte 0xff is not valid UTF-8");
	assert_issue(S("a: \0\n"), 1, 4, "not valid YAML: a NUL byte");
	assert_issue(S("a: \x1b[1m\n"), 1, 4, "not valid YAML: the control character U+001B");
}

static void braces_without_quotes_are_explained(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(read(S("a: {{name}}\n"), &r));
	assert_str(r.issues.at[0].message, "a key must be a string");
	assert_str(r.issues.at[0].hint, "put quotes around it: \"{{name}}\"");
}

static void several_mistakes_are_told_at_once(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(read(S("a: !x 1\nb: *y\nc: {[z]: 1}\n<<: 1\n"), &r));
	assert_int_equal(r.errors, 4);
}

static void aliases_do_not_expand_without_end(void **state UNUSED)
{
	static const char too_many[] =
		"!with its aliases expanded the file has more than 100000 values";
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "- &a0 [x, x, x, x, x, x, x, x, x]\n");
	for (int i = 1; i < 30; i++) {
		buf_printf(&text, "- &a%d [", i);
		for (int j = 0; j < 9; j++)
			buf_printf(&text, "%s*a%d", j ? ", " : "", i - 1);
		buf_adds(&text, "]\n");
	}
	assert_reads(buf_str(&text), too_many);
	buf_reset(&text);
	buf_adds(&text, "- &m0 {k: 1}\n");
	for (int i = 1; i < 40; i++)
		buf_printf(&text, "- &m%d {<<: [*m%d, *m%d]}\n", i, i - 1, i - 1);
	assert_reads(buf_str(&text), too_many);
}

static void a_long_file_without_aliases_is_fine(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	for (int i = 0; i < 150000; i++)
		buf_adds(&text, "- a\n");
	AUTO_JSON *value = read(buf_str(&text), &r);
	assert_int_equal(json_array_size(value), 150000);
	buf_fill(&text, '#', YAML_BYTES_MAX);
	assert_null(read(buf_str(&text), &r));
	assert_str(r.issues.at[0].message, "the file is larger than 1 MiB");
}

static void nesting_has_a_limit(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	buf_fill(&text, '[', YAML_DEPTH_MAX);
	buf_fill(&text, ']', YAML_DEPTH_MAX);
	AUTO_JSON *value = read(buf_str(&text), &r);
	assert_non_null(value);
	buf_reset(&text);
	buf_fill(&text, '[', 100000);
	assert_reads(buf_str(&text), "!nested deeper than 500 levels");
	/* Also by way of aliases. */
	buf_reset(&text);
	for (int i = 0; i < 5; i++) {
		buf_printf(&text, "- &a%d ", i);
		buf_fill(&text, '[', 200);
		if (i)
			buf_printf(&text, "*a%d", i - 1);
		buf_fill(&text, ']', 200);
		buf_addc(&text, '\n');
	}
	assert_reads(
		buf_str(&text), "!with its aliases expanded the file nests deeper than 500 levels");
}

/* -- places --------------------------------------------------------------------------------------
 */

static struct doc doc_of(struct str text)
{
	return (struct doc){ .source = { S("t"), text }, .locator = &yaml_locator };
}

static void values_and_keys_are_found_again(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(
		S("\xef\xbb\xbf# \xc3\xa9\nsteps:\n  - id: one\n    env: {A: 1, \"B\": [x, y]}\n"
		  "  - id: two\n    command: |\n      echo\n      true\n\n# end\nz: ~\n"));

	assert_str(cut(place_where(way(&a, &d, WAY("steps", "#0", "id")))), "one");
	assert_str(cut(place_key_where(way(&a, &d, WAY("steps", "#0", "id")))), "id");
	assert_str(
		cut(place_where(way(&a, &d, WAY("steps", "#0", "env")))), "{A: 1, \"B\": [x, y]}");
	assert_str(cut(place_where(way(&a, &d, WAY("steps", "#0", "env", "B", "#1")))), "y");
	assert_str(cut(place_key_where(way(&a, &d, WAY("steps", "#0", "env", "B")))), "\"B\"");
	assert_str(cut(place_where(way(&a, &d, WAY("steps", "#1", "command")))),
		"|\n      echo\n      true");
	assert_str(cut(place_where(way(&a, &d, WAY("steps", "#1")))),
		"id: two\n    command: |\n      echo\n      true");
	assert_str(cut(place_where(way(&a, &d, WAY("z")))), "~");
	/* What is not there is looked for where it would be. */
	assert_str(cut(place_where(way(&a, &d, WAY("z", "nope", "#3")))), "~");
	assert_str(cut(place_key_where(way(&a, &d, WAY("steps", "#0", "id", "x")))), "one");
	arena_done(&a);
}

static void merged_and_aliased_values_are_where_they_were_written(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("base: &b {retry: {n: 1}, t: &t \"x{{y}}\"}\n"
				"one: {<<: *b, q: 1, q: 2}\ntwo: *b\nthree: *t\n"
				"four: {<<: [{n: 8}, {n: 9}]}\n"));

	assert_str(cut(place_where(way(&a, &d, WAY("one", "retry", "n")))), "1");
	assert_str(cut(place_where(way(&a, &d, WAY("one", "q")))), "2");
	assert_str(cut(place_where(way(&a, &d, WAY("two")))), "*b");
	assert_str(cut(place_where(way(&a, &d, WAY("two", "retry")))), "{n: 1}");
	assert_str(cut(place_where(way(&a, &d, WAY("three")))), "*t");
	assert_str(cut(place_where_in(way(&a, &d, WAY("three")), 1, 5)), "{{y}}");
	assert_str(cut(place_where(way(&a, &d, WAY("four", "n")))), "8");
	arena_done(&a);
}

static void assert_within(struct str text, size_t index, size_t len, const char *want)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(text);

	assert_str(cut(place_where_in(way(&a, &d, WAY("a")), index, len)), want);
	arena_done(&a);
}

static void bytes_of_a_scalar_are_found_in_every_style(void **state UNUSED)
{
	assert_within(S("a: x {{y}} z\n"), 2, 5, "{{y}}");
	assert_within(S("a: x\n   {{y}}\n\n   {{z}}\n"), 2, 5, "{{y}}");
	assert_within(S("a: x\n   {{y}}\n\n   {{z}}\n"), 8, 5, "{{z}}");
	assert_within(S("a: 'it''s {{y}}'\n"), 5, 5, "{{y}}");
	assert_within(S("a: 'x  \n\n  {{y}}'\n"), 2, 5, "{{y}}");
	assert_within(S("a: \"\\u00e9\\n{{y}}\\\"\"\n"), 3, 5, "{{y}}");
	assert_within(S("a: \"\\u00e9\\n{{y}}\\\"\"\n"), 0, 2, "\\u00e9");
	assert_within(S("a: \"x\\\n   {{y}}\"\n"), 1, 5, "{{y}}");
	assert_within(S("a: \"x\n   {{y}}\"\n"), 2, 5, "{{y}}");
	assert_within(S("a: |\n  x\n   {{y}}\n\n  {{z}}\n"), 3, 5, "{{y}}");
	assert_within(S("a: |\n  x\n   {{y}}\n\n  {{z}}\n"), 10, 5, "{{z}}");
	assert_within(S("a: |\r\n  x\r\n  {{y}}\r\n"), 2, 5, "{{y}}");
	assert_within(S("a: >-\n  x\n  {{y}}\n\n  {{z}}\n"), 2, 5, "{{y}}");
	assert_within(S("a: >-\n  x\n  {{y}}\n\n  {{z}}\n"), 8, 5, "{{z}}");
	assert_within(S("a: >\n\n  {{y}}\n    {{z}}\n"), 1, 5, "{{y}}");
	assert_within(S("a: >\n\n  {{y}}\n    {{z}}\n"), 9, 5, "{{z}}");
	assert_within(S("a: |2\n    {{y}}\n"), 2, 5, "{{y}}");
	assert_within(S("a: &n !!str \"{{y}}\"\n"), 0, 5, "{{y}}");
	assert_within(S("a: |  # c\n  {{y}}\n"), 0, 5, "{{y}}");
}

static void places_outside_a_text_stay_inside_it(void **state UNUSED)
{
	static const char *const texts[] = { "a: ab\n", "a: 'a''b'\n", "a: \"a\\x41\\\n  b\"\n",
		"a: |\n  a\n\n  b\n", "a: >+2\n   a\n\n\n", "a:\n", "a: ''\n", "a: [1]\n", "",
		"a: |\n", "a: \"\"" };
	struct arena a = ARENA_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct doc d = doc_of(str_of(texts[i]));

		for (size_t at = 0; at < 10; at++)
			for (size_t len = 0; len < 10; len++)
				(void)cut(place_where_in(way(&a, &d, WAY("a")), at, len));
		(void)cut(place_key_where(way(&a, &d, WAY("a"))));
		(void)cut(place_where(way(&a, &d, WAY("#0", "x"))));
	}
	arena_done(&a);
}

static void a_locator_with_a_memory_finds_the_same(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct doc d = doc_of(S("a: [x, {b: 'c d'}]\n"));

	d.locator = yaml_locator_new(&a);
	for (int i = 0; i < 2; i++) {
		assert_str(cut(place_where(way(&a, &d, WAY("a", "#1", "b")))), "'c d'");
		assert_str(cut(place_key_where(way(&a, &d, WAY("a", "#1", "b")))), "b");
		assert_str(cut(place_where_in(way(&a, &d, WAY("a", "#1", "b")), 2, 1)), "d");
	}
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_booleans_in_three_spellings),
		cmocka_unit_test(nothing_and_three_words_are_null),
		cmocka_unit_test(whole_numbers_have_five_notations),
		cmocka_unit_test(what_only_looks_like_a_number_is_text),
		cmocka_unit_test(floats_need_a_point_and_a_signed_exponent),
		cmocka_unit_test(what_json_cannot_hold_is_spelled_out),
		cmocka_unit_test(integers_beyond_64_bits_print_exactly),
		cmocka_unit_test(timestamps_stay_text),
		cmocka_unit_test(quotes_keep_words_as_text),
		cmocka_unit_test(block_scalars_keep_or_fold_their_lines),
		cmocka_unit_test(collections_keep_their_order),
		cmocka_unit_test(a_key_is_the_text_that_stands_there),
		cmocka_unit_test(of_duplicate_keys_the_last_counts_with_a_warning),
		cmocka_unit_test(an_anchor_outlives_the_key_that_held_it),
		cmocka_unit_test(merges_give_way_to_what_stands_there),
		cmocka_unit_test(tags_of_plain_data_are_honoured),
		cmocka_unit_test(other_tags_are_refused),
		cmocka_unit_test(mistakes_have_their_place),
		cmocka_unit_test(braces_without_quotes_are_explained),
		cmocka_unit_test(several_mistakes_are_told_at_once),
		cmocka_unit_test(aliases_do_not_expand_without_end),
		cmocka_unit_test(a_long_file_without_aliases_is_fine),
		cmocka_unit_test(nesting_has_a_limit),
		cmocka_unit_test(values_and_keys_are_found_again),
		cmocka_unit_test(merged_and_aliased_values_are_where_they_were_written),
		cmocka_unit_test(bytes_of_a_scalar_are_found_in_every_style),
		cmocka_unit_test(places_outside_a_text_stay_inside_it),
		cmocka_unit_test(a_locator_with_a_memory_finds_the_same),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("yaml", tests, NULL, NULL);
}
