#include "data/markdown.h"

#include <stdlib.h>

#include "unit.h"

#define FENCE "```template\necho hi\n```\n"

/* Everything one reading gave. */
struct reading {
	struct arena arena;
	struct report errors, warnings;
	struct source source;
	struct markdown md;
	struct buf json;
	char *copy; /* as long as the text, so that a sanitizer sees a byte too far */
	bool ok;
};

static void forget(struct reading *x)
{
	json_decref(x->md.object);
	arena_done(&x->arena);
	report_done(&x->errors);
	report_done(&x->warnings);
	buf_done(&x->json);
	free(x->copy);
	*x = (struct reading){ 0 };
}

#define READING __attribute__((cleanup(forget))) struct reading

static void check_regions(const struct reading *x)
{
	size_t i = 0;
	const char *key;
	json_t *value;

	assert_int_equal(x->md.region_count, json_object_size(x->md.object));
	json_object_foreach(x->md.object, key, value)
	{
		const struct markdown_region *at = &x->md.regions[i++];

		assert_str(at->key, key);
		assert_true(at->offset + at->length <= x->source.text.len);
		if (at->exact)
			assert_bytes(
				str_sub(x->source.text, at->offset, at->length), json_str(value));
	}
}

static void read_bytes(struct reading *x, struct str text)
{
	forget(x);
	x->copy = mem_dup(text.p, text.len);
	x->source = (struct source){ S("r.md"), { x->copy, text.len } };
	x->ok = markdown_read(&x->source, &x->arena, &x->md, &x->errors, &x->warnings);
	assert_int_equal(x->ok, x->errors.errors == 0);
	if (!x->ok) {
		assert_null(x->md.object);
		return;
	}
	json_write(&x->json, x->md.object, 0);
	check_regions(x);
}

static void read_text(struct reading *x, const char *text)
{
	read_bytes(x, str_of(text));
}

/* The whole recipe as JSON. */
static void recipe(const char *text, const char *want)
{
	READING x = { 0 };

	read_text(&x, text);
	assert_true(x.ok);
	assert_str(buf_str(&x.json), want);
	assert_int_equal(x.warnings.warnings, 0);
}

/* The frontmatter as JSON; the template that every recipe must have is left out. */
static void metadata_read(struct reading *x, const char *lines, const char *want)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "---\n%s---\n" FENCE, lines);
	read_bytes(x, buf_str(&text));
	assert_true(x->ok);
	json_object_del(x->md.object, "template");
	buf_reset(&x->json);
	json_write(&x->json, x->md.object, 0);
	assert_str(buf_str(&x->json), want);
}

static void metadata(const char *lines, const char *want)
{
	READING x = { 0 };

	metadata_read(&x, lines, want);
	assert_int_equal(x.warnings.warnings, 0);
}

/* The same, with one warning at a line (of the frontmatter, from 1) that says `message`. */
static void metadata_warned(const char *lines, const char *want, size_t line, const char *message)
{
	READING x = { 0 };

	metadata_read(&x, lines, want);
	assert_int_equal(x.warnings.warnings, 1);
	assert_int_equal(x.warnings.issues.at[0].line, line + 1);
	assert_str(x.warnings.issues.at[0].message, message);
}

#define DEEPER "line is ignored: it is indented more deeply than the line it could belong to"
#define NO_KEY "line is ignored: it is not 'key: value'"

static void issue_is(const struct report *r, size_t n, size_t line, size_t column, const char *text)
{
	assert_true(n < r->issues.len);
	assert_str(r->issues.at[n].message, text);
	assert_int_equal(r->issues.at[n].line, line);
	assert_int_equal(r->issues.at[n].column, column);
}

static void refused(const char *text, size_t line, size_t column, const char *message)
{
	READING x = { 0 };

	read_text(&x, text);
	assert_false(x.ok);
	assert_int_equal(x.errors.errors, 1);
	issue_is(&x.errors, 0, line, column, message);
}

static const struct markdown_region *region(const struct reading *x, const char *key)
{
	for (size_t i = 0; i < x->md.region_count; i++)
		if (str_eq(x->md.regions[i].key, str_of(key)))
			return &x->md.regions[i];
	fail_msg("no region '%s'", key);
	return NULL;
}

static struct str region_text(const struct reading *x, const char *key)
{
	const struct markdown_region *at = region(x, key);

	return str_sub(x->source.text, at->offset, at->length);
}

static void the_example_of_the_standard_is_read(void **state UNUSED)
{
	recipe("---\ndescription: Literate docs check\nargs:\n  - scope:path\ndefaults:\n"
	       "  scope: docs\nmailbox:\n  accepts:\n    - control.kill\n---\n\n"
	       "Human notes can explain intent.\n\n```template\nnpm run check -- {scope}\n```\n",
		"{\"description\":\"Literate docs check\",\"args\":[\"scope:path\"],"
		"\"defaults\":{\"scope\":\"docs\"},\"mailbox\":{\"accepts\":[\"control.kill\"]},"
		"\"template\":\"npm run check -- {scope}\"}");
}

