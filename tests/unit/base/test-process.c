#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "unit.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process_is_found),
		cmocka_unit_test(a_name_may_hold_anything),
		cmocka_unit_test(what_has_ended_is_told_from_what_is_not_there),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("process", tests, NULL, NULL);
}
