/* What a run has printed and made, read by name. */
#include "app/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "app/artifacts.h"
#include "app/face.h"

/* -- logs ----------------------------------------------------------------------------------------
 */

static struct str more(struct run_handle *h, struct log_cursor *c, size_t max)
{
	AUTO_BUF b = BUF_INIT;

	assert_int_equal(run_log_read(h, c, max, &b), 0);
	return arena_str(&arena, buf_str(&b));
}

static void a_cursor_reads_what_is_new(void **state UNUSED)
{
	struct log_cursor out = { .stream = LOG_STDOUT }, err = { .stream = LOG_STDERR };

	assert_int_equal(run_all(start("sh -c 'echo hello; echo bad >&2'", "one")), ROUX_DONE);
	struct run_handle *h = opened("one");
	assert_string_equal(run_log_path(h, LOG_STDOUT), at("state/runs/one/stdout.log"));
	assert_str(more(h, &out, 3), "hel");
	assert_str(more(h, &out, 100), "lo\n");
	assert_str(more(h, &out, 100), "");
	add("state/runs/one/stdout.log", S("more\n"));
	assert_str(more(h, &out, 100), "more\n");
	assert_true(str_contains(more(h, &err, 100), S("bad")));
	run_close(h);
}

static void count_all(struct log_counts *c, int fd)
{
	atomic_bool stop = false;

	for (bool some = true; some;) {
		struct log_counting *w = log_counting_begin(c, fd);

		if (!w)
			return;
		assert_null(log_counting_begin(c, fd)); /* one at a time */
		log_counting_work(w, &stop);
		some = log_counting_end(w, c);
	}
}

static void lines_of_a_large_log_are_numbered(void **state UNUSED)
{
	enum { LINES = 40000 };
	AUTO_BUF text = BUF_INIT;
	uint64_t left;

	for (int i = 0; i < LINES; i++)
		buf_printf(&text, "line %d\n", i);
	put("log", "");
	add("log", buf_str(&text));
	AUTO_CLOSE int fd = open(at("log"), O_RDONLY | O_CLOEXEC);
	struct log_counts *c = log_counts_new();
	assert_int_equal(log_counts_find(c, fd, text.len, &left), -1);
	assert_true(left > 0);
	assert_int_equal(log_counts_find(c, fd, 14, &left), 2); /* the first block needs no count */
	count_all(c, fd);
	assert_int_equal(log_counts_find(c, fd, text.len, &left), LINES);
	assert_int_equal(log_counts_find(c, fd, text.len - 1, &left), LINES - 1);
	/* It has grown: what was counted stays. */
	for (int i = 0; i < 10; i++)
		add("log", buf_str(&text));
	assert_int_equal(log_counts_find(c, fd, text.len, &left), LINES);
	assert_int_equal(log_counts_find(c, fd, 11 * text.len, &left), -1);
	count_all(c, fd);
	assert_int_equal(log_counts_find(c, fd, 11 * text.len, &left), 11 * LINES);
	/* It was written anew. */
	assert_int_equal(truncate(at("log"), 0), 0);
	for (int i = 0; i < 2; i++)
		add("log", buf_str(&text));
	assert_int_equal(log_counts_find(c, fd, 2 * text.len, &left), -1);
	count_all(c, fd);
	assert_int_equal(log_counts_find(c, fd, 2 * text.len, &left), 2 * LINES);
	log_counts_free(c);
}

static void a_replaced_file_is_read_from_its_beginning(void **state UNUSED)
{
	struct log_cursor out = { .stream = LOG_STDOUT };

	assert_int_equal(run_all(start("echo hello", "one")), ROUX_DONE);
	struct run_handle *h = opened("one");
	assert_str(more(h, &out, 100), "hello\n");
	put("other", "a longer text than before\n");
	assert_int_equal(rename(at("other"), run_log_path(h, LOG_STDOUT)), 0);
	assert_str(more(h, &out, 100), "a longer text than before\n");
	put("state/runs/one/stdout.log", "short\n");
	assert_str(more(h, &out, 100), "short\n");
	run_close(h);
}

