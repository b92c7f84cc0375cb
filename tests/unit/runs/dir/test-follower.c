#include "runs/dir/follower.h"

#include <errno.h>

#include "runs/dir/lines.h"
#include "runs/root.h"

/* What was seen: "0:text 1:more ". */
static struct buf said;
static struct follower follower;

static int start(void **state)
{
	follower = (struct follower){ .fd = -1 };
	return begin(state);
}

static int finish(void **state)
{
	follower_done(&follower);
	buf_done(&said);
	return end(state);
}

#define F(name) cmocka_unit_test_setup_teardown(name, start, finish)

static bool say(void *data, const struct followed_line *line)
{
	unsigned *most = data;

	if (line->marker)
		buf_adds(&said, "rotated ");
	else
		buf_printf(&said, "%zu:%.*s ", line->index, STR(line->text));
	return !most || --*most;
}

static const char *more(void)
{
	buf_reset(&said);
	assert_int_equal(follower_read(&follower, say, NULL), 0);
	return buf_cstr(&said);
}

static void follow(int flags)
{
	follower_init(&follower, root, "x.jsonl", flags);
}

static void rotate(void)
{
	struct line_log log;

	line_log_init(&log, root, "x.jsonl", 0);
	assert_int_equal(line_log_rotate(&log, S("")), 0);
	line_log_done(&log);
}

static void lines_come_once_and_when_they_are_complete(void **state UNUSED)
{
	follow(0);
	assert_string_equal(more(), "");
	put("x.jsonl", "a\nb\nc");
	assert_string_equal(more(), "0:a 1:b ");
	assert_string_equal(more(), "");
	add("x.jsonl", S("c"));
	assert_string_equal(more(), "");
	add("x.jsonl", S("c\n\nd\n"));
	assert_string_equal(more(), "2:ccc 3:d ");
}

static void a_missing_file_is_made_when_asked_for(void **state UNUSED)
{
	follow(FOLLOW_CREATE);
	assert_string_equal(more(), "");
	assert_true(is_there("x.jsonl"));
	assert_true(follower.fd >= 0);
	assert_true(follower_idle(&follower));
	add("x.jsonl", S("a\n"));
	assert_false(follower_idle(&follower));
	assert_string_equal(more(), "0:a ");
}

static bool see_offset(void *data, const struct followed_line *line)
{
	char text[16];

	assert_true(line->text.len < sizeof(text));
	assert_int_equal(pread(follower.fd, text, line->text.len, line->offset), line->text.len);
	assert_bytes(((struct str){ text, line->text.len }), line->text);
	++*(unsigned *)data;
	return true;
}

static void a_line_can_be_read_again_at_its_offset(void **state UNUSED)
{
	unsigned count = 0;

	follow(0);
	put("x.jsonl", "one\ntw");
	assert_int_equal(follower_read(&follower, see_offset, &count), 0);
	add("x.jsonl", S("o\nthree\n"));
	assert_int_equal(follower_read(&follower, see_offset, &count), 0);
	assert_int_equal(count, 3);
}

static void a_rotated_file_is_read_to_its_end_first(void **state UNUSED)
{
	follow(0);
	put("x.jsonl", "a\n");
	assert_string_equal(more(), "0:a ");
	add("x.jsonl", S("b\n"));
	rotate();
	add("x.jsonl", S("c\n"));
	assert_string_equal(more(), "1:b rotated 2:c ");
}

static void who_comes_late_begins_with_the_rotated_file(void **state UNUSED)
{
	put("x.jsonl", "a\nb\n");
	rotate();
	add("x.jsonl", S("c\n"));
	rotate();
	add("x.jsonl", S("d\n"));
	follow(FOLLOW_ROTATED);
	assert_string_equal(more(), "rotated 2:c rotated 3:d ");
	assert_string_equal(more(), "");
	rotate();
	add("x.jsonl", S("e\n"));
	assert_string_equal(more(), "rotated 4:e ");
}

static void two_rotations_between_two_reads_keep_the_numbers(void **state UNUSED)
{
	follow(FOLLOW_ROTATED);
	put("x.jsonl", "a\n");
	assert_string_equal(more(), "0:a ");
	rotate();
	add("x.jsonl", S("b\n"));
	rotate();
	add("x.jsonl", S("c\n"));
	assert_string_equal(more(), "rotated 1:b rotated 2:c ");
}

static void a_replaced_or_cut_file_is_read_from_its_beginning(void **state UNUSED)
{
	follow(0);
	put("x.jsonl", "first one\n");
	assert_string_equal(more(), "0:first one ");
	put("x.jsonl", "cut\n");
	assert_string_equal(more(), "1:cut ");
	assert_int_equal(unlink(at("x.jsonl")), 0);
	assert_false(follower_idle(&follower));
	put("x.jsonl", "new\n");
	assert_string_equal(more(), "2:new ");
}

static void a_line_that_is_too_long_is_left_out_and_counts(void **state UNUSED)
{
	AUTO_BUF line = BUF_INIT;

	follow(0);
	buf_reserve(&line, LINE_MAX_BYTES + 2);
	memset(line.p, 'x', LINE_MAX_BYTES + 1);
	line.len = LINE_MAX_BYTES + 1;
	put("x.jsonl", "a\n");
	add("x.jsonl", buf_str(&line));
	assert_string_equal(more(), "0:a ");
	add("x.jsonl", S("yet more\nb\n"));
	assert_string_equal(more(), "2:b ");
}

static void after_false_no_more_lines_come(void **state UNUSED)
{
	unsigned most = 1;

	follow(0);
	put("x.jsonl", "a\nb\n");
	assert_int_equal(follower_read(&follower, say, &most), 0);
	assert_str(buf_str(&said), "0:a ");
}

static int take(void *data, struct str piece)
{
	int *answer = data;

	buf_add(&said, piece);
	return *answer;
}

static void bytes_come_as_they_are(void **state UNUSED)
{
	int answer = 0;

	follow(0);
	put("x.jsonl", "no end");
	assert_int_equal(follower_read_bytes(&follower, take, &answer), 0);
	add("x.jsonl", S("\n\n\xff"));
	assert_int_equal(follower_read_bytes(&follower, take, &answer), 0);
	assert_str(buf_str(&said), "no end\n\n\xff");
	answer = -EPIPE;
	add("x.jsonl", S("x"));
	assert_int_equal(follower_read_bytes(&follower, take, &answer), -EPIPE);
}

static void what_is_not_a_file_is_an_error(void **state UNUSED)
{
	follow(0);
	assert_int_equal(mkdir(at("x.jsonl"), 0700), 0);
	assert_true(follower_read(&follower, say, NULL) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(lines_come_once_and_when_they_are_complete),
		F(a_missing_file_is_made_when_asked_for),
		F(a_line_can_be_read_again_at_its_offset),
		F(a_rotated_file_is_read_to_its_end_first),
		F(who_comes_late_begins_with_the_rotated_file),
		F(two_rotations_between_two_reads_keep_the_numbers),
		F(a_replaced_or_cut_file_is_read_from_its_beginning),
		F(a_line_that_is_too_long_is_left_out_and_counts),
		F(after_false_no_more_lines_come),
		F(bytes_come_as_they_are),
		F(what_is_not_a_file_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("follower", tests, NULL, NULL);
}
