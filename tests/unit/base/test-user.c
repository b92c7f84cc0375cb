#include "unit.h"

#include <pwd.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/user.h"

static void name_and_home_are_those_of_the_password_file(void **state UNUSED)
{
	const struct passwd *entry = getpwuid(getuid());
	struct arena a = ARENA_INIT;

	if (!entry)
		skip();
	unsetenv("HOME");
	setenv("LOGNAME", "another", 1);
	assert_str(user_name(&a), entry->pw_name);
	assert_str(user_home(&a), entry->pw_dir);
	setenv("HOME", "/some/home", 1);
	assert_str(user_home(&a), "/some/home");
	arena_done(&a);
}

/* In a process whose user no file knows. */
static bool unknown_is_what_the_environment_says(void)
{
	struct arena a = ARENA_INIT;

	unsetenv("HOME");
	setenv("LOGNAME", "ann", 1);
	setenv("USER", "bob", 1);
	bool ok = str_eq(user_name(&a), S("ann")) && !user_home(&a).len;
	setenv("LOGNAME", "", 1);
	ok &= str_eq(user_name(&a), S("bob"));
	unsetenv("USER");
	ok &= !user_name(&a).len;
	arena_done(&a);
	return ok;
}

static void unknown_users_are_what_the_environment_says(void **state UNUSED)
{
	int status = -1;

	if (geteuid() != 0)
		skip();
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0)
		_exit(setuid(4000001) == 0 && unknown_is_what_the_environment_says() ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_and_home_are_those_of_the_password_file),
		cmocka_unit_test(unknown_users_are_what_the_environment_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
