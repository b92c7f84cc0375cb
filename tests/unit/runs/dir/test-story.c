#include "runs/dir/story.h"

#include "runs/root.h"

static void written_is(const struct story_line *line, const char *want)
{
	AUTO_BUF b = BUF_INIT;
	struct story_line back;

	story_write(&b, line);
	assert_str(buf_str(&b), want);
	assert_true(story_read(buf_str(&b), &arena, &back));
	assert_int_equal(back.kind, line->kind);
	assert_bytes(back.path, line->path);
	assert_int_equal(back.number, line->number);
	assert_int_equal(back.bytes, line->bytes);
	assert_bytes(back.label, line->label);
	assert_bytes(back.item, line->item);
}

static void what_is_written_reads_back(void **state UNUSED)
{
	written_is(&(struct story_line){ STORY_OUT, S("1.0"), 1, 4096, S("lint"),
			   S("a \"quoted\"\nitem") },
		"{\"p\":\"1.0\",\"a\":1,\"s\":\"out\",\"n\":4096,\"l\":\"lint\","
		"\"i\":\"a \\\"quoted\\\"\\nitem\"}\n");
	written_is(&(struct story_line){ .kind = STORY_ERR, .path = S("0"), .number = 2 },
		"{\"p\":\"0\",\"a\":2,\"s\":\"err\",\"n\":0}\n");
	written_is(&(struct story_line){ .kind = STORY_END, .path = S("r1"), .number = 17 },
		"{\"p\":\"r1\",\"a\":17,\"s\":\"end\"}\n");
	written_is(
		&(struct story_line){
			.kind = STORY_OUT, .path = S("0"), .number = 1, .bytes = INT64_MAX },
		"{\"p\":\"0\",\"a\":1,\"s\":\"out\",\"n\":9223372036854775807}\n");
}

static void half_a_line_is_none(void **state UNUSED)
{
	struct str whole = S("{\"p\":\"1.0\",\"a\":1,\"s\":\"out\",\"n\":4096,\"l\":\"lint\"}");
	struct story_line line;

	for (size_t n = 0; n < whole.len; n++)
		assert_false(story_read(str_sub(whole, 0, n), &arena, &line));
	assert_true(story_read(whole, &arena, &line));
}

static void what_is_not_such_a_line_is_none(void **state UNUSED)
{
	static const char *const odd[] = {
		"{\"p\":\"0\",\"a\":1,\"s\":\"in\",\"n\":1}",  /* an unknown kind */
		"{\"p\":\"0\",\"a\":1,\"s\":\"\",\"n\":1}",    /* an empty one */
		"{\"p\":\"0\",\"a\":1,\"s\":0,\"n\":1}",       /* not a string */
		"{\"p\":\"0\",\"a\":1,\"n\":1}",               /* none */
		"{\"p\":\"0\",\"a\":0,\"s\":\"out\",\"n\":1}", /* the first execution is 1 */
		"{\"p\":\"0\",\"a\":-1,\"s\":\"out\",\"n\":1}",
		"{\"p\":\"0\",\"s\":\"out\",\"n\":1}",
		"{\"p\":\"0\",\"a\":1,\"s\":\"out\",\"n\":-1}",
		"{\"p\":\"\",\"a\":1,\"s\":\"out\",\"n\":1}", /* of no leaf */
		"{\"a\":1,\"s\":\"out\",\"n\":1}",
		"[\"out\"]",
		"\"out\"",
		"{}",
		"",
	};
	struct story_line line;

	for (size_t i = 0; i < ARRAY_SIZE(odd); i++)
		assert_false(story_read(str_of(odd[i]), &arena, &line));
}

static void members_of_a_newer_version_do_not_matter(void **state UNUSED)
{
	struct story_line line;

	assert_true(story_read(
		S("{\"new\":[1],\"s\":\"err\",\"n\":3,\"a\":2,\"p\":\"1.0\"}\n"), &arena, &line));
	assert_int_equal(line.kind, STORY_ERR);
	assert_int_equal(line.bytes, 3);
	assert_int_equal(line.number, 2);
	assert_str(line.path, "1.0");
	assert_int_equal(line.label.len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_is_written_reads_back),
		T(half_a_line_is_none),
		T(what_is_not_such_a_line_is_none),
		T(members_of_a_newer_version_do_not_matter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("story", tests, NULL, NULL);
}
