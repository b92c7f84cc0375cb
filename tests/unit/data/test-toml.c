#include "data/toml.h"

#include "data/doc.h"

#include "unit.h"
#include "way.h"

static json_t *parse(struct str text, enum toml_style style, struct report *r)
{
	struct source source = { S("t"), text };

	return toml_read(&source, style, r);
}

static void assert_read(struct str text, enum toml_style style, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	AUTO_JSON *value = parse(text, style, &r);

	if (!value) {
		report_text(&r, REPORT_ALL, &b);
		fail_msg("%s", buf_cstr(&b));
	}
	json_write(&b, value, 0);
	assert_str(buf_str(&b), want);
	assert_int_equal(r.errors + r.warnings, 0);
}

/* The text as a plain value. */
#define assert_plain(text, want) assert_read(S(text), TOML_PLAIN, want)
/* What follows `a = `. */
#define assert_value(text, want) assert_read(S("a = " text), TOML_PLAIN, "{\"a\":" want "}")
#define assert_tagged(text, type, want)          \
	assert_read(S("a = " text), TOML_TAGGED, \
		"{\"a\":{\"type\":\"" type "\",\"value\":\"" want "\"}}")

/* Refused there, in these words, with such a hint. */
static void refused(struct str text, size_t line, size_t column, const char *message,
	const char *hint, const char *file, int at)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = parse(text, TOML_PLAIN, &r);

	if (value || r.errors != 1 || r.issues.len != 1) {
		print_error("accepted, or not one issue: %.*s\n", STR(text));
		_fail(file, at);
	}
	const struct issue *i = &r.issues.at[0];
	if (i->line != line || i->column != column || !str_contains(i->message, str_of(message)) ||
		!i->hint.len || !str_contains(i->hint, str_of(hint))) {
		print_error("%.*s\n%zu:%zu: %.*s (%.*s)\n", STR(text), i->line, i->column,
			STR(i->message), STR(i->hint));
		_fail(file, at);
	}
}
#define assert_refused(text, line, column, message, hint) \
	refused(S(text), line, column, message, hint, __FILE__, __LINE__)

/* -- what is read --------------------------------------------------------------------------------
 */

static void keys_keep_the_order_of_the_file(void **state UNUSED)
{
	assert_plain("z = 1\na = 2\n[t]\nm = 1\nb = 2\n[a2]\n",
		"{\"z\":1,\"a\":2,\"t\":{\"m\":1,\"b\":2},\"a2\":{}}");
	assert_plain("", "{}");
	assert_plain("\n \t\r\n# only a comment", "{}");
	assert_plain("\xef\xbb\xbf"
		     "a=1",
		"{\"a\":1}");
}

static void keys_are_bare_quoted_or_dotted(void **state UNUSED)
{
	assert_plain("A-b_9 = 1\n1234 = 2\n\"a b\" = 3\n'c\\d' = 4\n\"\" = 5\n",
		"{\"A-b_9\":1,\"1234\":2,\"a b\":3,\"c\\\\d\":4,\"\":5}");
	assert_plain("a.b.c = 1\na . \"b\"\t.'d' = 2\n3.14 = 3",
		"{\"a\":{\"b\":{\"c\":1,\"d\":2}},\"3\":{\"14\":3}}");
	assert_plain("\"\\u00e9\" = 1\ntrue = 2\n-1 = 3", "{\"\xc3\xa9\":1,\"true\":2,\"-1\":3}");
}

static void comments_stand_behind_anything(void **state UNUSED)
{
	assert_plain("a = 1 # one\n#\n[t] # two\tand a tab\nb = [ # three\n 1, # \xc3\xa9\n]#",
		"{\"a\":1,\"t\":{\"b\":[1]}}");
}

static void strings_in_double_quotes_have_escapes(void **state UNUSED)
{
	assert_value("\"\"", "\"\"");
	assert_value("\"a # \\\" \\\\ \\b\\t\\n\\f\\r\\u00e9\\U0001F600\"",
		"\"a # \\\" \\\\ \\b\\t\\n\\f\\r\xc3\xa9\xf0\x9f\x98\x80\"");
	assert_value("\"a\tb\\u0000c\"", "\"a\\tb\\u0000c\"");
}

static void strings_in_single_quotes_stand_for_themselves(void **state UNUSED)
{
	assert_value("''", "\"\"");
	assert_value("'C:\\new \"x\"\t'", "\"C:\\\\new \\\"x\\\"\\t\"");
}

static void three_quotes_hold_several_lines(void **state UNUSED)
{
	assert_value("\"\"\"\nx\r\ny\n\"\"\"", "\"x\\ny\\n\"");
	assert_value("\"\"\"\r\nx\"\"\"", "\"x\"");
	assert_value("\"\"\"\n\nx\"\"\"", "\"\\nx\"");
	assert_value("'''\nx\\n\n'y\n'''", "\"x\\\\n\\n'y\\n\"");
	assert_value("\"\"\"\"\"\"", "\"\"");
	assert_value("''''''", "\"\"");
	assert_value("\"\"\"a \"b\" \"\"c\"\" d\"\"\"", "\"a \\\"b\\\" \\\"\\\"c\\\"\\\" d\"");
	assert_value("\"\"\"\"x\"\"\"\"\"", "\"\\\"x\\\"\\\"\"");
	assert_value("'''''x'''''", "\"''x''\"");
}

