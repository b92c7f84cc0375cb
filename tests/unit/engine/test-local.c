#include "engine/local.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "loop/tree.h"

#include "unit.h"

/* The executor for processes of this machine, by itself. */

struct watcher {
	struct job_owner owner;
	struct job *job;
	bool began, ended;
	struct job_end end;
	struct buf printed;
};

static struct watcher *watcher_of(struct job_owner *o)
{
	return container_of(o, struct watcher, owner);
}

static void on_began(struct job_owner *o, const struct job_away *away UNUSED)
{
	watcher_of(o)->began = true;
}

static void on_output(
	struct job_owner *o, enum job_stream stream, struct str data, uint64_t total UNUSED)
{
	if (stream == JOB_STDOUT)
		buf_add(&watcher_of(o)->printed, data);
}

static void on_ended(struct job_owner *o, const struct job_end *end)
{
	watcher_of(o)->ended = true;
	watcher_of(o)->end = *end;
}

static const struct job_owner_ops owner_ops = { on_began, on_output, on_ended };

struct bench {
	struct loop *loop;
	struct store store;
	struct executor *executor;
};

static void bench_init(struct bench *b, uint64_t grace_ms)
{
	b->loop = loop_new();
	b->store = STORE_INIT;
	b->executor = local_executor(
		b->loop, &(struct surroundings){ .whole = true, .grace_ms = grace_ms });
	b->executor->store = &b->store;
}

static void bench_done(struct bench *b)
{
	b->executor->ops->close(b->executor);
	store_done(&b->store);
	loop_free(b->loop);
}

static int start(struct bench *b, struct watcher *w, const char *script, bool keep_err)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	int error = 0;

	*w = (struct watcher){ .owner.ops = &owner_ops };
	w->job = b->executor->ops->start(b->executor,
		&(struct job_spec){ .argv = argv, .argc = 3, .in_fd = -1, .keep_err = keep_err },
		&w->owner, &error);
	return error;
}

static void wait_for_end(struct bench *b, const struct watcher *w)
{
	while (!w->ended)
		assert_true(loop_turn(b->loop, -1) >= 0);
}

/* The number on the first line that it prints. */
static pid_t printed_pid(struct bench *b, const struct watcher *w)
{
	while (!str_contains(buf_str(&w->printed), S("\n")))
		assert_true(loop_turn(b->loop, -1) >= 0);
	return (pid_t)strtol(buf_cstr(&w->printed), NULL, 10);
}

static void watcher_done(struct watcher *w)
{
	job_free(w->job);
	buf_done(&w->printed);
}

static void assert_take(struct content *c, const char *want)
{
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(content_head(c, 4096, &text), 0);
	assert_str(buf_str(&text), want);
	content_unref(c);
}

static void a_process_exits_with_a_code(void **state UNUSED)
{
	struct bench b;
	struct watcher w;
	AUTO_BUF head = BUF_INIT;
	AUTO_BUF tail = BUF_INIT;

	bench_init(&b, 1000);
	assert_int_equal(start(&b, &w, "echo out; echo err >&2; exit 7", false), 0);
	assert_true(w.began);
	wait_for_end(&b, &w);
	assert_int_equal(w.end.code, 7);
	assert_int_equal(w.end.signal, 0);
	assert_int_equal(w.end.err_bytes, 4);
	assert_false(w.end.held || w.end.lost || w.end.timed_out || w.end.cut);
	assert_take(job_take_out(w.job), "out\n");
	job_err_ends(w.job, &head, &tail);
	assert_str(buf_str(&head), "err\n");
	assert_str(buf_str(&tail), "err\n");
	watcher_done(&w);
	bench_done(&b);
}

static void standard_error_is_kept_when_asked_for(void **state UNUSED)
{
	struct bench b;
	struct watcher w;

	bench_init(&b, 1000);
	assert_int_equal(start(&b, &w, "echo err >&2", true), 0);
	wait_for_end(&b, &w);
	assert_take(job_take_err(w.job), "err\n");
	watcher_done(&w);
	bench_done(&b);
}

static void a_process_dies_of_a_signal(void **state UNUSED)
{
	struct bench b;
	struct watcher w;

	bench_init(&b, 1000);
	assert_int_equal(start(&b, &w, "kill -KILL $$", false), 0);
	wait_for_end(&b, &w);
	assert_int_equal(w.end.signal, SIGKILL);
	watcher_done(&w);
	bench_done(&b);
}

static void a_missing_program_cannot_start(void **state UNUSED)
{
	const char *argv[] = { "there-is-no-such-program", NULL };
	struct bench b;
	struct watcher w = { .owner.ops = &owner_ops };
	int error = 0;

	bench_init(&b, 1000);
	assert_null(b.executor->ops->start(b.executor,
		&(struct job_spec){ .argv = argv, .argc = 1, .in_fd = -1 }, &w.owner, &error));
	assert_int_equal(error, ENOENT);
	assert_false(w.began);
	bench_done(&b);
}

