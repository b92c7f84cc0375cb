#include "loop/loop.h"

#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/buf.h"

#include "unit.h"

/* What was called, in order. */
static struct buf called;

struct named_timer {
	struct timer timer;
	char name;
	struct loop *again; /* starts itself once more there */
};

static void on_timer(struct timer *t)
{
	struct named_timer *n = container_of(t, struct named_timer, timer);

	buf_addc(&called, n->name);
	assert_false(timer_running(t));
	if (n->again)
		timer_start(n->again, t, 0);
}

static struct loop *fresh(void)
{
	buf_reset(&called);
	struct loop *l = loop_new();
	assert_non_null(l);
	return l;
}

static void turn_until(struct loop *l, size_t calls)
{
	while (called.len < calls)
		assert_int_equal(loop_turn(l, 1000), 0);
}

static void timers_fire_in_order_of_time(void **state UNUSED)
{
	struct named_timer t[] = { { .name = 'c' }, { .name = 'a' }, { .name = 'b' },
		{ .name = 'd' } };
	static const uint64_t after[] = { 6, 0, 3, 9 };
	struct loop *l = fresh();

	for (size_t i = 0; i < 4; i++) {
		t[i].timer.fire = on_timer;
		timer_start(l, &t[i].timer, after[i]);
		assert_true(timer_running(&t[i].timer));
	}
	turn_until(l, 4);
	assert_str(buf_str(&called), "abcd");
	loop_free(l);
}

static void thousands_of_timers_keep_their_order(void **state UNUSED)
{
	enum { COUNT = 2000 };
	static struct named_timer t[COUNT];
	struct loop *l = fresh();
	uint64_t last = 0;

	for (size_t i = 0; i < COUNT; i++) {
		t[i] = (struct named_timer){ .timer.fire = on_timer, .name = 'x' };
		timer_start(l, &t[i].timer, i * 7919 % 5);
	}
	/* Every third is stopped again, every fifth moved. */
	size_t left = COUNT;
	for (size_t i = 0; i < COUNT; i++) {
		if (i % 3 == 0) {
			timer_stop(&t[i].timer);
			left--;
		} else if (i % 5 == 0) {
			timer_start(l, &t[i].timer, 2);
		}
	}
	while (called.len < left) {
		assert_int_equal(loop_turn(l, 1000), 0);
		assert_true(loop_now(l) >= last);
		last = loop_now(l);
		for (size_t i = 0; i < COUNT; i++)
			assert_true(!timer_running(&t[i].timer) || t[i].timer.due_ms > last ||
				    called.len < left);
	}
	assert_int_equal(called.len, left);
	loop_free(l);
}

static void starting_again_moves_a_timer(void **state UNUSED)
{
	struct named_timer a = { .timer.fire = on_timer, .name = 'a' };
	struct named_timer b = { .timer.fire = on_timer, .name = 'b' };
	struct loop *l = fresh();

	timer_start(l, &a.timer, 0);
	timer_start(l, &b.timer, 3);
	timer_start(l, &a.timer, 6);
	turn_until(l, 2);
	assert_str(buf_str(&called), "ba");
	timer_stop(&a.timer);
	timer_stop(&a.timer);
	loop_free(l);
}

static void a_timer_that_starts_itself_does_not_hold_the_turn(void **state UNUSED)
{
	struct named_timer a = { .timer.fire = on_timer, .name = 'a' };
	struct loop *l = fresh();

	a.again = l;
	timer_start(l, &a.timer, 0);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(called.len, 1);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(called.len, 2);
	timer_stop(&a.timer);
	loop_free(l);
}

static void a_timer_far_away_does_not_fire_now(void **state UNUSED)
{
	struct named_timer a = { .timer.fire = on_timer, .name = 'a' };
	struct loop *l = fresh();

	timer_start(l, &a.timer, UINT64_MAX);
	assert_int_equal(loop_turn(l, 0), 0);
	timer_start(l, &a.timer, 3000000000u);
	assert_int_equal(loop_turn(l, 0), 0);
	assert_int_equal(called.len, 0);
	loop_free(l);
}

struct named_call {
	struct deferred call;
	char name;
	struct loop *again;
	struct deferred *stop;
};

static void on_call(struct deferred *d)
{
	struct named_call *n = container_of(d, struct named_call, call);

	buf_addc(&called, n->name);
	if (n->again)
		deferred_start(n->again, d);
	if (n->stop)
		deferred_stop(n->stop);
}

static void deferred_calls_come_in_order_and_once(void **state UNUSED)
{
	struct named_call a = { { .call = on_call }, .name = 'a' };
	struct named_call b = { { .call = on_call }, .name = 'b' };
	struct loop *l = fresh();

	deferred_start(l, &a.call);
	deferred_start(l, &b.call);
	deferred_start(l, &a.call);
	assert_int_equal(called.len, 0);
	assert_int_equal(loop_turn(l, -1), 0);
	assert_str(buf_str(&called), "ab");
	assert_int_equal(loop_turn(l, 0), 0);
	assert_int_equal(called.len, 2);
	loop_free(l);
}