static void frontmatter_may_be_empty_and_its_marks_indented(void **state UNUSED)
{
	recipe("---\n---\n" FENCE, "{\"template\":\"echo hi\"}");
	recipe(" --- \t\na: b\n  ---\n" FENCE, "{\"a\":\"b\",\"template\":\"echo hi\"}");
	recipe("---\n\n# only\n   \n---\n" FENCE, "{\"template\":\"echo hi\"}");
	recipe("---\ntemplate: x\n---", "{\"template\":\"x\"}");
}

static void a_file_without_frontmatter_is_refused(void **state UNUSED)
{
#define START "a Markdown recipe must start with frontmatter: the first line is "
	refused("# hi\n\n" FENCE, 1, 1, START "'# hi'");
	refused("", 1, 1, START "empty");
	refused("\n---\n---\n" FENCE, 1, 1, START "empty");
	refused("----\n---\n" FENCE, 1, 1, START "'----'");
	refused("--", 1, 1, START "'--'");
}

static void frontmatter_that_does_not_end_is_refused(void **state UNUSED)
{
	refused("---\ndescription: d\n\n" FENCE, 1, 1, "the frontmatter is not closed");
	refused("---", 1, 1, "the frontmatter is not closed");
}

static void all_mistakes_are_told_in_one_go(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x, "# hi\n\n```json\n{bad\n```\n");
	assert_int_equal(x.errors.errors, 2);
	issue_is(&x.errors, 1, 4, 2, "not valid JSON: found bad, expected a name in double quotes");
	read_text(&x, "---\na: 1\n\n```recipe\nx\n```\n");
	assert_int_equal(x.errors.errors, 2);
	issue_is(&x.errors, 0, 1, 1, "the frontmatter is not closed");
}

static void keys_stand_at_column_0_and_blanks_behind_the_colon_are_optional(void **state UNUSED)
{
	metadata("a: x\nB_.-9:y\n_c:\t z \nd:http://h:80/x\n",
		"{\"a\":\"x\",\"B_.-9\":\"y\",\"_c\":\"z\",\"d\":\"http://h:80/x\"}");
	metadata_warned("1a: x\nb: y\n", "{\"b\":\"y\"}", 1, NO_KEY);
	metadata_warned("a b: x\nb: y\n", "{\"b\":\"y\"}", 1, NO_KEY);
	metadata_warned("b: y\nnothing\n", "{\"b\":\"y\"}", 2, NO_KEY);
	metadata_warned("b: y\n: x\n", "{\"b\":\"y\"}", 2, NO_KEY);
	metadata_warned("  a: x\nb: y\n", "{\"b\":\"y\"}", 1, DEEPER);
	metadata_warned("a: x\n\xC2\xA0"
			"b: y\n",
		"{\"a\":\"x\"}", 2, NO_KEY);
}

static void scalars_have_types(void **state UNUSED)
{
	metadata("a: true\nb: false\nc: null\nd: True\ne: nullx\n",
		"{\"a\":true,\"b\":false,\"c\":null,\"d\":\"True\",\"e\":\"nullx\"}");
	metadata("a: 0\nb: 007\nc: -12\nd: 9223372036854775807\ne: -9223372036854775808\n",
		"{\"a\":0,\"b\":7,\"c\":-12,\"d\":9223372036854775807,\"e\":-9223372036854775808}");
	metadata("a: -1.50\nb: 0.25\nc: 36893488147419103232\nd: -36893488147419103232\n",
		"{\"a\":-1.5,\"b\":0.25,\"c\":36893488147419103000,\"d\":-36893488147419103000}");
	metadata("a: .5\nb: 5.\nc: 1.2.3\nd: 1e5\ne: -\nf: +1\ng: 0x10\nh: --1\ni: 1 2\n",
		"{\"a\":\".5\",\"b\":\"5.\",\"c\":\"1.2.3\",\"d\":\"1e5\",\"e\":\"-\",\"f\":\"+1\","
		"\"g\":\"0x10\",\"h\":\"--1\",\"i\":\"1 2\"}");
}

static void a_number_that_nothing_can_hold_stays_text(void **state UNUSED)
{
	AUTO_BUF lines = BUF_INIT;
	AUTO_BUF want = BUF_INIT;

	buf_adds(&lines, "a: 1");
	buf_fill(&lines, '0', 400);
	buf_adds(&lines, "\n");
	buf_adds(&want, "{\"a\":\"1");
	buf_fill(&want, '0', 400);
	buf_adds(&want, "\"}");
	metadata(buf_cstr(&lines), buf_cstr(&want));
}