static void a_backslash_joins_lines(void **state UNUSED)
{
	assert_value("\"\"\"a \\\n   b\"\"\"", "\"a b\"");
	assert_value("\"\"\"a\\ \t\r\n\n \t\n b\\\n\"\"\"", "\"ab\"");
	assert_value("\"\"\"\\\n x\"\"\"", "\"x\"");
}

static void integers_are_exact(void **state UNUSED)
{
	assert_value("0", "0");
	assert_value("+99", "99");
	assert_value("-17", "-17");
	assert_value("+0", "0");
	assert_value("-0", "0");
	assert_value("1_000_000", "1000000");
	assert_value("9223372036854775807", "9223372036854775807");
	assert_value("-9223372036854775808", "-9223372036854775808");
	assert_value("0xDEAD_beef", "3735928559");
	assert_value("0x7fffffffffffffff", "9223372036854775807");
	assert_value("0o0755", "493");
	assert_value("0b1101_0110", "214");
}

static void floats_are_numbers(void **state UNUSED)
{
	assert_value("3.1415", "3.1415");
	assert_value("-0.01", "-0.01");
	assert_value("5e+22", "5e+22");
	assert_value("1E06", "1000000");
	assert_value("-2e-2", "-0.02");
	assert_value("6.626_1e-3_4", "6.6261e-34");
	assert_value("9_2.5", "92.5");
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *whole = parse(S("a = 1.0"), TOML_PLAIN, &r);
	assert_true(json_is_real(json_object_get(whole, "a")));
}

static void what_json_has_no_number_for_is_text(void **state UNUSED)
{
	assert_value("inf", "\"inf\"");
	assert_value("+inf", "\"inf\"");
	assert_value("-inf", "\"-inf\"");
	assert_value("nan", "\"nan\"");
	assert_value("-nan", "\"nan\"");
	assert_value("1e999", "\"inf\"");
}

static void booleans_are_words(void **state UNUSED)
{
	assert_value("true", "true");
	assert_value("false", "false");
}

static void dates_and_times_are_text(void **state UNUSED)
{
	assert_value("1979-05-27T07:32:00Z", "\"1979-05-27T07:32:00Z\"");
	assert_value("1979-05-27t07:32:00z", "\"1979-05-27T07:32:00Z\"");
	assert_value("1979-05-27 00:32:00.999999-07:00", "\"1979-05-27T00:32:00.999999-07:00\"");
	assert_value("1979-05-27T07:32:00", "\"1979-05-27T07:32:00\"");
	assert_value("1979-05-27 # not a time", "\"1979-05-27\"");
	assert_value("07:32:00.5", "\"07:32:00.5\"");
	assert_value("2000-02-29", "\"2000-02-29\"");
	assert_value("1990-12-31T23:59:60Z", "\"1990-12-31T23:59:60Z\"");
	assert_value("0000-01-01", "\"0000-01-01\"");
	assert_value("[1979-05-27 ,07:32:00]", "[\"1979-05-27\",\"07:32:00\"]");
}

static void leaves_can_be_tagged(void **state UNUSED)
{
	assert_tagged("'x'", "string", "x");
	assert_tagged("0x10", "integer", "16");
	assert_tagged("1.50", "float", "1.5");
	assert_tagged("-0.0", "float", "-0");
	assert_tagged("0e1", "float", "0");
	assert_tagged("-inf", "float", "-inf");
	assert_tagged("+nan", "float", "nan");
	assert_tagged("true", "bool", "true");
	assert_tagged("1979-05-27 07:32:00z", "datetime", "1979-05-27T07:32:00Z");
	assert_tagged("1979-05-27 07:32:00", "datetime-local", "1979-05-27T07:32:00");
	assert_tagged("1979-05-27", "date-local", "1979-05-27");
	assert_tagged("07:32:00", "time-local", "07:32:00");
	assert_read(S("a = [{}, []]\n[b]"), TOML_TAGGED, "{\"a\":[{},[]],\"b\":{}}");
}

static void a_key_with_nul_is_only_for_tagged_values(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *tagged = parse(S("\"a\\u0000b\" = 1"), TOML_TAGGED, &r);

	assert_non_null(tagged);
	assert_non_null(json_object_getn(tagged, "a\0b", 3));
	AUTO_JSON *plain = parse(S("\"a\\u0000b\" = 1"), TOML_PLAIN, &r);
	assert_null(plain);
	assert_str(r.issues.at[0].message, "a key with a NUL character in it");
}

