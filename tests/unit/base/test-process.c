#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

enum { WATCHDOG_MS = 60000 };

static void this_process_is_found(void **state UNUSED)
{
	struct process_stat p;

	assert_int_equal(process_read(getpid(), &p), 0);
	assert_int_equal(p.pid, getpid());
	assert_int_equal(p.parent, getppid());
	assert_int_equal(p.group, getpgrp());
	assert_int_equal(p.session, getsid(0));
	assert_int_equal(p.state, 'R');
	assert_true(process_ticks_ms(p.start) <= clock_boot_ms());
}

static void a_name_may_hold_anything(void **state UNUSED)
{
	struct process_stat before, after;

	assert_int_equal(process_read(getpid(), &before), 0);
	assert_int_equal(prctl(PR_SET_NAME, ") Z 1 1 (a"), 0);
	assert_int_equal(process_read(getpid(), &after), 0);
	assert_int_equal(after.parent, before.parent);
	assert_int_equal(after.state, 'R');
	assert_int_equal(after.start, before.start);
}

static void what_has_ended_is_told_from_what_is_not_there(void **state UNUSED)
{
	pid_t pid = fork();
	siginfo_t info;
	struct process_stat p;

	if (pid == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_read(pid, &p), 0);
	assert_int_equal(p.state, 'Z');
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_read(pid, &p), -ESRCH);
}

/* For some microseconds of every execve() there are no variables to be read. */
static void one_that_is_being_replaced_is_not_taken_for_bare(void **state UNUSED)
{
	static const char again[] = "exec sh -c \"$0\" \"$0\"";
	static const char *const argv[] = { "sh", "-c", again, again, NULL };
	static const char *const variables[] = { "A=B", NULL };
	pid_t pid = fork();
	int unsettled = 0;

	assert_true(pid >= 0);
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execve("/bin/sh", (char *const *)argv, (char *const *)variables);
		_exit(127);
	}
	AUTO_BUF first = BUF_INIT;
	do {
		buf_reset(&first);
		assert_int_equal(process_environ_settled(pid, WATCHDOG_MS, &first), 0);
	} while (!str_contains(buf_str(&first), S("A=B"))); /* not this program any more */
	for (int i = 0; i < 20000; i++) {
		AUTO_BUF found = BUF_INIT;
		int r = process_environ(pid, &found);

		assert_true(r == -EAGAIN || (r == 0 && str_contains(buf_str(&found), S("A=B"))));
		unsettled += r == -EAGAIN;
		buf_reset(&found);
		if (r == -EAGAIN)
			assert_int_equal(process_environ_settled(pid, WATCHDOG_MS, &found), 0);
	}
	print_message("# %d of 20000 in between\n", unsettled);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(process_environ(pid, &first), -ESRCH);
}

static void one_without_variables_is_bare(void **state UNUSED)
{
	static const char *const argv[] = { "sleep", "1000", NULL }, *const none[] = { NULL };
	AUTO_BUF found = BUF_INIT;
	pid_t pid = fork();
	siginfo_t info;

	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		(void)execve("/bin/sleep", (char *const *)argv, (char *const *)none);
		_exit(127);
	}
	do {
		buf_reset(&found);
		assert_int_equal(process_environ_settled(pid, WATCHDOG_MS, &found), 0);
	} while (found.len); /* this program's */
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
	assert_int_equal(process_environ(pid, &found), -ESRCH); /* a zombie has none */
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process_is_found),
		cmocka_unit_test(a_name_may_hold_anything),
		cmocka_unit_test(what_has_ended_is_told_from_what_is_not_there),
		cmocka_unit_test(one_that_is_being_replaced_is_not_taken_for_bare),
		cmocka_unit_test(one_without_variables_is_bare),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
