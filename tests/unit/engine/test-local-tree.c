#include "engine/local-tree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "engine/environment.h"

#include "unit.h"

/* Trees of real processes. Where a test must not wait for the grace time, that is a day. */

enum { DAY = 86400 * 1000 };

struct bench {
	struct loop *loop;
	struct local_trees trees;
	struct environment environment;
};

struct command {
	struct bench *bench;
	struct local_tree tree;
	int out;
	bool exited, alone, gone;
	struct buf printed;
};

static void bench_begin(struct bench *b, bool whole, uint64_t grace_ms)
{
	b->loop = loop_new();
	assert_non_null(b->loop);
	environment_init(&b->environment, NULL, false);
	local_trees_init(&b->trees, b->loop, whole, buf_str(&b->environment.run_mark), grace_ms);
}

static void bench_done(struct bench *b)
{
	local_trees_done(&b->trees);
	environment_done(&b->environment);
	loop_free(b->loop);
}

static void on_exited(struct child *c)
{
	struct local_tree *t = container_of(c, struct local_tree, child);
	struct command *cmd = container_of(t, struct command, tree);

	cmd->exited = true;
	cmd->alone = local_tree_exited(&cmd->bench->trees, t);
}

static void on_gone(struct local_tree *t)
{
	struct command *cmd = container_of(t, struct command, tree);

	assert_false(cmd->gone);
	cmd->gone = true;
	list_remove(&t->link);
}

/* Reads its output up to and with that text. */
static void until_printed(struct command *c, const char *text)
{
	char byte;

	while (!str_contains(buf_str(&c->printed), str_of(text))) {
		assert_int_equal(read(c->out, &byte, 1), 1);
		buf_addc(&c->printed, byte);
	}
}

/* A process that has left the group of its command by the time it prints its number. */
#define LEAVES "setsid sh -c 'echo $$ ready; exec sleep 1000 >/dev/null' &"

/* It is running when it has printed "ready". */
static void start(struct bench *b, struct command *c, const char *script)
{
	const char *argv[] = { "sh", "-c", script, NULL };
	struct command_environment env;
	sigset_t none;
	int ends[2];

	*c = (struct command){ .bench = b, .tree = { .gone = on_gone } };
	c->tree.child = (struct child){ .pidfd = -1, .exited = on_exited };
	c->tree.began_ms = clock_boot_ms();
	(void)sigemptyset(&none);
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const char *const *envp = environment_take(&b->environment, NULL, &c->tree.mark, &env);
	assert_int_equal(child_spawn(b->loop, &c->tree.child,
				 &(struct child_spec){ .program = "/bin/sh",
					 .argv = argv,
					 .envp = envp,
					 .in = null,
					 .out = ends[1],
					 .err = null,
					 .mask = &none }),
		0);
	environment_taken(&b->environment, &env);
	(void)close(ends[1]);
	c->out = ends[0];
	list_append(&b->trees.all, &c->tree.link);
	local_trees_began(&b->trees);
	until_printed(c, "ready\n");
}

static void command_done(struct command *c)
{
	list_remove(&c->tree.link);
	child_done(&c->tree.child);
	buf_done(&c->tree.mark);
	buf_done(&c->printed);
	close_fd(&c->out);
}

static void until(struct bench *b, const bool *what)
{
	while (!*what)
		assert_true(loop_turn(b->loop, -1) >= 0);
}

static pid_t printed_pid(const struct command *c)
{
	return (pid_t)strtol(buf_cstr(&c->printed), NULL, 10);
}

