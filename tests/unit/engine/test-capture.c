#include "engine/capture.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"

#include "unit.h"

static size_t came, ended;
static struct capture_room room;
static struct store store = { .spool = -1, .spare = -1, .null = -1 };

static void on_came(struct capture *c UNUSED, struct str data UNUSED)
{
	came++;
}

static void on_ended(struct capture *c)
{
	assert_int_equal(c->fd, -1);
	ended++;
}

static void pattern(struct buf *b, size_t size)
{
	while (b->len < size)
		buf_printf(b, "%zu,", b->len);
	buf_truncate(b, size);
}

/* Writes as much as the pipe takes, turns, and so on. */
static void pour(struct loop *l, struct str text, int end)
{
	(void)fcntl(end, F_SETFL, O_NONBLOCK);
	while (text.len) {
		ssize_t n = write(end, text.p, MIN(text.len, (size_t)50000));

		if (n > 0)
			text = str_from(text, (size_t)n);
		assert_int_equal(loop_turn(l, 0), 0);
	}
}

static void begin(struct loop *l, struct capture *c, enum capture_mode mode, int *end)
{
	*c = (struct capture){ .room = &room, .store = &store, .came = on_came, .ended = on_ended };
	came = ended = 0;
	assert_int_equal(capture_open(c, mode, end), 0);
	capture_watch(l, c);
}

static void finish(struct loop *l, struct capture *c, int *end)
{
	close_fd(end);
	while (!ended)
		assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(ended, 1);
	assert_int_equal(c->error, 0);
}

static void all_of_it_is_kept_however_much_it_is(void **state UNUSED)
{
	static const size_t sizes[] = { 0, 1, 65536, CONTENT_MEMORY_MAX, CONTENT_MEMORY_MAX + 1,
		3000000 };
	struct loop *l = loop_new();

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		AUTO_BUF want = BUF_INIT;
		AUTO_BUF got = BUF_INIT;
		struct capture c;
		int end;

		begin(l, &c, CAPTURE_ALL, &end);
		pattern(&want, sizes[i]);
		pour(l, buf_str(&want), end);
		finish(l, &c, &end);
		assert_int_equal(c.bytes, sizes[i]);
		assert_int_equal(came > 0, sizes[i] > 0);
		struct content *all = capture_take(&c);
		assert_int_equal(content_size(all), sizes[i]);
		assert_int_equal(content_put(&(struct content_out){ -1, &got }, all), 0);
		assert_bytes(buf_str(&got), buf_str(&want));
		content_unref(all);
		capture_done(&c);
	}
	loop_free(l);
}

static void of_the_ends_the_beginning_and_the_end_are_kept(void **state UNUSED)
{
	static const size_t sizes[] = { 0, 1, CAPTURE_END - 1, CAPTURE_END, CAPTURE_END + 1,
		CAPTURE_END * 2, CAPTURE_END * 2 + 77, 300000 };
	static const size_t pieces[] = { 1000000, 4096, 4095, 333 };
	struct loop *l = loop_new();

	for (size_t i = 0; i < ARRAY_SIZE(sizes) * ARRAY_SIZE(pieces); i++) {
		size_t size = sizes[i % ARRAY_SIZE(sizes)];
		AUTO_BUF want = BUF_INIT;
		AUTO_BUF tail = BUF_INIT;
		struct capture c;
		int end;

		begin(l, &c, CAPTURE_ENDS, &end);
		pattern(&want, size);
		for (struct str rest = buf_str(&want); rest.len;) {
			size_t step = MIN(rest.len, pieces[i / ARRAY_SIZE(sizes)]);

			pour(l, str_sub(rest, 0, step), end);
			rest = str_from(rest, step);
		}
		finish(l, &c, &end);
		assert_int_equal(c.bytes, size);
		assert_bytes(capture_head(&c),
			str_sub(buf_str(&want), 0, MIN(size, (size_t)CAPTURE_END)));
		capture_tail(&c, &tail);
		size_t last = MIN(size, (size_t)CAPTURE_END);
		assert_bytes(buf_str(&tail), str_from(buf_str(&want), size - last));
		capture_done(&c);
	}
	loop_free(l);
}

static void a_pipe_that_something_holds_open_can_be_let_go(void **state UNUSED)
{
	struct loop *l = loop_new();
	struct capture c;
	int end;

	begin(l, &c, CAPTURE_ALL, &end);
	assert_int_equal(write(end, "kept", 4), 4);
	capture_drain(&c);
	assert_int_equal(c.bytes, 4);
	capture_close(&c);
	assert_int_equal(ended, 0);
	AUTO_BUF got = BUF_INIT;
	struct content *all = capture_take(&c);
	assert_int_equal(content_head(all, 100, &got), 0);
	assert_str(buf_str(&got), "kept");
	content_unref(all);
	capture_done(&c);
	capture_done(&c);
	close_fd(&end);
	loop_free(l);
}

static void draining_does_not_wait(void **state UNUSED)
{
	struct loop *l = loop_new();
	struct capture c;
	int end;

	begin(l, &c, CAPTURE_ENDS, &end);
	capture_drain(&c);
	assert_int_equal(c.bytes, 0);
	assert_int_equal(write(end, "x", 1), 1);
	close_fd(&end);
	capture_drain(&c);
	capture_drain(&c);
	assert_int_equal(ended, 1);
	capture_drain(&c);
	assert_int_equal(ended, 1);
	capture_done(&c);
	loop_free(l);
}

static int tidy(void **state UNUSED)
{
	capture_room_done(&room);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it_is_kept_however_much_it_is),
		cmocka_unit_test(of_the_ends_the_beginning_and_the_end_are_kept),
		cmocka_unit_test(a_pipe_that_something_holds_open_can_be_let_go),
		cmocka_unit_test(draining_does_not_wait),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("capture", tests, NULL, tidy);
}
