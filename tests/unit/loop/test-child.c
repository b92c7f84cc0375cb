#include "loop/child.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "loop/tree.h"

#include "unit.h"

static int exits;

static void on_exit_of(struct child *c UNUSED)
{
	exits++;
}

struct fixture {
	struct loop *loop;
	struct child child;
	sigset_t mask;
	int null, out[2];
	bool portable;
	const int *sandbox;
	struct buf printed;
};

static void setup(struct fixture *f, bool portable)
{
	*f = (struct fixture){ .loop = loop_new(), .portable = portable };
	f->child.exited = on_exit_of;
	(void)sigemptyset(&f->mask);
	f->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	assert_int_equal(pipe2(f->out, O_CLOEXEC), 0);
	exits = 0;
}

static void teardown(struct fixture *f)
{
	child_done(&f->child);
	close_fd(&f->null);
	close_fd(&f->out[0]);
	close_fd(&f->out[1]);
	buf_done(&f->printed);
	loop_free(f->loop);
}

static int spawn(struct fixture *f, const char *program, const char *const *argv, const char *cwd)
{
	static const char *const env[] = { "PATH=/usr/bin:/bin", "MARK=here", NULL };

	return child_spawn(f->loop, &f->child,
		&(struct child_spec){ .program = program,
			.argv = argv,
			.envp = env,
			.in = f->null,
			.out = f->out[1],
			.err = f->null,
			.cwd = cwd,
			.mask = &f->mask,
			.sandbox = f->sandbox,
			.portable = f->portable });
}

static int shell(struct fixture *f, const char *script)
{
	return spawn(f, "/bin/sh", (const char *const[]){ "sh", "-c", script, NULL }, NULL);
}

static void wait_for_it(struct fixture *f)
{
	assert_true(child_running(&f->child));
	while (!exits)
		assert_int_equal(loop_turn(f->loop, 10000), 0);
	assert_false(child_running(&f->child));
	close_fd(&f->out[1]);
	assert_int_equal(fd_read_all(f->out[0], 1 << 20, &f->printed), 0);
}

/* Each way to start a process, in turn. */
#define EACH_WAY(f)                                    \
	for (int way = 0; way < 2; way++, teardown(f)) \
		if (setup(f, way == 1), true)

static void an_exit_code_comes_back(void **state UNUSED)
{
	struct fixture f;

	EACH_WAY(&f)
	{
		assert_int_equal(shell(&f, "echo $MARK; exit 7"), 0);
		wait_for_it(&f);
		assert_int_equal(f.child.code, 7);
		assert_int_equal(f.child.signal, 0);
		assert_int_equal(exits, 1);
		assert_str(buf_str(&f.printed), "here\n");
	}
}

static void a_signal_comes_back(void **state UNUSED)
{
	struct fixture f;

	EACH_WAY(&f)
	{
		assert_int_equal(shell(&f, "kill -TERM $$"), 0);
		wait_for_it(&f);
		assert_int_equal(f.child.signal, SIGTERM);
	}
}

static void it_can_be_signalled_until_it_has_ended(void **state UNUSED)
{
	struct fixture f;

	EACH_WAY(&f)
	{
		assert_int_equal(shell(&f, "exec tail -f /dev/null"), 0);
		child_signal(&f.child, SIGKILL);
		wait_for_it(&f);
		assert_int_equal(f.child.signal, SIGKILL);
		child_signal(&f.child, SIGKILL);
	}
}

static void it_has_a_process_group_of_its_own(void **state UNUSED)
{
	struct fixture f;

	EACH_WAY(&f)
	{
		assert_int_equal(shell(&f, "read -r _ _ _ _ pgrp _ </proc/$$/stat; "
					   "[ $pgrp = $$ ] && echo own"),
			0);
		wait_for_it(&f);
		assert_str(buf_str(&f.printed), "own\n");
	}
}

static void it_starts_where_it_is_told(void **state UNUSED)
{
	struct fixture f;

	EACH_WAY(&f)
	{
		assert_int_equal(
			spawn(&f, "/bin/pwd", (const char *const[]){ "pwd", NULL }, "/proc"), 0);
		wait_for_it(&f);
		assert_str(buf_str(&f.printed), "/proc\n");
	}
}

static void what_cannot_start_says_why(void **state UNUSED)
{
	static const char *const argv[] = { "x", NULL };
	struct fixture f;

	EACH_WAY(&f)
	{
		assert_int_equal(spawn(&f, "/nonexistent/program", argv, NULL), -ENOENT);
		assert_false(child_running(&f.child));
		assert_int_equal(spawn(&f, "/dev/null", argv, NULL), -EACCES);
		assert_int_equal(spawn(&f, "/bin/true", argv, "/nonexistent/dir"), -ENOENT);
		assert_int_equal(spawn(&f, "/bin/true/x", argv, NULL), -ENOTDIR);
		/* Nothing is left behind to be reaped. */
		assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
		assert_int_equal(errno, ECHILD);
	}
}

