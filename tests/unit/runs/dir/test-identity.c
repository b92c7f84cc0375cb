#include "runs/dir/identity.h"

#include <poll.h>
#include <string.h>

#include "base/file.h"
#include "runs/dir/process.h"

static const char *const no_environment[] = { NULL };

static void this_process_is_itself(void **state UNUSED)
{
	struct identity self, same;

	assert_true(identity_self(&self));
	assert_int_equal(self.pid, getpid());
	assert_true(self.start > 0);
	assert_int_equal(strlen(self.boot), 36);
	assert_true(identity_of(getpid(), &same));
	assert_int_equal(same.start, self.start);
	assert_string_equal(same.boot, self.boot);
	AUTO_CLOSE int fd = identity_open(&self);
	assert_true(fd >= 0);
}

/* What is kept about this process is not the child's. */
static void a_fork_is_another_process(void **state UNUSED)
{
	struct identity self;
	int status;

	assert_true(identity_self(&self));
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(identity_self(&self) && self.pid == getpid() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* A number that another process has by now has another start. */
static void a_stranger_with_the_number_is_not_opened(void **state UNUSED)
{
	struct identity who;
	pid_t pid = sleeper(no_environment);

	assert_true(identity_of(pid, &who));
	who.start++;
	assert_int_equal(identity_open(&who), -EPERM);
	who.start--;
	AUTO_CLOSE int fd = identity_open(&who);
	assert_true(fd >= 0);
	assert_int_equal(reap(pid), SIGTERM);
}

static void one_of_an_earlier_boot_is_gone(void **state UNUSED)
{
	struct identity who;

	assert_true(identity_self(&who));
	who.boot[0] = who.boot[0] == '0' ? '1' : '0';
	assert_int_equal(identity_open(&who), -ESRCH);
	who.boot[0] = '\0'; /* not known: the start decides */
	AUTO_CLOSE int fd = identity_open(&who);
	assert_true(fd >= 0);
}

static void one_that_has_ended_is_gone(void **state UNUSED)
{
	struct identity who, none;
	pid_t pid = sleeper(no_environment);

	assert_true(identity_of(pid, &who));
	(void)reap(pid);
	assert_int_equal(identity_open(&who), -ESRCH);
	assert_false(identity_of(pid, &none));
	who.pid = 0;
	assert_int_equal(identity_open(&who), -ESRCH);
	who.pid = -1;
	assert_int_equal(identity_open(&who), -ESRCH);
}

/* The second field of /proc/PID/stat is a name that anything may be in. */
static void a_name_with_parentheses_does_not_matter(void **state UNUSED)
{
	struct identity before, after;
	char name[16] = "";

	assert_true(identity_of(getpid(), &before));
	assert_int_equal(prctl(PR_GET_NAME, name), 0);
	assert_int_equal(prctl(PR_SET_NAME, ") 1 2 (3) 4 5 "), 0);
	assert_true(identity_of(getpid(), &after));
	assert_int_equal(prctl(PR_SET_NAME, name), 0);
	assert_int_equal(after.start, before.start);
}

static void a_signal_carries_its_number(void **state UNUSED)
{
	struct identity self;
	siginfo_t info;
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, ORDER_SIGNAL(RUN_FINISH));
	assert_int_equal(sigprocmask(SIG_BLOCK, &set, NULL), 0);
	assert_true(identity_self(&self));
	AUTO_CLOSE int fd = identity_open(&self);
	assert_int_equal(identity_signal(fd, ORDER_SIGNAL(RUN_FINISH), -1), 0);
	assert_int_equal(sigwaitinfo(&set, &info), ORDER_SIGNAL(RUN_FINISH));
	assert_int_equal(info.si_value.sival_int, -1);
	assert_int_equal(info.si_pid, getpid());
	assert_int_equal(info.si_code, SI_QUEUE);
	assert_int_equal(identity_signal(-1, SIGTERM, 0), -EBADF);
}

static void the_signals_are_different(void **state UNUSED)
{
	assert_true(ORDER_SIGNAL(RUN_CANCEL) > SIGRTMIN);
	assert_true(ORDER_SIGNAL(RUN_CANCEL) < ORDER_SIGNAL(RUN_FINISH));
	assert_true(ORDER_SIGNAL(RUN_FINISH) < ORDER_SIGNAL(RUN_KILL));
	assert_true(ORDER_SIGNAL(RUN_KILL) < RING_SIGNAL && RING_SIGNAL <= SIGRTMAX);
}

/* The descriptor is that of the process, also when its number belongs to another by then. */
static void a_descriptor_outlives_its_process(void **state UNUSED)
{
	struct identity who;
	pid_t pid = sleeper(no_environment);

	assert_true(identity_of(pid, &who));
	AUTO_CLOSE int fd = identity_open(&who);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 0);
	assert_int_equal(identity_signal(fd, SIGKILL, 0), 0);
	assert_int_equal(poll(&p, 1, -1), 1);
	assert_int_equal(reap(pid), SIGKILL);
	assert_int_equal(identity_signal(fd, SIGKILL, 0), -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(this_process_is_itself),
		cmocka_unit_test(a_fork_is_another_process),
		cmocka_unit_test(a_stranger_with_the_number_is_not_opened),
		cmocka_unit_test(one_of_an_earlier_boot_is_gone),
		cmocka_unit_test(one_that_has_ended_is_gone),
		cmocka_unit_test(a_name_with_parentheses_does_not_matter),
		cmocka_unit_test(a_signal_carries_its_number),
		cmocka_unit_test(the_signals_are_different),
		cmocka_unit_test(a_descriptor_outlives_its_process),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("identity", tests, NULL, NULL);
}