static void arrays_hold_anything_over_many_lines(void **state UNUSED)
{
	assert_value("[]", "[]");
	assert_value("[ \n ]", "[]");
	assert_value("[1, 'x', [2.5, [true]], {b = 1}, ]", "[1,\"x\",[2.5,[true]],{\"b\":1}]");
	assert_value("[\n  1, # one\n\n  2 # two\n  , 3\n]", "[1,2,3]");
}

static void inline_tables_stand_on_one_line(void **state UNUSED)
{
	assert_value("{}", "{}");
	assert_value("{ }", "{}");
	assert_value("{ b = 1, \"c d\" = { e.f = 'x', e.g = [ 1,\n 2 ] } }",
		"{\"b\":1,\"c d\":{\"e\":{\"f\":\"x\",\"g\":[1,2]}}}");
}

static void tables_nest_by_their_headers(void **state UNUSED)
{
	assert_plain("[a.b.c]\nx = 1\n[a]\ny = 2\n[ d . \"e.f\" ]\n",
		"{\"a\":{\"b\":{\"c\":{\"x\":1}},\"y\":2},\"d\":{\"e.f\":{}}}");
	assert_plain("[a]\nb.c = 1\n[a.b.d]\nx = 1", "{\"a\":{\"b\":{\"c\":1,\"d\":{\"x\":1}}}}");
	/* A table that only was in the way of a header is nobody's yet. */
	assert_plain("[a.b.c]\n[a]\nb.d = 1", "{\"a\":{\"b\":{\"c\":{},\"d\":1}}}");
	assert_plain("[x.y.z.w]\n[x]\n", "{\"x\":{\"y\":{\"z\":{\"w\":{}}}}}");
}

static void arrays_of_tables_grow_by_their_headers(void **state UNUSED)
{
	assert_plain("[[a]]\nx = 1\n[[a]]\n[[ a ]]\nx = 3\n", "{\"a\":[{\"x\":1},{},{\"x\":3}]}");
	assert_plain("[[a]]\n[a.t]\nx = 1\n[[a.s]]\ny = 1\n[[a.s]]\n[[a]]\n[[a.s]]\n[a.t]\n",
		"{\"a\":[{\"t\":{\"x\":1},\"s\":[{\"y\":1},{}]},{\"s\":[{}],\"t\":{}}]}");
	assert_plain("[[a.b]]\n[a]\nc = 1", "{\"a\":{\"b\":[{}],\"c\":1}}");
}

/* -- what is refused -----------------------------------------------------------------------------
 */

static void refuses_what_is_no_line(void **state UNUSED)
{
	assert_refused("a", 1, 2, "the text ends, expected = behind the key", "key = value");
	assert_refused("a\n= 1", 1, 2, "the line ends, expected = behind the key", "key = value");
	assert_refused("a: 1", 1, 2, "found :, expected =", "key = value");
	assert_refused("a b = 1", 1, 3, "found b, expected = behind the key", "needs quotes");
	assert_refused("= 1", 1, 1, "found =, expected a key or [", "empty name");
	assert_refused("a = 1 b = 2", 1, 7, "found b, expected the line to end", "one key = value");
	assert_refused("[a] b = 1", 1, 5, "found b, expected the line to end", "one key = value");
	assert_refused("a = 'x'y'", 1, 8, "found y, expected the line to end", "");
	assert_refused(
		"a = \"x\"\"", 1, 8, "found \", expected the line to end", "quotes around it");
	assert_refused("\xc3\xa9 = 1", 1, 1, "found \xc3\xa9, expected a key", "needs quotes");
	assert_refused("\xe3\x80\x80"
		       "a = 1",
		1, 1, "found U+3000", "spaces and tabs");
	assert_refused("a = 1\rb = 2", 1, 6, "carriage return", "line feed");
	assert_refused("a = 1\n\0", 2, 1, "found U+0000", "remove");
	assert_refused("# \x01", 1, 3, "found U+0001, expected the text of a comment", "remove");
	assert_refused("# \r", 1, 3, "carriage return", "line feed");
	assert_refused("a = 1\n\xef\xbb\xbf", 2, 1, "found U+FEFF", "");
	assert_refused("a = 'x\xff'", 1, 7, "byte 0xff is not valid UTF-8", "UTF-8");
}

static void refuses_what_is_no_key(void **state UNUSED)
{
	assert_refused("a. = 1", 1, 4, "found =, expected a key behind the dot", "");
	assert_refused(".a = 1", 1, 1, "found .a, expected a key", "dot");
	assert_refused("a..b = 1", 1, 3, "found .b, expected a key behind the dot", "dot");
	assert_refused("\"\"\"a\"\"\" = 1", 1, 1, "a key in three quotes", "one quote");
	assert_refused("'''a''' = 1", 1, 1, "a key in three quotes", "one quote");
	assert_refused("\"a\nb\" = 1", 1, 3, "the line ends inside a string", "closing \"");
	assert_refused("[]", 1, 2, "found ], expected the name of a table", "empty name");
	assert_refused("[a", 1, 3, "the text ends, expected ]", "[name]");
	assert_refused("[a b]", 1, 4, "found b, expected ]", "[name]");
	assert_refused("[[a]", 1, 4, "found ], expected ]]", "[[name]]");
	assert_refused("[[a] ]", 1, 4, "found ], expected ]]", "[[name]]");
	assert_refused("[ [a]]", 1, 3, "found [, expected the name of a table", "[table]");
	assert_refused("[a]]", 1, 4, "found ], expected the line to end behind the header", "");
	assert_refused("[a\n]", 1, 3, "the line ends, expected ]", "[name]");
}