static void other_scalars_are_text_as_written(void **state UNUSED)
{
	metadata("a: x # y\nb: #x\nc: a: b\nd: x\\n\"y\ne: \xC3\xA9  \xC3\xA9\nf: \"\ng: 'x\" \n",
		"{\"a\":\"x # y\",\"b\":\"#x\",\"c\":\"a: b\",\"d\":\"x\\\\n\\\"y\","
		"\"e\":\"\xC3\xA9  \xC3\xA9\",\"f\":\"\\\"\",\"g\":\"'x\\\"\"}");
}

static void quotes_make_text_and_know_no_escapes(void **state UNUSED)
{
	metadata("a: \"007\"\nb: 'true'\nc: \"x\\n\"\nd: ''\ne: \"{\\\"a\\\":1}\"\nf: ' [a] '\n",
		"{\"a\":\"007\",\"b\":\"true\",\"c\":\"x\\\\n\",\"d\":\"\","
		"\"e\":\"{\\\\\\\"a\\\\\\\":1}\",\"f\":\" [a] \"}");
}

static void braces_and_brackets_are_json_if_they_can(void **state UNUSED)
{
	metadata("a: {\"x\": [1, 2.0, \"\\n\"]}\nb: [\"p\", true]\nc: {}\nd: []\n",
		"{\"a\":{\"x\":[1,2,\"\\n\"]},\"b\":[\"p\",true],\"c\":{},\"d\":[]}");
	metadata("a: {out}\nb: {a} {b}\nc: {x: 1}\nd: [x] y\ne: {\nf: [\n",
		"{\"a\":\"{out}\",\"b\":\"{a} {b}\",\"c\":\"{x: 1}\",\"d\":\"[x] y\",\"e\":\"{\","
		"\"f\":\"[\"}");
}

static void brackets_that_are_no_json_are_lists_of_scalars(void **state UNUSED)
{
	metadata("a: [a, b]\nb: [ x y ,7,true,'p, q',\"r\" ]\nc: [one]\nd: [a,]\n",
		"{\"a\":[\"a\",\"b\"],\"b\":[\"x y\",7,true,\"p, q\",\"r\"],\"c\":[\"one\"],"
		"\"d\":[\"a\"]}");
	metadata("a: [{x}, {\"k\": [1, 2]}, [p, q], m(a,b)]\nb: [a (b, c]\nc: [it's, so]\n",
		"{\"a\":[\"{x}\",{\"k\":[1,2]},\"[p, q]\",\"m(a,b)\"],\"b\":\"[a (b, c]\","
		"\"c\":[\"it's\",\"so\"]}");
	metadata("a: [x,,y]\nb: ['p, q]\nc: [), x]\n",
		"{\"a\":[\"x\",null,\"y\"],\"b\":[\"'p\",\"q\"],\"c\":[\")\",\"x\"]}");
}

static void a_key_without_a_value_is_null(void **state UNUSED)
{
	metadata("a:\nb: x\nc:\n  d:\n  e: \n",
		"{\"a\":null,\"b\":\"x\",\"c\":{\"d\":null,\"e\":null}}");
}

static void the_last_of_equal_keys_wins(void **state UNUSED)
{
	metadata("a: 1\nb: 2\na:\n  c: 3\n  c: 4\n", "{\"a\":{\"c\":4},\"b\":2}");
}

static void mappings_nest_by_indentation(void **state UNUSED)
{
	metadata("imports:\n  base:\n    from: lib.json\n    values:\n      x: vx\n  more: m\nd: "
		 "e\n",
		"{\"imports\":{\"base\":{\"from\":\"lib.json\",\"values\":{\"x\":\"vx\"}},"
		"\"more\":\"m\"},\"d\":\"e\"}");
}

static void any_consistent_indentation_will_do(void **state UNUSED)
{
	metadata("a:\n b:\n    c: 1\n    d: 2\n e: 3\nf:\n\tg: 4\n\th:\n\t  i: 5\n",
		"{\"a\":{\"b\":{\"c\":1,\"d\":2},\"e\":3},\"f\":{\"g\":4,\"h\":{\"i\":5}}}");
	metadata("a:\n   - x\n   - y\nb:\n\t- z\n", "{\"a\":[\"x\",\"y\"],\"b\":[\"z\"]}");
}

static void inconsistent_indentation_is_warned_about(void **state UNUSED)
{
	metadata_warned("a:\n    b: 1\n  c: 2\n", "{\"a\":{\"b\":1}}", 3, DEEPER);
	metadata_warned("a:\n  b: 1\n    c: 2\n  d: 3\n", "{\"a\":{\"b\":1,\"d\":3}}", 3, DEEPER);
	metadata_warned("a:\n\tb: 1\n        c: 2\n", "{\"a\":{\"b\":1}}", 3, DEEPER);
	metadata_warned("a: one\n  two\nb: x\n", "{\"a\":\"one\",\"b\":\"x\"}", 2, DEEPER);
}

static void lists_hold_scalars(void **state UNUSED)
{
	metadata("a:\n  - scope:path\n  - 'n: 1'\n  - 7\n  - {\"type\": \"t\"}\n  - [x, y]\n  -\n  "
		 "-\tz\n",
		"{\"a\":[\"scope:path\",\"n: 1\",7,{\"type\":\"t\"},[\"x\",\"y\"],null,\"z\"]}");
	metadata("a:\n  - x: y\n", "{\"a\":[\"x: y\"]}");
}

