#include "prompts/temporary.h"

#include <sys/wait.h>

#include "house.h"

static void a_file_is_private_complete_and_deleted(void **state UNUSED)
{
	struct temporary t = TEMPORARY_NONE;
	AUTO_BUF got = BUF_INIT;
	struct stat st;

	assert_int_equal(temporary_create("role", S("a\0b"), &t), 0);
	assert_non_null(strstr(t.path, "/start-role-"));
	assert_int_equal(stat(t.path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(file_read(t.path, 100, &got), 0);
	assert_bytes(buf_str(&got), S("a\0b"));
	char *path = mem_strdup(t.path);
	temporary_delete(&t);
	assert_int_equal(access(path, F_OK), -1);
	temporary_delete(&t); /* harmless */
	free(path);
}

static void only_files_of_owners_that_are_gone_are_swept(void **state UNUSED)
{
	struct temporary mine = TEMPORARY_NONE;
	struct house h;
	AUTO_BUF left = BUF_INIT;
	int fds[2];

	house_open(&h);
	assert_int_equal(setenv("TMPDIR", h.top, 1), 0);
	assert_int_equal(pipe(fds), 0);
	pid_t child = fork();
	if (child == 0) {
		struct temporary t = TEMPORARY_NONE;

		(void)temporary_create("prompt", S("x"), &t);
		(void)!write(fds[1], t.path, strlen(t.path));
		_exit(0); /* without deleting it */
	}
	(void)close(fds[1]);
	assert_int_equal(fd_read_all(fds[0], 4096, &left), 0);
	(void)close(fds[0]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	assert_int_equal(access(buf_cstr(&left), F_OK), 0);
	assert_int_equal(temporary_create("role", S("x"), &mine), 0);
	house_file(&h, "start-role-theirs.md", "");
	house_file(&h, "start-role-0123456789ab_x.md", "");
	assert_int_equal(temporary_sweep(), 1);
	assert_int_equal(access(buf_cstr(&left), F_OK), -1);
	assert_int_equal(access(mine.path, F_OK), 0);
	assert_int_equal(temporary_sweep(), 0);
	temporary_delete(&mine);
	assert_int_equal(unsetenv("TMPDIR"), 0);
	house_close(&h);
}

static void a_directory_that_is_not_there_is_told(void **state UNUSED)
{
	struct temporary t = TEMPORARY_NONE;

	assert_int_equal(setenv("TMPDIR", "/nowhere/at/all", 1), 0);
	assert_true(temporary_create("role", S("x"), &t) < 0);
	assert_null(t.path);
	assert_int_equal(temporary_sweep(), 0);
	assert_int_equal(unsetenv("TMPDIR"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_is_private_complete_and_deleted),
		cmocka_unit_test(only_files_of_owners_that_are_gone_are_swept),
		cmocka_unit_test(a_directory_that_is_not_there_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts temporary", tests, NULL, NULL);
}
