#include "base/audit-file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "runs/root.h"

static void append(struct audit_file *f, const char *text)
{
	struct audit_place place;

	assert_int_equal(audit_file_append(f, str_of(text), &place), 0);
}

static bool note(void *data, struct str line)
{
	struct buf *b = data;

	buf_printf(b, "%.*s;", STR(line));
	return b->len < 40;
}

static struct str lines(struct str path)
{
	AUTO_BUF b = BUF_INIT;

	audit_file_each(path, note, &b);
	return arena_str(&arena, buf_str(&b));
}

/* So long that the next line begins a new file. Its bytes are not lines. */
static void grow(const char *name)
{
	assert_int_equal(truncate(at(name), AUDIT_ROTATE_BYTES + 1), 0);
}

static void lines_are_read_from_the_newest(void **state)
{
	struct str path = str_of(at("a.jsonl"));
	struct audit_file f = AUDIT_FILE(path);

	(void)state;
	assert_str(lines(path), "");
	append(&f, "one\n");
	append(&f, "two\n");
	assert_str(lines(path), "two;one;");
	audit_file_close(&f);
}

static void a_full_file_makes_room_and_four_are_kept(void **state)
{
	struct audit_file f = AUDIT_FILE(str_of(at("a.jsonl")));
	const char *const texts[] = { "1\n", "2\n", "3\n", "4\n", "5\n" };

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		append(&f, texts[i]);
		grow("a.jsonl");
	}
	append(&f, "6\n");
	assert_str(text_of("a.jsonl"), "6\n");
	assert_true(is_there("a.jsonl.3"));
	assert_false(is_there("a.jsonl.4"));
	audit_file_close(&f);
}

static void older_files_are_read_too(void **state)
{
	struct str path = str_of(at("a.jsonl"));

	(void)state;
	put("a.jsonl", "four\n");
	put("a.jsonl.1", "two\nthree\n");
	put("a.jsonl.2", "one\n");
	assert_str(lines(path), "four;three;two;one;");
}

static void two_that_append_share_one_file(void **state)
{
	struct str path = str_of(at("a.jsonl"));
	struct audit_file one = AUDIT_FILE(path), other = AUDIT_FILE(path);

	(void)state;
	append(&one, "a\n");
	append(&other, "b\n");
	grow("a.jsonl");
	append(&other, "c\n");
	append(&one, "d\n");
	assert_str(text_of("a.jsonl"), "c\nd\n");
	assert_false(is_there("a.jsonl.2"));
	audit_file_close(&one);
	audit_file_close(&other);
}

static void a_line_is_completed_in_its_place_only(void **state)
{
	struct audit_file f = AUDIT_FILE(str_of(at("a.jsonl")));
	struct audit_place place;

	(void)state;
	assert_int_equal(audit_file_append(&f, S("begun\n"), &place), 0);
	append(&f, "other\n");
	assert_int_equal(audit_file_amend(&f, &place, S("ended\n")), 0);
	assert_str(text_of("a.jsonl"), "ended\nother\n");
	grow("a.jsonl");
	append(&f, "first of the next\n");
	assert_int_equal(audit_file_amend(&f, &place, S("wrong\n")), -ESTALE);
	assert_str(text_of("a.jsonl"), "first of the next\n");
	audit_file_close(&f);
}

static void half_a_line_is_ended(void **state)
{
	struct audit_file f = AUDIT_FILE(str_of(at("a.jsonl")));

	(void)state;
	put("a.jsonl", "{\"half");
	append(&f, "whole\n");
	assert_str(text_of("a.jsonl"), "{\"half\nwhole\n");
	audit_file_close(&f);
}

static void a_pipe_is_not_an_audit(void **state)
{
	struct audit_file f = AUDIT_FILE(str_of(at("pipe"))), none = AUDIT_FILE(S(""));
	struct audit_place place;

	(void)state;
	assert_int_equal(mkfifo(at("pipe"), 0600), 0);
	assert_int_equal(audit_file_append(&f, S("x\n"), &place), -EINVAL);
	assert_int_equal(audit_file_append(&none, S("x\n"), &place), -EROFS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(lines_are_read_from_the_newest),
		T(a_full_file_makes_room_and_four_are_kept),
		T(older_files_are_read_too),
		T(two_that_append_share_one_file),
		T(a_line_is_completed_in_its_place_only),
		T(half_a_line_is_ended),
		T(a_pipe_is_not_an_audit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
