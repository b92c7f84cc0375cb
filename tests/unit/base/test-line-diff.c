#include "base/line-diff.h"

#include "base/buf.h"
#include "unit.h"

static void note(void *data, enum line_mark mark, struct str line)
{
	buf_printf(data, "%c%.*s|", (char)mark, STR(line));
}

static struct buf shown;

static const char *diff(const char *old, const char *now, size_t context)
{
	buf_reset(&shown);
	line_diff(str_of(old), str_of(now), context, note, &shown);
	return buf_cstr(&shown);
}

static void lines_that_differ_are_told_with_those_around_them(void **state UNUSED)
{
	assert_string_equal(diff("a\nb\nc\n", "a\nx\nc\n", 1), " a|-b|+x| c|");
	assert_string_equal(diff("a\nb\n", "a\nb\nc\n", 3), " a| b|+c|");
	assert_string_equal(diff("a\nb\nc\n", "b\nc\n", 0), "-a|");
	assert_string_equal(diff("", "a\n", 3), "+a|");
	assert_string_equal(diff("a", "", 3), "-a|");
	assert_string_equal(diff("a\nb\nc\nd\n", "b\nc\nx\nd\ny\n", 0), "-a|@|+x|@|+y|");
}

static void what_is_the_same_is_left_out(void **state UNUSED)
{
	assert_string_equal(diff("a\nb\n", "a\nb\n", 3), "");
	assert_string_equal(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "1\n2\n3\n4\n5\n6\n7\n8\nx\n", 1),
		"@| 8|-9|+x|");
	assert_string_equal(diff("1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n", 1),
		"-1|+x| 2|@| 8|-9|+y|");
}

/* Too many to compare each with each: all of them are replaced. */
static void large_texts_have_an_end(void **state UNUSED)
{
	AUTO_BUF a = BUF_INIT;
	AUTO_BUF b = BUF_INIT;

	buf_adds(&a, "head\n");
	buf_adds(&b, "head\n");
	for (int i = 0; i < 5000; i++) {
		buf_printf(&a, "old %d\n", i);
		buf_printf(&b, "new %d\n", i);
	}
	const char *text = diff(buf_cstr(&a), buf_cstr(&b), 1);
	assert_memory_equal(text, " head|-old 0|-old 1|", 20);
	assert_non_null(strstr(text, "-old 4999|+new 0|"));
	buf_done(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_that_differ_are_told_with_those_around_them),
		cmocka_unit_test(what_is_the_same_is_left_out),
		cmocka_unit_test(large_texts_have_an_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("line-diff", tests, NULL, NULL);
}