static void refuses_what_is_no_value(void **state UNUSED)
{
	assert_refused("a =", 1, 4, "the text ends, expected a value", "a value is");
	assert_refused("a = # x", 1, 5, "found #, expected a value", "a value is");
	assert_refused(
		"a = x y", 1, 5, "found x, expected a value", "a string needs quotes: \"x\"");
	assert_refused("a = True", 1, 5, "found True", "TOML writes true in lower case");
	assert_refused("a = NaN", 1, 5, "found NaN", "TOML writes nan in lower case");
	assert_refused("a = null", 1, 5, "found null", "leave the key out");
	assert_refused("a = =", 1, 5, "found =, expected a value", "a value is");
}

static void refuses_wrong_strings(void **state UNUSED)
{
	assert_refused("a = \"x", 1, 7, "the text ends inside a string", "a closing \"");
	assert_refused("a = 'x\n'", 1, 7, "the line ends inside a string", "a closing '");
	assert_refused(
		"a = \"\"\"x\"\"", 1, 11, "the text ends inside a string", "a closing \"\"\"");
	assert_refused("a = '''x\n", 2, 1, "the text ends inside a string", "a closing '''");
	assert_refused("a = '''x'''''' ", 1, 12, "found ', expected the line to end", "");
	assert_refused("a = \"\\e\"", 1, 6, "\\e is not an escape", "\\\\");
	assert_refused("a = \"\\x41\"", 1, 6, "\\x is not an escape", "\\\\");
	assert_refused("a = \"\\\xc3\xa9\"", 1, 6, "\\\xc3\xa9 is not an escape", "\\\\");
	assert_refused("a = \"\\ \"", 1, 6, "a backslash with nothing to escape", "\\\\");
	assert_refused("a = \"\"\"\\ x\"\"\"", 1, 8, "a backslash with nothing to escape", "\\\\");
	assert_refused("a = \"\\", 1, 6, "a backslash with nothing to escape", "\\\\");
	assert_refused("a = \"\\u12g4\"", 1, 6, "\\u without four hexadecimal digits", "\\u00e9");
	assert_refused("a = \"\\U0001f60\"", 1, 6, "\\U without eight", "\\U0001f600");
	assert_refused("a = \"\\ud800\"", 1, 6, "\\ud800 is not a Unicode character", "surrogate");
	assert_refused("a = \"\\U00110000\"", 1, 6, "is not a Unicode character", "\\U0010ffff");
	assert_refused("a = \"\x1f\"", 1, 6, "found U+001F inside a string", "\\u001f");
	assert_refused("a = '\x7f'", 1, 6, "found U+007F inside a string", "\\u007f");
	assert_refused("a = '''\r'''", 1, 8, "found U+000D inside a string", "\\u000d");
}

static void refuses_wrong_numbers(void **state UNUSED)
{
	assert_refused("a = 1_", 1, 5, "'1_' is not a number", "underscore");
	assert_refused("a = 1__2", 1, 5, "'1__2' is not a number", "underscore");
	assert_refused("a = 0x_1", 1, 5, "'0x_1' is not a number", "underscore");
	assert_refused("a = 1._5", 1, 5, "'1._5' is not a number", "underscore");
	assert_refused("a = 1e_5", 1, 5, "'1e_5' is not a number", "underscore");
	assert_refused("a = 012", 1, 5, "begins with a zero too many", "zeros in front");
	assert_refused("a = -00.5", 1, 5, "begins with a zero too many", "zeros in front");
	assert_refused("a = .5", 1, 5, "'.5' is not a number", "point");
	assert_refused("a = 5.", 1, 5, "'5.' is not a number", "point");
	assert_refused("a = 1.2.3", 1, 5, "'1.2.3' is not a number", "point");
	assert_refused("a = 1.e5", 1, 5, "'1.e5' is not a number", "point");
	assert_refused("a = 1e", 1, 5, "'1e' is not a number", "numbers are");
	assert_refused("a = 1e+", 1, 5, "'1e+' is not a number", "numbers are");
	assert_refused("a = +", 1, 5, "'+' is not a number", "numbers are");
	assert_refused("a = --1", 1, 5, "'--1' is not a number", "numbers are");
	assert_refused("a = 0x", 1, 5, "'0x' is not a number", "numbers are");
	assert_refused("a = 0xg", 1, 5, "'0xg' is not a number", "numbers are");
	assert_refused("a = 0o8", 1, 5, "'0o8' is not a number", "numbers are");
	assert_refused("a = 0b2", 1, 5, "'0b2' is not a number", "numbers are");
	assert_refused("a = -0x1", 1, 5, "'-0x1' is not a number", "numbers are");
	assert_refused("a = 0X1", 1, 5, "'0X1' is not a number", "numbers are");
	assert_refused("a = +Inf", 1, 5, "'+Inf' is not a number", "inf");
	assert_refused("a = 9223372036854775808", 1, 5, "does not fit into 64 bits", "between");
	assert_refused("a = -9223372036854775809", 1, 5, "does not fit into 64 bits", "between");
	assert_refused("a = 0x8000000000000000", 1, 5, "does not fit into 64 bits", "between");
}