/* A zombie is not. */
static bool is_alive(pid_t pid)
{
	AUTO_BUF stat = BUF_INIT;
	char path[32];

	(void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return file_read(path, 4096, &stat) == 0 && !str_contains(buf_str(&stat), S(") Z "));
}

static void one_that_ends_by_itself_is_over(void **state UNUSED)
{
	struct bench b;
	struct command c;

	bench_begin(&b, true, DAY);
	start(&b, &c, "echo ready");
	until(&b, &c.exited);
	assert_true(c.alone);
	assert_false(c.gone);
	command_done(&c);
	bench_done(&b);
}

static void it_is_gone_when_the_last_process_is(void **state UNUSED)
{
	struct bench b;
	struct command c;

	bench_begin(&b, true, DAY);
	start(&b, &c, LEAVES " wait");
	local_tree_stop(&b.trees, &c.tree);
	until(&b, &c.gone);
	assert_true(c.exited);
	assert_false(c.alone);
	assert_false(is_alive(printed_pid(&c)));
	command_done(&c);
	bench_done(&b);
}

/* To many programs a second request means something else. */
static void each_process_is_asked_once(void **state UNUSED)
{
	struct bench b;
	struct command c;
	char rest[64];

	bench_begin(&b, true, DAY);
	/* A shell answers at once only while it waits. */
	start(&b, &c, "trap 'echo asked' TERM; echo ready; while :; do sleep 1000 & wait; done");
	local_tree_stop(&b.trees, &c.tree);
	while (!str_contains(buf_str(&c.printed), S("asked"))) {
		assert_true(loop_turn(b.loop, 0) >= 0);
		if (fcntl(c.out, F_SETFL, O_NONBLOCK) == 0 && read(c.out, rest, 1) == 1)
			buf_addc(&c.printed, rest[0]);
	}
	local_tree_stop(&b.trees, &c.tree);
	for (int i = 0; i < 5; i++)
		assert_true(loop_turn(b.loop, -1) >= 0); /* it is looked at, and not asked */
	assert_false(c.gone);
	local_tree_kill(&b.trees, &c.tree);
	until(&b, &c.gone);
	ssize_t n = read(c.out, rest, sizeof(rest));
	buf_add(&c.printed, (struct str){ rest, n > 0 ? (size_t)n : 0 });
	assert_str(buf_str(&c.printed), "ready\nasked\n");
	assert_int_equal(c.tree.child.signal, SIGKILL);
	command_done(&c);
	bench_done(&b);
}

static void a_shorter_grace_holds_for_what_was_asked_before(void **state UNUSED)
{
	struct bench b;
	struct command c;

	bench_begin(&b, true, DAY);
	start(&b, &c, "trap '' TERM; echo ready; while :; do sleep 1000; done");
	local_tree_stop(&b.trees, &c.tree);
	for (int i = 0; i < 3; i++)
		assert_true(loop_turn(b.loop, -1) >= 0);
	assert_false(c.gone);
	local_trees_set_grace(&b.trees, 0);
	until(&b, &c.gone);
	assert_int_equal(c.tree.child.signal, SIGKILL);
	command_done(&c);
	bench_done(&b);
}

static void a_longer_one_does_not(void **state UNUSED)
{
	struct bench b;
	struct command c;

	bench_begin(&b, true, 1);
	start(&b, &c, "trap '' TERM; echo ready; while :; do sleep 1000; done");
	local_tree_stop(&b.trees, &c.tree);
	local_trees_set_grace(&b.trees, DAY);
	until(&b, &c.gone);
	command_done(&c);
	bench_done(&b);
}

/* What has left the group of its command is known by its mark. */
static void the_tree_of_another_command_is_left_alone(void **state UNUSED)
{
	struct bench b;
	struct command c, other;

	bench_begin(&b, true, DAY);
	start(&b, &c, LEAVES " wait");
	start(&b, &other, LEAVES " wait");
	local_tree_kill(&b.trees, &c.tree);
	until(&b, &c.gone);
	assert_false(is_alive(printed_pid(&c)));
	assert_true(is_alive(printed_pid(&other)));
	assert_false(other.exited || other.gone);
	local_tree_kill(&b.trees, &other.tree);
	until(&b, &other.gone);
	assert_false(is_alive(printed_pid(&other)));
	command_done(&c);
	command_done(&other);
	bench_done(&b);
}

static void on_swept(void *data)
{
	*(bool *)data = true;
}

/* Two runs in one process: every descendant of it would be the sweeping run's, but for that. */
static void a_run_beside_is_left_alone(void **state UNUSED)
{
	struct bench b, beside;
	struct command other;
	bool swept = false;

	bench_begin(&b, true, DAY);
	bench_begin(&beside, true, DAY);
	b.trees.beside = &beside.trees;
	start(&beside, &other, LEAVES " wait");
	local_trees_sweep(&b.trees, true, on_swept, &swept);
	until(&b, &swept);
	assert_true(is_alive(printed_pid(&other)));
	local_tree_kill(&beside.trees, &other.tree);
	until(&beside, &other.gone);
	command_done(&other);
	bench_done(&beside);
	bench_done(&b);
}

/* -- what is left behind -------------------------------------------------------------------------
 */

/* What it leaves does not listen. */
#define DEAF "trap '' TERM; " LEAVES

static void a_sweep_ends_what_was_left(bool whole, bool at_once)
{
	struct bench b;
	struct command c;
	bool swept = false;

	bench_begin(&b, whole, DAY);
	start(&b, &c, at_once ? DEAF : LEAVES);
	until(&b, &c.exited);
	assert_true(c.alone);
	pid_t left = printed_pid(&c);
	assert_true(is_alive(left));
	command_done(&c);
	local_trees_sweep(&b.trees, at_once, on_swept, &swept);
	assert_false(swept); /* only from the loop */
	until(&b, &swept);
	assert_false(is_alive(left));
	bench_done(&b);
}

static void what_commands_left_behind_is_swept(void **state UNUSED)
{
	a_sweep_ends_what_was_left(true, false);
	a_sweep_ends_what_was_left(true, true);
}

/* By the mark alone: this process has descendants that are not the run's. */
static void where_there_is_other_work_that_stays(void **state UNUSED)
{
	struct bench other;
	struct command stranger;

	bench_begin(&other, false, DAY);
	start(&other, &stranger, "echo ready; sleep 1000");
	a_sweep_ends_what_was_left(false, false);
	a_sweep_ends_what_was_left(false, true);
	assert_true(is_alive(stranger.tree.child.pid));
	local_tree_kill(&other.trees, &stranger.tree);
	until(&other, &stranger.gone);
	command_done(&stranger);
	bench_done(&other);
}

static void a_second_sweep_only_hurries(void **state UNUSED)
{
	struct bench b;
	struct command c;
	bool swept = false, other = false;

	bench_begin(&b, true, DAY);
	start(&b, &c, DEAF);
	until(&b, &c.exited);
	pid_t left = printed_pid(&c);
	command_done(&c);
	local_trees_stop(&b.trees);
	local_trees_sweep(&b.trees, false, on_swept, &swept);
	for (int i = 0; i < 3; i++)
		assert_true(loop_turn(b.loop, -1) >= 0);
	assert_false(swept);
	assert_true(is_alive(left));
	local_trees_sweep(&b.trees, true, on_swept, &other);
	until(&b, &swept);
	assert_false(other);
	assert_false(is_alive(left));
	bench_done(&b);
}

static int begin(void **state UNUSED)
{
	return tree_become_subreaper() ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_ends_by_itself_is_over),
		cmocka_unit_test(it_is_gone_when_the_last_process_is),
		cmocka_unit_test(each_process_is_asked_once),
		cmocka_unit_test(a_shorter_grace_holds_for_what_was_asked_before),
		cmocka_unit_test(a_longer_one_does_not),
		cmocka_unit_test(the_tree_of_another_command_is_left_alone),
		cmocka_unit_test(a_run_beside_is_left_alone),
		cmocka_unit_test(what_commands_left_behind_is_swept),
		cmocka_unit_test(where_there_is_other_work_that_stays),
		cmocka_unit_test(a_second_sweep_only_hurries),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("local-tree", tests, begin, NULL);
}