static void lists_may_stand_at_the_column_of_their_key(void **state UNUSED)
{
	metadata("args:\n- a\n- b\nmailbox:\n  accepts:\n  - c\n  emits:\n  - d\n",
		"{\"args\":[\"a\",\"b\"],\"mailbox\":{\"accepts\":[\"c\"],\"emits\":[\"d\"]}}");
	metadata_warned("a: x\n- b\n", "{\"a\":\"x\"}", 2, NO_KEY);
}

static void mappings_in_lists_are_warned_about(void **state UNUSED)
{
	metadata_warned("a:\n  - type: x\n    more: true\n  - y\n", "{\"a\":[\"type: x\",\"y\"]}",
		3, DEEPER);
	metadata_warned("a:\n- x\n  - y\n", "{\"a\":[\"x\"]}", 3, DEEPER);
}

static void a_block_with_a_key_in_it_is_a_mapping(void **state UNUSED)
{
	metadata_warned("a:\n  - x\n  b: 1\n", "{\"a\":{\"b\":1}}", 2, NO_KEY);
	metadata_warned("a:\n  -5\n", "{\"a\":{}}", 2, NO_KEY);
}

static void every_ignored_line_is_told(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x, "---\nd: {\n  \"a\": 1,\n  \"b\": 2\n}\n---\n" FENCE);
	assert_true(x.ok);
	assert_int_equal(x.warnings.warnings, 3);
	issue_is(&x.warnings, 0, 3, 3, DEEPER);
	issue_is(&x.warnings, 1, 4, 3, DEEPER);
	issue_is(&x.warnings, 2, 5, 1, NO_KEY);
	assert_true(x.warnings.issues.at[0].hint.len > 0);
	assert_int_equal(x.warnings.issues.at[0].mark_len, strlen("\"a\": 1,"));
}

static void comments_and_blank_lines_are_skipped_also_in_blocks(void **state UNUSED)
{
	metadata("# one\na:\n\n  b: 1\n# two\n   \n    # three\n  c: 2\n\nd:\n  - x\n\n  #y\n  - "
		 "z\n",
		"{\"a\":{\"b\":1,\"c\":2},\"d\":[\"x\",\"z\"]}");
}

static void literal_blocks_keep_their_lines(void **state UNUSED)
{
	metadata("a: |\n  one\n    two\n\n  # three\n  four \n\nb: x\n",
		"{\"a\":\"one\\n  two\\n\\n# three\\nfour \\n\",\"b\":\"x\"}");
	metadata("a: |-\n  one\n  two\n\nb: |+\n  one\n\n\nc: |\n\n  x\n",
		"{\"a\":\"one\\ntwo\",\"b\":\"one\\n\\n\\n\",\"c\":\"\\nx\\n\"}");
	metadata("a:\n  b: |\n    x: y\n    - z\n  c:\n    - |-\n      p\n      q\n    - >\n      "
		 "r\n      s\n",
		"{\"a\":{\"b\":\"x: y\\n- z\\n\",\"c\":[\"p\\nq\",\"r s\\n\"]}}");
	metadata("a: |\n\tx\n\t\ty\n", "{\"a\":\"x\\n\\ty\\n\"}");
}

static void folded_blocks_join_their_lines(void **state UNUSED)
{
	metadata("a: >\n  one\n  two\n\n  three\n\n\n  four\n",
		"{\"a\":\"one two\\nthree\\n\\nfour\\n\"}");
	metadata("a: >-\n  one\n    two\n    three\n  four\n  five\n",
		"{\"a\":\"one\\n  two\\n  three\\nfour five\"}");
	metadata("a: >+\n  one\n\n", "{\"a\":\"one\\n\\n\"}");
}

static void the_indentation_of_a_block_can_be_given(void **state UNUSED)
{
	metadata("a: |2\n    x\n  y\nb: |1-\n  z\nc: >-2\n    p\n  q\n",
		"{\"a\":\"  x\\ny\\n\",\"b\":\" z\",\"c\":\"  p\\nq\"}");
	metadata("a: |0\nb: |--\nc: |x\nd: >22\n",
		"{\"a\":\"|0\",\"b\":\"|--\",\"c\":\"|x\",\"d\":\">22\"}");
}

static void a_block_may_be_empty(void **state UNUSED)
{
	metadata("a: |\nb: >-\n\nc: |+\n\n\nd: |\n",
		"{\"a\":\"\",\"b\":\"\",\"c\":\"\\n\\n\",\"d\":\"\"}");
	metadata_warned("a: |\n    x\n  y\n", "{\"a\":\"x\\n\"}", 3, DEEPER);
}