static void refuses_wrong_dates(void **state UNUSED)
{
	assert_refused("a = 1979-5-27", 1, 5, "'1979-5-27' is not a date or time", "1979-05-27");
	assert_refused("a = 1979-05-27T", 1, 5, "is not a date or time", "1979-05-27");
	assert_refused("a = 1979-05-27T07:32", 1, 5, "is not a date or time", "1979-05-27");
	assert_refused("a = 1979-05-27x07:32:00", 1, 5, "is not a date or time", "1979-05-27");
	assert_refused("a = 1979-05-27T07:32:00.", 1, 5, "is not a date or time", "1979-05-27");
	assert_refused("a = 1979-05-27T07:32:00+7:00", 1, 5, "is not a date or time", "1979-05-27");
	assert_refused("a = 1979-05-27 07:32", 1, 5, "'1979-05-27 07:32' is not a date", "");
	assert_refused("a = 07:32:00Z", 1, 5, "'07:32:00Z' is not a date or time", "07:32:00");
	assert_refused("a = 7:32:00", 1, 5, "'7:32:00' is not a number", "07:32:00");
	assert_refused("a = 12345-01-01", 1, 5, "is not a number", "1979-05-27");
	assert_refused("a = 2001-02-29", 1, 5, "2001-02-29 does not exist", "check");
	assert_refused("a = 1900-02-29", 1, 5, "does not exist", "check");
	assert_refused("a = 2001-00-01", 1, 5, "does not exist", "check");
	assert_refused("a = 2001-13-01", 1, 5, "does not exist", "check");
	assert_refused("a = 2001-04-31", 1, 5, "does not exist", "check");
	assert_refused("a = 2001-04-00", 1, 5, "does not exist", "check");
	assert_refused("a = 24:00:00", 1, 5, "does not exist", "check");
	assert_refused("a = 23:60:00", 1, 5, "does not exist", "check");
	assert_refused("a = 23:59:61", 1, 5, "does not exist", "check");
	assert_refused("a = 2001-01-01T00:00:00+24:00", 1, 5, "does not exist", "check");
	assert_refused("a = 2001-01-01T00:00:00-23:60", 1, 5, "does not exist", "check");
}

static void refuses_wrong_arrays(void **state UNUSED)
{
	assert_refused("a = [1", 1, 7, "the text ends, expected a comma or ]", "begins on line 1");
	assert_refused("\na = [\n1,\n", 4, 1, "the text ends, expected a value or ]", "on line 2");
	assert_refused("a = [1 2]", 1, 8, "found 2, expected a comma or ]", "comma is missing");
	assert_refused("a = [1,,2]", 1, 8, "found a comma, expected a value", "leave out");
	assert_refused("a = [,]", 1, 6, "found a comma, expected a value", "leave out");
	assert_refused("a = [1}", 1, 7, "found }, expected a comma or ]", "no closing ]");
	assert_refused("a = [x]", 1, 6, "found x, expected a value", "\"x\"");
	assert_refused("a = [1 # \x7f\n]", 1, 10, "found U+007F", "remove");
}

static void refuses_wrong_inline_tables(void **state UNUSED)
{
	assert_refused("a = {", 1, 6, "the text ends, expected a key or }", "no closing }");
	assert_refused("a = {b = 1", 1, 11, "the text ends, expected a comma or }", "no closing }");
	assert_refused("a = {\nb = 1}", 1, 6, "the line ends, expected a key or }", "one line");
	assert_refused("a = {b = 1\n}", 1, 11, "the line ends, expected a comma or }", "one line");
	assert_refused("a = {b = 1,\nc = 1}", 1, 12, "the line ends, expected a key", "one line");
	assert_refused("a = {b = 1,}", 1, 11, "a comma before }", "leave out");
	assert_refused("a = {,}", 1, 6, "found a comma, expected a key", "leave out");
	assert_refused("a = {b = 1 c = 2}", 1, 12, "found c, expected a comma", "comma is missing");
	assert_refused("a = {b = 1] ", 1, 11, "found ], expected a comma or }", "no closing }");
	assert_refused("a = {b}", 1, 7, "found }, expected = behind the key", "key = value");
	assert_refused("a = {b = 1} c", 1, 13, "found c, expected the line to end", "");
	assert_refused(
		"a = {b = 1 # x\n}", 1, 12, "found #, expected a comma or }", "no closing }");
}