static void no_descriptor_of_ours_gets_into_it(void **state UNUSED)
{
	struct fixture f;

	/* Whoever started this test may have left something open. */
	for (int fd = 3; fd < 1024; fd++)
		(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	EACH_WAY(&f)
	{
		/* ls has one of its own: the directory. */
		assert_int_equal(
			spawn(&f, "/bin/ls", (const char *const[]){ "ls", "/proc/self/fd", NULL },
				NULL),
			0);
		wait_for_it(&f);
		assert_str(buf_str(&f.printed), "0\n1\n2\n3\n");
	}
}

static void its_mask_is_the_one_given_and_ours_is_kept(void **state UNUSED)
{
	struct fixture f;
	sigset_t before, after;

	EACH_WAY(&f)
	{
		(void)sigaddset(&f.mask, SIGUSR1);
		(void)sigprocmask(SIG_SETMASK, NULL, &before);
		/* Without a shell: some clear the mask. */
		assert_int_equal(spawn(&f, "/bin/grep",
					 (const char *const[]){
						 "grep", "SigBlk", "/proc/self/status", NULL },
					 NULL),
			0);
		(void)sigprocmask(SIG_SETMASK, NULL, &after);
		assert_memory_equal(&before, &after, sizeof(unsigned long));
		wait_for_it(&f);
		assert_str(buf_str(&f.printed), "SigBlk:\t0000000000000200\n");
	}
}

static void a_tree_is_found_and_ended_whole(void **state UNUSED)
{
	struct fixture f;

	assert_true(tree_become_subreaper());
	setup(&f, false);
	/* A child, a grandchild that left the group, and one that became an orphan. */
	assert_int_equal(shell(&f, "tail -f /dev/null & setsid tail -f /dev/null & "
				   "(tail -f /dev/null &) ; echo ready; wait"),
		0);
	char line[6] = "";
	for (size_t n = 0; n < sizeof(line);) {
		ssize_t got = read(f.out[0], line + n, sizeof(line) - n);

		assert_true(got > 0);
		n += (size_t)got;
	}
	struct tree tree = { .pid = f.child.pid };
	struct tree_scan *scan = tree_scan_new();
	assert_non_null(scan);
	while (tree_count(scan, &tree) < 4) { /* until the last one has been started */
		tree_scan_free(scan);
		scan = tree_scan_new();
	}
	assert_int_equal(tree_count(scan, NULL), 4);
	assert_int_equal(tree_kill(scan, &tree), 4);
	tree_scan_free(scan);
	wait_for_it(&f);
	while (waitpid(-1, NULL, 0) > 0)
		;
	scan = tree_scan_new();
	assert_int_equal(tree_count(scan, NULL), 0);
	tree_scan_free(scan);
	teardown(&f);
}

static void everyone_is_asked_once(void **state UNUSED)
{
	struct tree_asked asked = { 0 };
	struct fixture f;
	char line[6];

	setup(&f, false);
	/* Counts the requests; the second would end it. */
	assert_int_equal(shell(&f, "n=0; trap 'n=$((n+1)); echo asked' TERM; echo ready; "
				   "while [ $n -lt 2 ]; do read -r x </proc/self/stat; done"),
		0);
	assert_int_equal(read(f.out[0], line, sizeof(line)), 6);
	struct tree tree = { .pid = f.child.pid };
	struct tree_scan *scan = tree_scan_new();
	assert_int_equal(tree_ask(scan, &tree, &asked), 1);
	assert_int_equal(read(f.out[0], line, sizeof(line)), 6);
	assert_int_equal(tree_ask(scan, &tree, &asked), 1);
	assert_int_equal(tree_kill(scan, &tree), 1);
	tree_scan_free(scan);
	wait_for_it(&f);
	assert_int_equal(f.child.signal, SIGKILL);
	assert_str(buf_str(&f.printed), "");
	tree_asked_done(&asked);
	teardown(&f);
}

static bool none_is_known(void *data UNUSED, pid_t pid UNUSED)
{
	return false;
}

static void orphans_that_ended_are_reaped(void **state UNUSED)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT), 0);
	tree_reap(none_is_known, NULL);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	assert_int_equal(errno, ECHILD);
}

/* Neither the kernel nor posix_spawn can keep it there: it is not started without. */
static void without_its_sandbox_it_is_not_started(void **state UNUSED)
{
	struct fixture f;
	char mark[] = "/tmp/roux-child-XXXXXX";
	AUTO_BUF script = BUF_INIT;
	const int none = -1;

	close(mkstemp(mark));
	buf_printf(&script, "rm %s", mark);
	EACH_WAY(&f)
	{
		f.sandbox = &none;
		assert_true(shell(&f, buf_cstr(&script)) < 0);
		assert_false(child_running(&f.child));
		assert_int_equal(access(mark, F_OK), 0);
	}
	assert_int_equal(unlink(mark), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_exit_code_comes_back),
		cmocka_unit_test(a_signal_comes_back),
		cmocka_unit_test(it_can_be_signalled_until_it_has_ended),
		cmocka_unit_test(it_has_a_process_group_of_its_own),
		cmocka_unit_test(it_starts_where_it_is_told),
		cmocka_unit_test(what_cannot_start_says_why),
		cmocka_unit_test(no_descriptor_of_ours_gets_into_it),
		cmocka_unit_test(its_mask_is_the_one_given_and_ours_is_kept),
		cmocka_unit_test(without_its_sandbox_it_is_not_started),
		cmocka_unit_test(a_tree_is_found_and_ended_whole),
		cmocka_unit_test(everyone_is_asked_once),
		cmocka_unit_test(orphans_that_ended_are_reaped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("child", tests, NULL, NULL);
}