static void line_breaks_may_be_those_of_windows(void **state UNUSED)
{
	recipe("---\r\ndefaults:\r\n  a: x\r\n  b: |\r\n    p\r\n    q\r\n---\r\n\r\n"
	       "```template\r\necho {a}\r\n```\r\n",
		"{\"defaults\":{\"a\":\"x\",\"b\":\"p\\nq\\n\"},\"template\":\"echo {a}\"}");
}

static void a_byte_order_mark_is_skipped(void **state UNUSED)
{
	READING x = { 0 };

	recipe("\xEF\xBB\xBF---\na: x\n---\n" FENCE, "{\"a\":\"x\",\"template\":\"echo hi\"}");
	read_text(&x, "\xEF\xBB\xBF---\na: x\n---\n" FENCE);
	assert_int_equal(region(&x, "a")->offset, 10);
}

static void bytes_that_are_no_text_are_refused_where_they_stand(void **state UNUSED)
{
	refused("---\na: x\xFFy\n---\n" FENCE, 2, 5, "byte 0xff is not valid UTF-8");
	refused("---\n---\n" FENCE "\n\xC3", 7, 1, "byte 0xc3 is not valid UTF-8");
}

static void zero_bytes_do_not_end_anything(void **state UNUSED)
{
	READING x = { 0 };

	read_bytes(&x, S("---\na: x\0y\n---\n```template\np\0q\n```\n"));
	assert_true(x.ok);
	assert_str(buf_str(&x.json), "{\"a\":\"x\\u0000y\",\"template\":\"p\\u0000q\"}");
}

static void args_may_be_a_comma_list(void **state UNUSED)
{
	metadata("args: scope:path, n:int\n", "{\"args\":[\"scope:path\",\"n:int\"]}");
	metadata("args: mode:enum(a,b), x\n", "{\"args\":[\"mode:enum(a,b)\",\"x\"]}");
	metadata("args: 'a, b,'\n", "{\"args\":[\"a\",\"b\"]}");
	metadata("args: one\n", "{\"args\":[\"one\"]}");
	metadata("args: [m:enum(a,b), x]\n", "{\"args\":[\"m:enum(a,b)\",\"x\"]}");
	metadata("args: m:enum(a, x\n", "{\"args\":[\"m:enum(a, x\"]}");
	metadata("args: |\n  a,\n  b\n", "{\"args\":[\"a\",\"b\"]}");
	metadata("values:\n  args: a, b\n", "{\"values\":{\"args\":\"a, b\"}}");
}

static void defaults_may_be_a_list_of_pairs(void **state UNUSED)
{
	metadata("defaults:\n  - scope: docs\n  - n: 3\n  - url: http://h:80/x\n  - flag\n  - e:\n",
		"{\"defaults\":{\"scope\":\"docs\",\"n\":3,\"url\":\"http://h:80/x\",\"flag\":\"\","
		"\"e\":null}}");
	metadata("defaults:\n- a: '7'\n- b: [x, y]\n- a: 8\n",
		"{\"defaults\":{\"a\":8,\"b\":[\"x\",\"y\"]}}");
	metadata("defaults: [a: 1, b]\n", "{\"defaults\":{\"a\":1,\"b\":\"\"}}");
	metadata("defaults: [\"a: 1\", {\"b\": 2}]\n", "{\"defaults\":{\"a\":1,\"b\":2}}");
	metadata_warned("defaults:\n  - 7\n  - a: 1\n", "{\"defaults\":{\"a\":1}}", 2,
		"item 1 of 'defaults' is ignored: it is a number, not 'key: value'");
	metadata_warned("defaults:\n  - a: 1\n  - : x\n", "{\"defaults\":{\"a\":1}}", 2,
		"item 2 of 'defaults' is ignored: it is a string without a key, not 'key: value'");
}

static void shorthands_are_neither_json_nor_exact(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x, "---\nargs: a, b\ndefaults: [\"a: 1\"]\n---\n" FENCE);
	assert_str(region_text(&x, "args"), "a, b");
	assert_false(region(&x, "args")->exact || region(&x, "args")->json);
	assert_str(region_text(&x, "defaults"), "[\"a: 1\"]");
	assert_false(region(&x, "defaults")->exact || region(&x, "defaults")->json);
}

/* `a:` and below it `a:` and so on, `levels` of them. */
static void nested(struct buf *b, unsigned levels)
{
	buf_reset(b);
	buf_adds(b, "---\n");
	for (unsigned i = 0; i < levels; i++) {
		buf_fill(b, ' ', i);
		buf_adds(b, "a:\n");
	}
	buf_adds(b, "b: 1\n---\n" FENCE);
}

static void depth_has_a_limit(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	READING x = { 0 };

	nested(&text, 65);
	read_bytes(&x, buf_str(&text));
	assert_true(x.ok);
	nested(&text, 66);
	read_bytes(&x, buf_str(&text));
	assert_int_equal(x.errors.errors, 1);
	issue_is(&x.errors, 0, 67, 66, "frontmatter is nested more than 64 levels deep");
	nested(&text, 5000);
	read_bytes(&x, buf_str(&text));
	assert_int_equal(x.errors.errors, 1);
}