static void refuses_a_second_definition(void **state UNUSED)
{
	assert_refused("\na = 1\n'a' = 2", 3, 1, "''a'' is defined a second time", "on line 2");
	assert_refused("[a]\n[b]\n[a]", 3, 2, "'a' is defined a second time", "on line 1");
	assert_refused("[a.b]\n[a]\n[a]", 3, 2, "'a' is defined a second time", "on line 2");
	assert_refused("[a]\nb.c = 1\n[a.b]", 3, 4, "'a.b' is defined a second", "dotted key");
	assert_refused("a.b = 1\na = 2", 2, 1, "'a' is defined a second time", "dotted key");
	assert_refused("a.b = 1\n[a]", 2, 2, "'a' is defined a second time", "dotted key");
	assert_refused("a = {b = 1, b = 2}", 1, 13, "'b' is defined a second time", "on line 1");
	assert_refused("a = {b.c = 1, b = 2}", 1, 15, "'b' is defined a second time", "dotted");
	assert_refused("[a.b]\n[a]\nb = 1", 3, 1, "'b' is defined a second time", "on line 1");
	assert_refused("[a.b.c]\n[a]\nb.d = 1\n[a.b]", 4, 4, "'a.b' is defined a second", "dotted");
}

static void refuses_to_add_to_what_is_complete(void **state UNUSED)
{
	assert_refused("a = 1\na.b = 2", 2, 1, "'a' is an integer, to which", "line 1");
	assert_refused("a = 'x'\n[a.b]", 2, 2, "'a' is a string, to which", "line 1");
	assert_refused("a = 1.5\n[a]", 2, 2, "'a' is a float, not a table", "line 1");
	assert_refused("a = true\n[[a]]", 2, 3, "'a' is a boolean, not an array of", "line 1");
	assert_refused("a = 07:32:00\n[a]", 2, 2, "'a' is a time, not a table", "line 1");
	assert_refused("a = 1979-05-27\n[a]", 2, 2, "'a' is a date, not a table", "line 1");
	assert_refused("a = {}\n[a]", 2, 2, "'a' is an inline table, to which a header", "line 1");
	assert_refused("a = {}\n[a.b]", 2, 2, "'a' is an inline table, to which a header", "");
	assert_refused("a = {}\na.b = 1", 2, 1, "'a' is an inline table, to which a key", "");
	assert_refused("a = {b = {}, b.c = 1}", 1, 14, "'b' is an inline table, to which", "");
	assert_refused("a = []\n[[a]]", 2, 3, "'a' is an array, to which a header", "line 1");
	assert_refused("a = [{}]\n[a.b]", 2, 2, "'a' is an array, to which a header", "line 1");
	assert_refused("[[a]]\n[a]", 2, 2, "'a' is an array of tables, not a table", "line 1");
	assert_refused("[a]\n[[a]]", 2, 3, "'a' is a table, not an array of tables", "line 1");
	assert_refused("[a.b]\n[[a]]", 2, 3, "'a' is a table, not an array of tables", "line 1");
	assert_refused("[[a.b]]\n[a]\nb.c = 1", 3, 1, "'b' is an array of tables, to which", "");
	assert_refused("[a.b.c]\n[a]\nb.c.d = 1", 3, 3, "'b.c' is a table with a header", "line 1");
}

static void positions_count_characters_and_no_byte_order_mark(void **state UNUSED)
{
	assert_refused("\xef\xbb\xbf"
		       "a = x",
		1, 5, "found x", "");
	assert_refused("\"\xc3\xa9\xf0\x9f\x98\x80\" = x", 1, 8, "found x", "");
	assert_refused("a = 1\r\n\tb = x", 2, 6, "found x", "");
}

/* -- limits --------------------------------------------------------------------------------------
 */

static json_t *parse_buf(const struct buf *b, struct report *r)
{
	return parse(buf_str(b), TOML_PLAIN, r);
}

static void refuses_to_nest_too_deep(void **state UNUSED)
{
	static const char *const ways[] = { "[", "{a=", "a.", NULL };

	for (size_t i = 0; ways[i]; i++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_BUF text = BUF_INIT;

		buf_adds(&text, ways[i][1] == '.' ? "" : "a = ");
		for (int n = 0; n < 100000; n++)
			buf_adds(&text, ways[i]);
		if (ways[i][1] == '.')
			buf_adds(&text, "a = 1");
		AUTO_JSON *value = parse_buf(&text, &r);
		assert_null(value);
		assert_int_equal(r.errors, 1);
		assert_true(str_contains(r.issues.at[0].message, S("nested more than 512 deep")));
	}
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	buf_adds(&text, "a = ");
	buf_fill(&text, '[', 500);
	buf_fill(&text, ']', 500);
	AUTO_JSON *value = parse_buf(&text, &r);
	assert_non_null(value);
}

