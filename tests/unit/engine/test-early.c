#include "engine/early.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

#include "unit.h"

/* A command whose output is a file that the test makes longer, and the two ends of a pipe. */
struct bench {
	struct loop *loop;
	struct early early;
	struct executor executor;
	struct job job;
	int file, reader, writer;
	uint64_t size;
	unsigned gone;
	struct buf got;
};

static int peek(struct job *j, uint64_t *size)
{
	struct bench *b = container_of(j, struct bench, job);

	*size = b->size;
	return b->file;
}

static const struct executor_ops ops = { .peek = peek };

static void on_gone(struct early *e)
{
	container_of(e, struct bench, early)->gone++;
}

static void bench_begin(struct bench *b, bool prints)
{
	int ends[2];

	*b = (struct bench){ .executor.ops = &ops, .job.executor = &b->executor };
	b->loop = loop_new();
	b->file = memfd_create("output", MFD_CLOEXEC);
	assert_true(b->loop && b->file >= 0);
	assert_int_equal(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	b->reader = ends[0];
	b->writer = ends[1];
	early_start(&b->early, b->loop, b->writer, prints, on_gone);
}

static void bench_done(struct bench *b)
{
	early_stop(&b->early);
	loop_free(b->loop);
	close_fd(&b->file);
	close_fd(&b->reader);
	close_fd(&b->writer);
	buf_done(&b->got);
}

/* Bytes of which each says where it stands. */
static char byte_at(uint64_t at)
{
	return (char)('a' + at / 7 % 26);
}

static void print(struct bench *b, uint64_t bytes)
{
	AUTO_BUF text = BUF_INIT;

	for (uint64_t i = 0; i < bytes; i++)
		buf_addc(&text, byte_at(b->size + i));
	assert_int_equal(fd_write_all(b->file, buf_str(&text)), 0);
	b->size += bytes;
}

static void turn(struct bench *b)
{
	for (int i = 0; i < 4; i++)
		assert_true(loop_turn(b->loop, 0) >= 0);
}

/* Reads until there is nothing more. */
static void drain(struct bench *b)
{
	char piece[4096];
	ssize_t n;

	while (turn(b), (n = read(b->reader, piece, sizeof(piece))) > 0)
		buf_add(&b->got, (struct str){ piece, (size_t)n });
}

static void got_is(const struct bench *b, uint64_t bytes)
{
	assert_int_equal(b->got.len, bytes);
	assert_int_equal(b->early.at, bytes);
	for (size_t i = 0; i < b->got.len; i++)
		if (b->got.p[i] != byte_at(i))
			fail_msg("byte %zu", i);
}

static void little_output_waits_for_the_end(void **state UNUSED)
{
	struct bench b;

	bench_begin(&b, true);
	print(&b, EARLY_MIN - 1);
	early_came(&b.early, &b.job);
	drain(&b);
	got_is(&b, 0);
	print(&b, 1);
	early_came(&b.early, &b.job);
	drain(&b);
	got_is(&b, EARLY_MIN);
	bench_done(&b);
}

static void much_output_is_handed_over_as_it_comes(void **state UNUSED)
{
	struct bench b;

	bench_begin(&b, true);
	print(&b, EARLY_MIN + 12345);
	early_came(&b.early, &b.job);
	assert_true(b.early.at > 0 && b.early.at < b.size); /* as much as the pipe takes */
	drain(&b);
	got_is(&b, EARLY_MIN + 12345);
	print(&b, 3);
	early_came(&b.early, &b.job);
	drain(&b);
	got_is(&b, EARLY_MIN + 12348);
	assert_int_equal(b.gone, 0);
	bench_done(&b);
}

static void what_is_left_of_an_ended_command_is_not_pushed(void **state UNUSED)
{
	struct bench b;
	struct job other = { .executor = &b.executor };

	bench_begin(&b, true);
	print(&b, EARLY_MIN);
	early_came(&b.early, &b.job);
	uint64_t before = b.early.at;
	early_ended(&b.early, &other); /* which is not the one */
	assert_ptr_equal(b.early.job, &b.job);
	early_ended(&b.early, &b.job);
	drain(&b);
	got_is(&b, before);
	bench_done(&b);
}

static void a_run_that_does_not_print_there_pushes_nothing(void **state UNUSED)
{
	struct bench b;

	bench_begin(&b, false);
	print(&b, EARLY_MIN);
	early_came(&b.early, &b.job);
	drain(&b);
	got_is(&b, 0);
	close_fd(&b.reader); /* but it hears that the reader has gone */
	turn(&b);
	assert_int_equal(b.gone, 1);
	bench_done(&b);
}

static void a_reader_that_goes_away_is_told_once(void **state UNUSED)
{
	struct bench b;

	bench_begin(&b, true);
	print(&b, EARLY_MIN);
	early_came(&b.early, &b.job);
	close_fd(&b.reader);
	early_came(&b.early, &b.job); /* EPIPE, and no signal */
	assert_int_equal(b.gone, 1);
	turn(&b);
	early_came(&b.early, &b.job);
	assert_int_equal(b.gone, 1);
	assert_int_equal(b.early.fd, -1);
	bench_done(&b);
}

static void a_reader_may_go_before_anything_was_printed(void **state UNUSED)
{
	struct bench b;

	bench_begin(&b, true);
	turn(&b);
	assert_int_equal(b.gone, 0);
	close_fd(&b.reader);
	turn(&b);
	assert_int_equal(b.gone, 1);
	bench_done(&b);
}

static void an_output_that_is_in_no_file_waits(void **state UNUSED)
{
	struct bench b;
	struct executor_ops none = { 0 };

	bench_begin(&b, true);
	b.executor.ops = &none;
	early_came(&b.early, &b.job);
	got_is(&b, 0);
	b.executor.ops = &ops;
	print(&b, EARLY_MIN);
	int file = b.file;
	b.file = -1;
	early_came(&b.early, &b.job);
	got_is(&b, 0);
	b.file = file;
	bench_done(&b);
}

static void without_a_reader_nothing_happens(void **state UNUSED)
{
	struct bench b;

	bench_begin(&b, true);
	early_stop(&b.early);
	early_start(&b.early, b.loop, -1, true, on_gone);
	print(&b, EARLY_MIN);
	early_came(&b.early, &b.job);
	assert_null(b.early.job);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(little_output_waits_for_the_end),
		cmocka_unit_test(much_output_is_handed_over_as_it_comes),
		cmocka_unit_test(what_is_left_of_an_ended_command_is_not_pushed),
		cmocka_unit_test(a_run_that_does_not_print_there_pushes_nothing),
		cmocka_unit_test(a_reader_that_goes_away_is_told_once),
		cmocka_unit_test(a_reader_may_go_before_anything_was_printed),
		cmocka_unit_test(an_output_that_is_in_no_file_waits),
		cmocka_unit_test(without_a_reader_nothing_happens),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("early", tests, NULL, NULL);
}