static void only_marked_fences_are_executable(void **state UNUSED)
{
	recipe("---\n---\n# T\n\nSome `inline` {x}.\n\n```bash\necho no\n```\n\n```\necho "
	       "no\n```\n\n"
	       "```template\necho yes\n```\n\nMore.\n",
		"{\"template\":\"echo yes\"}");
	recipe("---\n---\n```TEMPLATE x=1\na\n```\n", "{\"template\":\"a\"}");
	recipe("---\n---\n```command-template\na\n```\n", "{\"template\":\"a\"}");
	recipe("---\n---\n``` Command\na\n```\n", "{\"template\":\"a\"}");
	recipe("---\n---\n```Json\n\"a\"\n```\n", "{\"template\":\"a\"}");
	recipe("---\n---\n```my-recipe\n\"a\"\n```\n", "{\"template\":\"a\"}");
	recipe("---\n---\n```template``` is a word\n\n```template\na\n```\n",
		"{\"template\":\"a\"}");
}

static void fences_may_be_indented_or_longer_and_tildes_are_prose(void **state UNUSED)
{
	recipe("---\n---\n1. do\n   ```template\n   echo a\n   echo b\n   ```\n",
		"{\"template\":\"echo a\\n   echo b\"}");
	recipe("---\n---\n````template\necho '```'\n```\n`````\n",
		"{\"template\":\"echo '```'\\n```\"}");
	recipe("---\n---\n~~~template\necho `x`\n```\n~~~\n" FENCE, "{\"template\":\"echo hi\"}");
	recipe("---\n---\n````markdown\n```template\nno\n```\n````\n~~~\n```template\nno\n```\n~~~"
	       "\n" FENCE,
		"{\"template\":\"echo hi\"}");
	recipe("---\n---\n```template\na\n``` b\nc\n```", "{\"template\":\"a\\n``` b\\nc\"}");
}

static void the_first_executable_fence_counts_and_others_are_warned_about(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x,
		"---\n---\n```json\n\"first\"\n```\n\n```template\nsecond\n```\n```json\n{\n```\n");
	assert_true(x.ok);
	assert_str(buf_str(&x.json), "{\"template\":\"first\"}");
	assert_int_equal(x.warnings.warnings, 2);
	issue_is(
		&x.warnings, 0, 7, 1, "the fence is ignored: only the first executable one counts");
	issue_is(&x.warnings, 1, 10, 1,
		"the fence is ignored: only the first executable one counts");
}

static void json_fences_must_be_json_and_say_where_not(void **state UNUSED)
{
	refused("---\n---\n\n```json\n{\"template\": \"x\",\n \"a\": tru}\n```\n", 6, 7,
		"not valid JSON: found tru, expected a value");
	refused("---\n---\n```recipe\necho x\n```\n", 4, 1,
		"not valid JSON: found echo, expected a value");
	refused("---\n---\n```json\n\n  [1,\n2\n```\n", 6, 2,
		"not valid JSON: the text ends too early");
	refused("\xEF\xBB\xBF---\r\n---\r\n```json\r\n{\r\n?\r\n```\r\n", 5, 1,
		"not valid JSON: found ?, expected a name in double quotes");
}

static void other_fences_are_json_when_they_look_so_and_parse(void **state UNUSED)
{
	recipe("---\n---\n```template\n[\"printf a\",\"cat\"]\n```\n",
		"{\"template\":[\"printf a\",\"cat\"]}");
	recipe("---\n---\n```template\n\"a b\"\n```\n", "{\"template\":\"a b\"}");
	recipe("---\n---\n```template\n\"a b\" c\n```\n", "{\"template\":\"\\\"a b\\\" c\"}");
	recipe("---\n---\n```template\n{cmd} hi\n```\n", "{\"template\":\"{cmd} hi\"}");
	recipe("---\n---\n```template\n[ -f x ]\n```\n", "{\"template\":\"[ -f x ]\"}");
	recipe("---\n---\n```template\n7\n```\n", "{\"template\":\"7\"}");
	recipe("---\n---\n```json\n7\n```\n", "{\"template\":7}");
}

static void a_recipe_object_is_laid_over_the_frontmatter(void **state UNUSED)
{
	recipe("---\nasync: true\ndefaults: {\"a\":\"fm\",\"b\":\"fm\"}\n---\n"
	       "```json\n{\"defaults\":{\"a\":\"js\"},\"label\":\"l\",\"template\":\"x\"}\n```\n",
		"{\"async\":true,\"defaults\":{\"a\":\"js\"},\"label\":\"l\",\"template\":\"x\"}");
	recipe("---\nasync: true\n---\n```json\n{\"name\":\"base\"}\n```\n",
		"{\"async\":true,\"template\":{\"name\":\"base\"}}");
	recipe("---\n---\n```template\n{\"retry\":2,\"template\":\"x\"}\n```\n",
		"{\"retry\":2,\"template\":\"x\"}");
}