static void reads_many_keys_and_long_lines(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	for (int i = 0; i < 100000; i++)
		buf_printf(&text, "k%d=%d\n", i, i);
	AUTO_JSON *many = parse_buf(&text, &r);
	assert_int_equal(json_object_size(many), 100000);
	assert_int_equal(json_integer_value(json_object_get(many, "k99999")), 99999);

	buf_reset(&text);
	buf_adds(&text, "a = '");
	buf_fill(&text, 'x', 1 << 20);
	buf_adds(&text, "'\n[[t]]\n");
	for (int i = 0; i < 50000; i++)
		buf_adds(&text, "[[t]]\n[t.a.b]\n");
	AUTO_JSON *lines = parse_buf(&text, &r);
	assert_int_equal(json_string_length(json_object_get(lines, "a")), 1 << 20);
	assert_int_equal(json_array_size(json_object_get(lines, "t")), 50001);
}

static void refuses_more_than_its_limit(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_fill(&text, '\n', TOML_MAX_BYTES + 1);
	AUTO_JSON *value = parse_buf(&text, &r);
	assert_null(value);
	assert_str(r.issues.at[0].message, "a TOML text of more than 16 MiB");
}

/* -- places --------------------------------------------------------------------------------------
 */

#define ROOT ((const char *const[]){ NULL })

static struct doc doc_of(struct str text)
{
	return (struct doc){ .source = { S("t"), text }, .locator = &toml_locator };
}

static const char places[] = "\xef\xbb\xbf"
			     "top = 1.50 # x\n"
			     "\"dot ted\" . b.c = 'v'\n"
			     "list = [ 1, [ \"x\", {in = { k = true }} ],\n 2 ]\n"
			     "[one.two.three]\n"
			     "key = 1979-05-27 07:32:00\n"
			     "[ one ]\n"
			     "more = \"\"\n"
			     "[[many]]\n"
			     "n = 1\n"
			     "[many.sub]\n"
			     "[[many]]\n"
			     "n = 2\n"
			     "[[many.deep]]\n"
			     "z = -7\n";

static void assert_place(
	const struct doc *d, const char *const *steps, const char *key, const char *value)
{
	struct arena a = ARENA_INIT;

	assert_str(cut(place_key_where(way(&a, d, steps))), key);
	assert_str(cut(place_where(way(&a, d, steps))), value);
	/* One with a memory says the same, and says it again. */
	struct doc kept = { .source = d->source, .locator = toml_locator_new(&a) };
	for (int i = 0; i < 2; i++) {
		assert_str(cut(place_key_where(way(&a, &kept, steps))), key);
		assert_str(cut(place_where(way(&a, &kept, steps))), value);
	}
	arena_done(&a);
}

static void values_and_keys_are_found_by_their_way(void **state UNUSED)
{
	struct doc d = doc_of(str_of(places));

	assert_place(&d, WAY("top"), "top", "1.50");
	assert_place(&d, WAY("dot ted", "b", "c"), "c", "'v'");
	assert_place(&d, WAY("dot ted", "b"), "b", "b");
	assert_place(&d, WAY("dot ted"), "\"dot ted\"", "\"dot ted\"");
	assert_place(&d, WAY("list", "#0"), "1", "1");
	assert_place(&d, WAY("list", "#1"), "[ \"x\", {in = { k = true }} ]",
		"[ \"x\", {in = { k = true }} ]");
	assert_place(&d, WAY("list", "#1", "#1"), "{in = { k = true }}", "{in = { k = true }}");
	assert_place(&d, WAY("list", "#1", "#1", "in"), "in", "{ k = true }");
	assert_place(&d, WAY("list", "#1", "#1", "in", "k"), "k", "true");
	assert_place(&d, WAY("list", "#2"), "2", "2");
}

static void tables_stand_at_their_headers(void **state UNUSED)
{
	struct doc d = doc_of(str_of(places));

	assert_place(&d, WAY("one", "two", "three"), "three", "[one.two.three]");
	assert_place(&d, WAY("one", "two"), "two", "two");
	assert_place(&d, WAY("one"), "one", "[ one ]");
	assert_place(&d, WAY("one", "more"), "more", "\"\"");
	assert_place(&d, WAY("one", "two", "three", "key"), "key", "1979-05-27 07:32:00");
	assert_place(&d, WAY("many"), "many", "[[many]]");
	assert_place(&d, WAY("many", "#1", "n"), "n", "2");
	assert_place(&d, WAY("many", "#0", "sub"), "sub", "[many.sub]");
	assert_place(&d, WAY("many", "#1", "deep", "#0", "z"), "z", "-7");

	struct arena a = ARENA_INIT;
	struct where first = place_where(way(&a, &d, WAY("many", "#0")));
	struct where second = place_where(way(&a, &d, WAY("many", "#1")));
	assert_str(cut(first), "[[many]]");
	assert_str(cut(second), "[[many]]");
	assert_true(first.offset < second.offset);
	arena_done(&a);
}