static void a_log_that_is_gone_is_not_empty_and_a_pipe_is_refused(void **state UNUSED)
{
	struct log_cursor out = { .stream = LOG_STDOUT };
	AUTO_BUF b = BUF_INIT;

	assert_int_equal(run_all(start("false", "failed")), ROUX_FAILED);
	struct run_handle *failed = opened("failed");
	assert_int_equal(remove(run_log_path(failed, LOG_STDOUT)), 0);
	assert_str(more(failed, &out, 100), ""); /* it need not have come so far */
	run_close(failed);
	assert_int_equal(run_all(start("echo hello", "one")), ROUX_DONE);
	struct run_handle *h = opened("one");
	const char *path = run_log_path(h, LOG_STDOUT);
	assert_int_equal(remove(path), 0);
	assert_int_equal(run_log_read(h, &out, 100, &b), -ENOENT);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(run_log_read(h, &out, 100, &b), -EINVAL);
	assert_int_equal(remove(path), 0);
	assert_int_equal(symlink("/etc/passwd", path), 0);
	assert_int_equal(run_log_read(h, &out, 100, &b), -ELOOP);
	assert_int_equal(b.len, 0);
	run_close(h);
}

/* -- artifacts -----------------------------------------------------------------------------------
 */

static bool note(void *data, const struct artifact *a)
{
	buf_printf(data, "%.*s=%.*s:%d ", STR(a->name), STR(a->path), a->exists);
	assert_true(json_is_object(a->facts));
	return true;
}

static bool one_only(void *data, const struct artifact *a UNUSED)
{
	++*(int *)data;
	return false;
}

static void refuse_strangers(struct run_handle *h)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_int_equal(artifact_open(h, S("made.txt"), &r), -1);
	assert_refused(&r, "no such artifact");
	assert_int_equal(artifact_open(h, S("lost"), &r), -1);
	assert_int_equal(r.errors, 1);
	assert_null(report_refusal(&r));
	report_reset(&r);
	assert_int_equal(artifact_open(h, S("pipe"), &r), -1);
	assert_int_equal(r.errors, 1);
}

static void look_at_artifacts(struct run_handle *h)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	char text[16] = "";
	int count = 0;

	artifacts_each(h, note, &b);
	assert_str(buf_str(&b), "made=made.txt:1 lost=lost.txt:0 pipe=pipe:1 ");
	artifacts_each(h, one_only, &count);
	assert_int_equal(count, 1);
	AUTO_CLOSE int fd = artifact_open(h, S("made"), &r);
	assert_right(&r);
	assert_int_equal(read(fd, text, sizeof(text)), 5);
	assert_string_equal(text, "made\n");
	refuse_strangers(h);
}

static void artifacts_are_opened_by_their_declared_names(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *declared = json_pack(
		"{s:s, s:s, s:s}", "made", "made.txt", "lost", "lost.txt", "pipe", "pipe");
	struct request q = request_as("one");

	q.artifacts = declared;
	struct run_handle *h = start_with("sh -c 'echo made >made.txt; mkfifo pipe'", &q);
	assert_true(run_wait(h, &r));
	look_at_artifacts(h);
	run_close(h);
	open_again();
	h = opened("one");
	look_at_artifacts(h);
	run_close(h);
}

static void a_run_that_is_not_recorded_has_no_files(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct log_cursor out = { .stream = LOG_STDOUT };
	struct run_handle *h = start("echo hello", NULL);
	int count = 0;

	assert_true(run_wait(h, &r));
	assert_str(more(h, &out, 100), "");
	artifacts_each(h, one_only, &count);
	assert_int_equal(count, 0);
	assert_int_equal(artifact_open(h, S("made"), &r), -1);
	assert_refused(&r, "no such artifact");
	run_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(a_cursor_reads_what_is_new),
		F(lines_of_a_large_log_are_numbered),
		F(a_replaced_file_is_read_from_its_beginning),
		F(a_log_that_is_gone_is_not_empty_and_a_pipe_is_refused),
		F(artifacts_are_opened_by_their_declared_names),
		F(a_run_that_is_not_recorded_has_no_files),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("logs", tests, NULL, NULL);
}