static void a_fence_wins_over_a_template_in_the_frontmatter(void **state UNUSED)
{
	recipe("---\ntemplate: echo fm\na: 1\n---\n" FENCE, "{\"template\":\"echo hi\",\"a\":1}");
	recipe("---\ntemplate: echo fm\n---\n\ntext\n", "{\"template\":\"echo fm\"}");
	recipe("---\ntemplate:\n  - a\n  - b\n---\n```sh\nx\n```\n",
		"{\"template\":[\"a\",\"b\"]}");
}

static void a_recipe_without_a_template_is_refused(void **state UNUSED)
{
	refused("---\na: 1\n---\n\ntext\n", 3, 1,
		"the recipe has no executable fence and no 'template' in its frontmatter");
	refused("---\na: 1\n---", 3, 1,
		"the recipe has no executable fence and no 'template' in its frontmatter");
}

static void an_empty_executable_fence_is_refused(void **state UNUSED)
{
	refused("---\ntemplate: x\n---\n\n```template\n \n```\n", 5, 1,
		"the executable fence is empty");
	refused("---\n---\n  ```json\n```\n", 3, 3, "the executable fence is empty");
}

static void a_fence_that_does_not_end_is_told(void **state UNUSED)
{
	READING x = { 0 };

	refused("---\n---\n```template\necho hi\n", 3, 1, "the executable fence is not closed");
	refused("---\n---\n````json", 3, 1, "the executable fence is not closed");
	read_text(&x, "---\ntemplate: x\n---\n```sh\n" FENCE);
	assert_true(x.ok);
	read_text(&x, "---\ntemplate: x\n---\n````sh\n" FENCE);
	assert_true(x.ok);
	assert_int_equal(x.warnings.warnings, 1);
	issue_is(&x.warnings, 0, 4, 1, "the fence is not closed, so the rest of the file is in it");
}

static void a_command_is_trimmed_and_keeps_its_line_breaks(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x, "---\n---\n```template\n\n  npm run\r\n    check \n\n```\n");
	assert_str(buf_str(&x.json), "{\"template\":\"npm run\\r\\n    check\"}");
	assert_int_equal(x.warnings.warnings, 0);
	assert_true(region(&x, "template")->exact);
	assert_int_equal(region(&x, "template")->offset, 23);
}

static void a_backslash_before_a_line_break_is_warned_about(void **state UNUSED)
{
#define BACKSLASH "the backslash makes the line break a part of the argument"
	READING x = { 0 };

	read_text(&x, "---\n---\n```template\na \\\n  b \\\r\n  \"c\\\nd\"\n```\n");
	assert_true(x.ok);
	assert_int_equal(x.warnings.warnings, 3);
	issue_is(&x.warnings, 0, 4, 3, BACKSLASH);
	issue_is(&x.warnings, 1, 5, 5, BACKSLASH);
	issue_is(&x.warnings, 2, 6, 5, BACKSLASH);
	assert_true(json_object_get(x.md.object, "template") != NULL);
	read_text(&x, "---\n---\n```template\na \\\\\n'b \\\n' \\\"\nc\\\n```\n");
	assert_int_equal(x.warnings.warnings, 0);
	read_text(&x, "---\ntemplate: |\n  a \\\n  b\n---\n");
	assert_int_equal(x.warnings.warnings, 1);
	issue_is(&x.warnings, 0, 3, 5, BACKSLASH);
	read_text(&x, "---\ntemplate: >\n  a \\\n  b\n---\n");
	assert_int_equal(x.warnings.warnings, 0);
}

static void regions_say_where_members_stand(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x,
		"---\nplain:  some text \nquoted: 'q'\nnumber: 7\njson: {\"a\":1}\nlist: [a, b]\n"
		"block:\n\n  x: 1\n  y:\n    - z\n# c\ntext: |-\n  one\nempty:\n---\n" FENCE);
	assert_str(region_text(&x, "plain"), "some text");
	assert_true(region(&x, "plain")->exact);
	assert_str(region_text(&x, "quoted"), "q");
	assert_true(region(&x, "quoted")->exact);
	assert_str(region_text(&x, "number"), "7");
	assert_false(region(&x, "number")->exact || region(&x, "number")->json);
	assert_str(region_text(&x, "json"), "{\"a\":1}");
	assert_true(region(&x, "json")->json);
	assert_false(region(&x, "json")->member);
	assert_str(region_text(&x, "list"), "[a, b]");
	assert_false(region(&x, "list")->json);
	assert_str(region_text(&x, "block"), "x: 1\n  y:\n    - z");
	assert_str(region_text(&x, "text"), "one");
	assert_true(region(&x, "text")->exact);
	assert_str(region_text(&x, "empty"), "");
	assert_str(region_text(&x, "template"), "echo hi");
	assert_true(region(&x, "template")->exact);
}