/* Also what has left its process group and has another parent by now. */
static void stopping_ends_the_whole_tree(void **state UNUSED)
{
	struct bench b;
	struct watcher w;

	bench_init(&b, 60000);
	assert_int_equal(start(&b, &w, "setsid sleep 1000 & echo $!; wait", false), 0);
	pid_t below = printed_pid(&b, &w);
	job_stop(w.job);
	wait_for_end(&b, &w);
	assert_int_equal(w.end.signal, SIGTERM);
	assert_int_equal(kill(below, 0), -1);
	assert_int_equal(errno, ESRCH);
	watcher_done(&w);
	bench_done(&b);
}

static void a_process_that_does_not_listen_is_killed(void **state UNUSED)
{
	struct bench b;
	struct watcher w;

	bench_init(&b, 1);
	assert_int_equal(
		start(&b, &w, "trap '' TERM; echo 1; while :; do sleep 1000; done", false), 0);
	(void)printed_pid(&b, &w);
	job_stop(w.job);
	wait_for_end(&b, &w);
	assert_int_equal(w.end.signal, SIGKILL);
	watcher_done(&w);
	bench_done(&b);
}

static void a_kill_has_no_grace(void **state UNUSED)
{
	struct bench b;
	struct watcher w;

	bench_init(&b, 600000);
	assert_int_equal(start(&b, &w, "trap '' TERM; echo 1; sleep 1000; :", false), 0);
	(void)printed_pid(&b, &w);
	job_stop(w.job);
	job_kill(w.job);
	wait_for_end(&b, &w);
	assert_int_equal(w.end.signal, SIGKILL);
	watcher_done(&w);
	bench_done(&b);
}

/* What it leaves behind may hold its pipes; that is not waited for. */
static void a_held_pipe_is_let_go(void **state UNUSED)
{
	struct bench b;
	struct watcher w;

	bench_init(&b, 1000);
	assert_int_equal(start(&b, &w, "sleep 1000 & echo $!", false), 0);
	wait_for_end(&b, &w);
	assert_int_equal(w.end.code, 0);
	assert_true(w.end.held);
	pid_t left = printed_pid(&b, &w);
	assert_int_equal(kill(left, SIGKILL), 0);
	watcher_done(&w);
	bench_done(&b);
}

static void on_swept(void *data)
{
	*(bool *)data = true;
}

static void a_sweep_ends_what_was_left_behind(void **state UNUSED)
{
	struct bench b;
	struct watcher w;
	bool swept = false;

	bench_init(&b, 60000);
	assert_int_equal(start(&b, &w, "sleep 1000 >/dev/null 2>&1 & echo $!", false), 0);
	wait_for_end(&b, &w);
	assert_false(w.end.held);
	pid_t left = printed_pid(&b, &w);
	assert_int_equal(kill(left, 0), 0);
	b.executor->ops->sweep(b.executor, SWEEP_ASK, on_swept, &swept);
	assert_false(swept); /* only from the loop */
	while (!swept)
		assert_true(loop_turn(b.loop, -1) >= 0);
	assert_int_equal(kill(left, 0), -1);
	watcher_done(&w);
	bench_done(&b);
}

static void an_output_past_its_limit_is_cut(void **state UNUSED)
{
	const char *argv[] = { "echo", "123456789", NULL };
	struct bench b;
	struct watcher w = { .owner.ops = &owner_ops };
	int error = 0;

	bench_init(&b, 1000);
	w.job = b.executor->ops->start(b.executor,
		&(struct job_spec){ .argv = argv, .argc = 2, .in_fd = -1, .max_output = 4 },
		&w.owner, &error);
	assert_non_null(w.job);
	wait_for_end(&b, &w);
	assert_true(w.end.cut);
	assert_take(job_take_out(w.job), "1234");
	watcher_done(&w);
	bench_done(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process_exits_with_a_code),
		cmocka_unit_test(standard_error_is_kept_when_asked_for),
		cmocka_unit_test(a_process_dies_of_a_signal),
		cmocka_unit_test(a_missing_program_cannot_start),
		cmocka_unit_test(stopping_ends_the_whole_tree),
		cmocka_unit_test(a_process_that_does_not_listen_is_killed),
		cmocka_unit_test(a_kill_has_no_grace),
		cmocka_unit_test(a_held_pipe_is_let_go),
		cmocka_unit_test(a_sweep_ends_what_was_left_behind),
		cmocka_unit_test(an_output_past_its_limit_is_cut),
	};

	(void)tree_become_subreaper();
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("local", tests, NULL, NULL);
}