static void deferred_calls_may_start_and_stop_each_other(void **state UNUSED)
{
	struct named_call b = { { .call = on_call }, .name = 'b' };
	struct named_call a = { { .call = on_call }, .name = 'a', .stop = &b.call };
	struct loop *l = fresh();

	a.again = l;
	deferred_start(l, &a.call);
	deferred_start(l, &b.call);
	/* One that starts itself for ever does not hold the turn for ever. */
	assert_int_equal(loop_turn(l, -1), 0);
	assert_true(called.len > 0);
	assert_int_equal(str_find(buf_str(&called), 'b', 0), called.len);
	size_t before = called.len;
	assert_int_equal(loop_turn(l, -1), 0);
	assert_true(called.len > before);
	deferred_stop(&a.call);
	deferred_stop(&a.call);
	loop_free(l);
}

struct end {
	struct watch watch;
	int fds[2];
	struct watch *other; /* stopped by this one's callback */
};

static void on_ready(struct watch *w, uint32_t events)
{
	struct end *e = container_of(w, struct end, watch);
	char c;

	assert_true(events & EPOLLIN);
	assert_int_equal(read(w->fd, &c, 1), 1);
	buf_addc(&called, c);
	if (e->other)
		watch_stop(e->other);
}

static void open_end(struct loop *l, struct end *e)
{
	assert_int_equal(pipe(e->fds), 0);
	e->watch.ready = on_ready;
	assert_int_equal(watch_start(l, &e->watch, e->fds[0], EPOLLIN), 0);
}

static void close_end(struct end *e)
{
	watch_stop(&e->watch);
	watch_stop(&e->watch);
	close_fd(&e->fds[0]);
	close_fd(&e->fds[1]);
}

static void a_watch_is_told_when_its_descriptor_is_ready(void **state UNUSED)
{
	struct end e = { 0 };
	struct loop *l = fresh();

	open_end(l, &e);
	assert_int_equal(loop_turn(l, 0), 0);
	assert_int_equal(called.len, 0);
	assert_int_equal(write(e.fds[1], "x", 1), 1);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_str(buf_str(&called), "x");
	assert_true(watch_start(l, &e.watch, -1, EPOLLIN) < 0);
	close_end(&e);
	loop_free(l);
}

static void a_stopped_watch_hears_nothing_more_of_this_batch(void **state UNUSED)
{
	struct end a = { 0 }, b = { 0 };
	struct loop *l = fresh();

	open_end(l, &a);
	open_end(l, &b);
	a.other = &b.watch;
	b.other = &a.watch;
	assert_int_equal(write(a.fds[1], "a", 1), 1);
	assert_int_equal(write(b.fds[1], "b", 1), 1);
	assert_int_equal(loop_turn(l, 1000), 0);
	assert_int_equal(called.len, 1);
	assert_int_equal(loop_turn(l, 0), 0);
	assert_int_equal(called.len, 1);
	close_end(&a);
	close_end(&b);
	loop_free(l);
}

static void *wake(void *loop)
{
	loop_wake(loop);
	return NULL;
}

static void another_thread_can_end_a_wait(void **state UNUSED)
{
	struct loop *l = fresh();
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wake, l), 0);
	assert_int_equal(loop_turn(l, -1), 0);
	assert_int_equal(pthread_join(thread, NULL), 0);
	loop_free(l);
}

static bool readable(int fd, int timeout_ms)
{
	return poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, timeout_ms) == 1;
}

static void an_outer_loop_sees_when_there_is_something_to_do(void **state UNUSED)
{
	struct named_timer a = { .timer.fire = on_timer, .name = 'a' };
	struct named_call c = { { .call = on_call }, .name = 'c' };
	struct loop *l = fresh();
	int fd = loop_fd(l);

	assert_false(readable(fd, 0));
	loop_wake(l);
	assert_true(readable(fd, 5000));
	assert_int_equal(loop_turn(l, 0), 0);
	assert_false(readable(fd, 0));
	/* What is started outside a turn counts too. */
	timer_start(l, &a.timer, 1);
	assert_true(readable(fd, 5000));
	turn_until(l, 1);
	deferred_start(l, &c.call);
	assert_true(readable(fd, 5000));
	assert_int_equal(loop_turn(l, 0), 0);
	assert_str(buf_str(&called), "ac");
	loop_free(l);
}

static int tidy(void **state UNUSED)
{
	buf_done(&called);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timers_fire_in_order_of_time),
		cmocka_unit_test(thousands_of_timers_keep_their_order),
		cmocka_unit_test(starting_again_moves_a_timer),
		cmocka_unit_test(a_timer_that_starts_itself_does_not_hold_the_turn),
		cmocka_unit_test(a_timer_far_away_does_not_fire_now),
		cmocka_unit_test(deferred_calls_come_in_order_and_once),
		cmocka_unit_test(deferred_calls_may_start_and_stop_each_other),
		cmocka_unit_test(a_watch_is_told_when_its_descriptor_is_ready),
		cmocka_unit_test(a_stopped_watch_hears_nothing_more_of_this_batch),
		cmocka_unit_test(another_thread_can_end_a_wait),
		cmocka_unit_test(an_outer_loop_sees_when_there_is_something_to_do),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("loop", tests, NULL, tidy);
}
