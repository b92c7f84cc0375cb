#include "engine/feed.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/file.h"

#include "unit.h"

static int collected, unread;

/* Only of what cannot be read. */
static void on_failed(struct live_owner *o UNUSED, int error, bool reading)
{
	if (!reading)
		fail_msg("errno %d", error);
	unread = error;
}

static void on_collected(struct live_owner *o UNUSED)
{
	collected++;
}

static struct live_owner owner = { .failed = on_failed, .collected = on_collected };

static void pattern(struct buf *b, size_t size)
{
	while (b->len < size)
		buf_printf(b, "%zu,", b->len);
	buf_truncate(b, size);
}

/* Takes what is there now; true at the end. */
static bool take(int fd, struct buf *ret)
{
	char chunk[30000];
	ssize_t n;

	while ((n = read(fd, chunk, sizeof(chunk))) > 0)
		buf_add(ret, (struct str){ chunk, (size_t)n });
	return n == 0;
}

static void start(struct live *live, struct feed *f, int *end)
{
	assert_int_equal(feed_start(live, f, end), 0);
	(void)fcntl(*end, F_SETFL, O_NONBLOCK);
}

static void every_reader_gets_all_of_it_as_it_comes(void **state UNUSED)
{
	struct loop *l = loop_new();
	AUTO_BUF want = BUF_INIT;
	struct buf got[2] = { BUF_INIT, BUF_INIT };
	struct feed f[2];
	int source[2], end[2];
	bool done[2] = { false, false };

	pattern(&want, 500000);
	assert_int_equal(pipe2(source, O_CLOEXEC | O_NONBLOCK), 0);
	struct live *live = live_new(l, source[0], -1, &owner);
	start(live, &f[0], &end[0]);
	struct str rest = buf_str(&want);
	while (rest.len > 250000) {
		ssize_t n = write(source[1], rest.p, 20000);

		rest = str_from(rest, n > 0 ? (size_t)n : 0);
		assert_int_equal(loop_turn(l, 0), 0);
		(void)take(end[0], &got[0]);
	}
	assert_true(got[0].len > 0);
	/* The second comes late and reads from the beginning. */
	start(live, &f[1], &end[1]);
	while (!done[0] || !done[1]) {
		ssize_t n = rest.len ? write(source[1], rest.p, MIN(rest.len, (size_t)20000)) : 0;

		rest = str_from(rest, n > 0 ? (size_t)n : 0);
		if (!rest.len)
			close_fd(&source[1]);
		assert_int_equal(loop_turn(l, 0), 0);
		for (int i = 0; i < 2; i++)
			done[i] = done[i] || take(end[i], &got[i]);
	}
	assert_bytes(buf_str(&got[0]), buf_str(&want));
	assert_bytes(buf_str(&got[1]), buf_str(&want));
	close_fd(&end[0]);
	close_fd(&end[1]);
	live_free(live);
	close_fd(&source[0]);
	buf_done(&got[0]);
	buf_done(&got[1]);
	loop_free(l);
}

static void a_reader_that_goes_away_harms_nobody(void **state UNUSED)
{
	struct loop *l = loop_new();
	AUTO_BUF got = BUF_INIT;
	struct feed gone, stays;
	int source[2], end[2];
	sigset_t before;

	/* The signal would be the default's death: whoever writes has to keep it away. */
	(void)sigprocmask(SIG_SETMASK, NULL, &before);
	assert_false(sigismember(&before, SIGPIPE));
	assert_int_equal(pipe2(source, O_CLOEXEC | O_NONBLOCK), 0);
	struct live *live = live_new(l, source[0], -1, &owner);
	start(live, &gone, &end[0]);
	start(live, &stays, &end[1]);
	assert_int_equal(loop_turn(l, 0), 0);
	/* In this order the data is seen before the reader's end. */
	assert_int_equal(write(source[1], "text", 4), 4);
	close_fd(&end[0]);
	assert_int_equal(loop_turn(l, 0), 0);
	close_fd(&source[1]);
	while (!take(end[1], &got))
		assert_int_equal(loop_turn(l, 1000), 0);
	assert_str(buf_str(&got), "text");
	feed_stop(&gone);
	feed_stop(&stays);
	close_fd(&end[1]);
	live_free(live);
	close_fd(&source[0]);
	loop_free(l);
}

static void a_regular_file_is_read_too(void **state UNUSED)
{
	struct loop *l = loop_new();
	AUTO_BUF want = BUF_INIT;
	AUTO_BUF got = BUF_INIT;
	AUTO_CLOSE int file = file_temp();
	struct feed f;
	int end;

	pattern(&want, 200000);
	assert_int_equal(fd_write_all(file, buf_str(&want)), 0);
	assert_int_equal(lseek(file, 0, SEEK_SET), 0);
	struct live *live = live_new(l, file, -1, &owner);
	start(live, &f, &end);
	while (!take(end, &got))
		assert_int_equal(loop_turn(l, 1000), 0);
	assert_bytes(buf_str(&got), buf_str(&want));
	close_fd(&end);
	live_free(live);
	loop_free(l);
}

static void collecting_hands_over_everything(void **state UNUSED)
{
	struct loop *l = loop_new();
	AUTO_BUF got = BUF_INIT;
	int source[2];

	collected = 0;
	assert_int_equal(pipe2(source, O_CLOEXEC), 0);
	assert_int_equal(write(source[1], "all of it", 9), 9);
	close_fd(&source[1]);
	struct live *live = live_new(l, source[0], -1, &owner);
	live_collect(live);
	while (!collected)
		assert_int_equal(loop_turn(l, 1000), 0);
	struct content *all = live_content(live);
	assert_int_equal(content_size(all), 9);
	assert_int_equal(content_head(all, 100, &got), 0);
	assert_str(buf_str(&got), "all of it");
	assert_int_equal(collected, 1);
	content_unref(all);
	live_free(live);
	close_fd(&source[0]);
	live_free(NULL);
	loop_free(l);
}

static void an_error_is_not_the_end(void **state)
{
	struct loop *l = loop_new();
	int dir = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	(void)state;
	collected = 0;
	struct live *live = live_new(l, dir, -1, &owner);
	live_collect(live);
	while (!unread && !collected)
		assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(unread, EISDIR);
	assert_int_equal(collected, 0);
	live_free(live);
	loop_free(l);
	(void)close(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_reader_gets_all_of_it_as_it_comes),
		cmocka_unit_test(a_regular_file_is_read_too),
		cmocka_unit_test(collecting_hands_over_everything),
		cmocka_unit_test(a_reader_that_goes_away_harms_nobody),
		cmocka_unit_test(an_error_is_not_the_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("feed", tests, NULL, NULL);
}