static void what_is_not_there_stands_where_it_would_be(void **state UNUSED)
{
	struct doc d = doc_of(str_of(places));

	assert_place(&d, WAY("one", "missing", "more"), "[ one ]", "[ one ]");
	assert_place(&d, WAY("many", "#9"), "[[many]]", "[[many]]");
	assert_place(&d, WAY("top", "#0"), "1.50", "1.50");
	assert_place(&d, WAY("list", "name"), "[ 1, [ \"x\", {in = { k = true }} ],\n 2 ]",
		"[ 1, [ \"x\", {in = { k = true }} ],\n 2 ]");
	assert_place(&d, WAY("missing"), "", "");
	assert_place(&d, ROOT, "", "");
	struct doc broken = doc_of(S("a = "));
	assert_place(&broken, WAY("a"), "", "");
}

static void assert_within(struct str value, size_t index, size_t len, const char *want)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "a = ");
	buf_add(&text, value);
	buf_adds(&text, "\n");
	struct doc d = doc_of(buf_str(&text));
	assert_str(cut(place_where_in(way(&a, &d, WAY("a")), index, len)), want);
	arena_done(&a);
}

static void parts_of_strings_are_found_through_escapes(void **state UNUSED)
{
	assert_within(S("\"abc {x} d\""), 4, 3, "{x}");
	assert_within(S("'abc {x} d'"), 4, 3, "{x}");
	assert_within(S("\"\\u00e9\\n{x}\""), 3, 3, "{x}");
	assert_within(S("\"\\u00e9\\n{x}\""), 2, 1, "\\n");
	assert_within(S("\"\\u00e9x\""), 0, 2, "\\u00e9");
	assert_within(S("\"\"\"\na\\\n  \n b{x}\"\"\""), 2, 3, "{x}");
	assert_within(S("\"\"\"\na\\\n  \n b{x}\"\"\""), 1, 1, "b");
	assert_within(S("'''\r\na\r\nb'''"), 1, 1, "\r\n");
	assert_within(S("'''\r\na\r\nb'''"), 2, 1, "b");
	assert_within(S("'''a'''''"), 1, 2, "''");
	assert_within(S("'ab'"), 1, 99, "b");
	assert_within(S("'ab'"), 7, 2, "'");
	assert_within(S("''"), 0, 0, "'");
	assert_within(S("1.5"), 1, 1, "1.5");
	assert_within(S("[1]"), 0, 1, "[1]");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_keep_the_order_of_the_file),
		cmocka_unit_test(keys_are_bare_quoted_or_dotted),
		cmocka_unit_test(comments_stand_behind_anything),
		cmocka_unit_test(strings_in_double_quotes_have_escapes),
		cmocka_unit_test(strings_in_single_quotes_stand_for_themselves),
		cmocka_unit_test(three_quotes_hold_several_lines),
		cmocka_unit_test(a_backslash_joins_lines),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(floats_are_numbers),
		cmocka_unit_test(what_json_has_no_number_for_is_text),
		cmocka_unit_test(booleans_are_words),
		cmocka_unit_test(dates_and_times_are_text),
		cmocka_unit_test(leaves_can_be_tagged),
		cmocka_unit_test(a_key_with_nul_is_only_for_tagged_values),
		cmocka_unit_test(arrays_hold_anything_over_many_lines),
		cmocka_unit_test(inline_tables_stand_on_one_line),
		cmocka_unit_test(tables_nest_by_their_headers),
		cmocka_unit_test(arrays_of_tables_grow_by_their_headers),
		cmocka_unit_test(refuses_what_is_no_line),
		cmocka_unit_test(refuses_what_is_no_key),
		cmocka_unit_test(refuses_what_is_no_value),
		cmocka_unit_test(refuses_wrong_strings),
		cmocka_unit_test(refuses_wrong_numbers),
		cmocka_unit_test(refuses_wrong_dates),
		cmocka_unit_test(refuses_wrong_arrays),
		cmocka_unit_test(refuses_wrong_inline_tables),
		cmocka_unit_test(refuses_a_second_definition),
		cmocka_unit_test(refuses_to_add_to_what_is_complete),
		cmocka_unit_test(positions_count_characters_and_no_byte_order_mark),
		cmocka_unit_test(refuses_to_nest_too_deep),
		cmocka_unit_test(reads_many_keys_and_long_lines),
		cmocka_unit_test(refuses_more_than_its_limit),
		cmocka_unit_test(values_and_keys_are_found_by_their_way),
		cmocka_unit_test(tables_stand_at_their_headers),
		cmocka_unit_test(what_is_not_there_stands_where_it_would_be),
		cmocka_unit_test(parts_of_strings_are_found_through_escapes),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("toml", tests, NULL, NULL);
}