static void regions_follow_what_wins(void **state UNUSED)
{
	READING x = { 0 };

	read_text(&x, "---\na: one\nb: 1\na: two\ntemplate: t\n---\n```json\n "
		      "{\"b\":2,\"template\":\"x\"}\n```\n");
	assert_str(region_text(&x, "a"), "two");
	assert_str(region_text(&x, "b"), "{\"b\":2,\"template\":\"x\"}");
	assert_true(region(&x, "b")->json && region(&x, "b")->member && !region(&x, "b")->exact);
	assert_true(region(&x, "template")->member);
	assert_int_equal(x.md.region_count, 3);
	read_text(&x, "---\ntemplate: t\n---\n```json\n\"x\"\n```\n");
	assert_str(region_text(&x, "template"), "\"x\"");
	assert_true(region(&x, "template")->json);
	assert_false(region(&x, "template")->member || region(&x, "template")->exact);
}

static void errors_and_warnings_may_go_to_one_report(void **state UNUSED)
{
	struct source source = { S("r.md"), S("---\njunk\n---\n") };
	AUTO_REPORT r = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct markdown md = { 0 };

	assert_false(markdown_read(&source, &a, &md, &r, &r));
	assert_int_equal(r.warnings, 1);
	assert_int_equal(r.errors, 1);
	assert_null(md.object);
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_example_of_the_standard_is_read),
		cmocka_unit_test(frontmatter_may_be_empty_and_its_marks_indented),
		cmocka_unit_test(a_file_without_frontmatter_is_refused),
		cmocka_unit_test(frontmatter_that_does_not_end_is_refused),
		cmocka_unit_test(all_mistakes_are_told_in_one_go),
		cmocka_unit_test(keys_stand_at_column_0_and_blanks_behind_the_colon_are_optional),
		cmocka_unit_test(scalars_have_types),
		cmocka_unit_test(a_number_that_nothing_can_hold_stays_text),
		cmocka_unit_test(other_scalars_are_text_as_written),
		cmocka_unit_test(quotes_make_text_and_know_no_escapes),
		cmocka_unit_test(braces_and_brackets_are_json_if_they_can),
		cmocka_unit_test(brackets_that_are_no_json_are_lists_of_scalars),
		cmocka_unit_test(a_key_without_a_value_is_null),
		cmocka_unit_test(the_last_of_equal_keys_wins),
		cmocka_unit_test(mappings_nest_by_indentation),
		cmocka_unit_test(any_consistent_indentation_will_do),
		cmocka_unit_test(inconsistent_indentation_is_warned_about),
		cmocka_unit_test(lists_hold_scalars),
		cmocka_unit_test(lists_may_stand_at_the_column_of_their_key),
		cmocka_unit_test(mappings_in_lists_are_warned_about),
		cmocka_unit_test(a_block_with_a_key_in_it_is_a_mapping),
		cmocka_unit_test(every_ignored_line_is_told),
		cmocka_unit_test(comments_and_blank_lines_are_skipped_also_in_blocks),
		cmocka_unit_test(literal_blocks_keep_their_lines),
		cmocka_unit_test(folded_blocks_join_their_lines),
		cmocka_unit_test(the_indentation_of_a_block_can_be_given),
		cmocka_unit_test(a_block_may_be_empty),
		cmocka_unit_test(line_breaks_may_be_those_of_windows),
		cmocka_unit_test(a_byte_order_mark_is_skipped),
		cmocka_unit_test(bytes_that_are_no_text_are_refused_where_they_stand),
		cmocka_unit_test(zero_bytes_do_not_end_anything),
		cmocka_unit_test(args_may_be_a_comma_list),
		cmocka_unit_test(defaults_may_be_a_list_of_pairs),
		cmocka_unit_test(shorthands_are_neither_json_nor_exact),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(only_marked_fences_are_executable),
		cmocka_unit_test(fences_may_be_indented_or_longer_and_tildes_are_prose),
		cmocka_unit_test(the_first_executable_fence_counts_and_others_are_warned_about),
		cmocka_unit_test(json_fences_must_be_json_and_say_where_not),
		cmocka_unit_test(other_fences_are_json_when_they_look_so_and_parse),
		cmocka_unit_test(a_recipe_object_is_laid_over_the_frontmatter),
		cmocka_unit_test(a_fence_wins_over_a_template_in_the_frontmatter),
		cmocka_unit_test(a_recipe_without_a_template_is_refused),
		cmocka_unit_test(an_empty_executable_fence_is_refused),
		cmocka_unit_test(a_fence_that_does_not_end_is_told),
		cmocka_unit_test(a_command_is_trimmed_and_keeps_its_line_breaks),
		cmocka_unit_test(a_backslash_before_a_line_break_is_warned_about),
		cmocka_unit_test(regions_say_where_members_stand),
		cmocka_unit_test(regions_follow_what_wins),
		cmocka_unit_test(errors_and_warnings_may_go_to_one_report),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("markdown", tests, NULL, NULL);
}
