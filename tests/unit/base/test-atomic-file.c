#include "base/atomic-file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/file.h"
#include "tree.h"
#include "unit.h"

static char path[128];

/* A fresh directory and the name of a file in it. */
static int begin(void **state)
{
	if (tree_begin(state) < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "%s/file", dir);
	return 0;
}

static void put(const char *where, const char *text, mode_t mode)
{
	AUTO_CLOSE int fd = open(where, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	assert_true(fd >= 0);
	assert_int_equal(fd_write_all(fd, str_of(text)), 0);
	assert_int_equal(fchmod(fd, mode), 0);
}

static void assert_file(const char *where, const char *want)
{
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(file_read(where, 1 << 20, &text), 0);
	assert_str(buf_str(&text), want);
}

static mode_t mode_of(const char *where)
{
	struct stat st;

	assert_int_equal(stat(where, &st), 0);
	return st.st_mode & 07777;
}

static void a_new_file_is_private_unless_told(void **state UNUSED)
{
	mode_t before = umask(027);

	assert_int_equal(atomic_write(path, S("one"), NULL), 0);
	assert_file(path, "one");
	assert_int_equal(mode_of(path), 0600);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(atomic_write(path, S("two"), &(struct atomic_options){ .mode = 0666 }), 0);
	assert_int_equal(mode_of(path), 0640);
	assert_int_equal(tree_names(false), 1);
	(void)umask(before);
}

static void whoever_has_the_old_file_open_keeps_it(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;

	put(path, "old", 0644);
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_int_equal(atomic_write(path, S("new"), NULL), 0);
	assert_int_equal(fd_read_all(fd, 100, &text), 0);
	assert_str(buf_str(&text), "old");
	assert_file(path, "new");
}

static void mode_and_owner_are_kept_when_asked(void **state UNUSED)
{
	struct stat st;

	put(path, "old", 0640);
	if (geteuid() == 0)
		assert_int_equal(chown(path, 1234, 2345), 0);
	assert_int_equal(chmod(path, 04751), 0);
	assert_int_equal(atomic_write(path, S("new"), &(struct atomic_options){ .keep = true }), 0);
	assert_file(path, "new");
	assert_int_equal(mode_of(path), 04751);
	assert_int_equal(stat(path, &st), 0);
	if (geteuid() == 0) {
		assert_int_equal(st.st_uid, 1234);
		assert_int_equal(st.st_gid, 2345);
	}
}

/* user::rw- user:1234:rw- group::--- mask::rw- other::---, which stat() shows as 0660. */
static const unsigned char acl[] = { 2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 6, 0, 0xd2,
	4, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255, 16, 0, 6, 0, 255, 255, 255, 255, 32, 0, 0, 0, 255,
	255, 255, 255 };

static void an_access_list_is_kept_with_the_mode(void **state UNUSED)
{
	static const char list[] = "system.posix_acl_access";
	unsigned char got[256];

	put(path, "old", 0600);
	if (setxattr(path, list, acl, sizeof(acl), 0) < 0)
		return; /* a file system without */
	assert_int_equal(atomic_write(path, S("new"), &(struct atomic_options){ .keep = true }), 0);
	assert_int_equal(getxattr(path, list, got, sizeof(got)), sizeof(acl));
	assert_memory_equal(got, acl, sizeof(acl));
	assert_int_equal(mode_of(path), 0660);
}

static void an_inherited_access_list_does_not_come_in(void **state UNUSED)
{
	unsigned char got[256];

	put(path, "old", 0644);
	if (setxattr(dir, "system.posix_acl_default", acl, sizeof(acl), 0) < 0)
		return;
	assert_int_equal(atomic_write(path, S("new"), &(struct atomic_options){ .keep = true }), 0);
	assert_int_equal(getxattr(path, "system.posix_acl_access", got, sizeof(got)), -1);
	assert_int_equal(mode_of(path), 0644);
}

static void an_exclusive_write_never_replaces(void **state UNUSED)
{
	const struct atomic_options once = { .mode = 0644, .exclusive = true };
	char link[128];

	assert_int_equal(atomic_write(path, S("first"), &once), 0);
	assert_int_equal(atomic_write(path, S("second"), &once), -EEXIST);
	assert_file(path, "first");
	(void)snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink("nowhere", link), 0);
	assert_int_equal(atomic_write(link, S("third"), &once), -EEXIST);
	assert_int_equal(tree_names(false), 2);
}

static void of_many_exclusive_writers_one_wins(void **state UNUSED)
{
	enum { WRITERS = 20 };
	pid_t pids[WRITERS];
	int won = 0, status;

	for (int i = 0; i < WRITERS; i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(-atomic_write(
				path, S("mine"), &(struct atomic_options){ .exclusive = true }));
	}
	for (int i = 0; i < WRITERS; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_true(WIFEXITED(status));
		if (WEXITSTATUS(status) == 0)
			won++;
		else
			assert_int_equal(WEXITSTATUS(status), EEXIST);
	}
	assert_int_equal(won, 1);
	assert_int_equal(tree_names(false), 1);
}

static void a_link_is_followed_only_when_asked(void **state UNUSED)
{
	char link[128];
	struct stat st;

	(void)snprintf(link, sizeof(link), "%s/link", dir);
	put(path, "old", 0640);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(atomic_write(link, S("new"),
				 &(struct atomic_options){ .follow = true, .keep = true }),
		0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_file(path, "new");
	assert_int_equal(mode_of(path), 0640);

	assert_int_equal(atomic_write(link, S("own"), NULL), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_file(path, "new");
	assert_int_equal(tree_names(false), 2);
}

static void a_link_to_nowhere_is_refused(void **state UNUSED)
{
	const struct atomic_options follow = { .follow = true };

	assert_int_equal(symlink("gone", path), 0);
	assert_int_equal(atomic_write(path, S("x"), &follow), -ENOENT);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("file", path), 0);
	assert_int_equal(atomic_write(path, S("x"), &follow), -ELOOP);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(atomic_write(path, S("x"), &follow), 0);
	assert_file(path, "x");
}

static void what_is_no_file_is_not_replaced(void **state UNUSED)
{
	assert_int_equal(atomic_write(dir, S("x"), NULL), -EISDIR);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(atomic_write(path, S("x"), NULL), -EINVAL);
	assert_int_equal(atomic_write("/dev/null", S("x"), NULL), -EINVAL);
	assert_int_equal(atomic_write("/nonexistent/x", S("x"), NULL), -ENOENT);
	assert_true(atomic_write("", S("x"), NULL) < 0);
	assert_int_equal(tree_names(false), 1);
}

static void a_file_that_changed_since_it_was_read_is_left_alone(void **state UNUSED)
{
	struct stat st;
	const struct atomic_options o = { .keep = true, .replaces = &st };

	put(path, "old", 0644);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(atomic_write(path, S("new"), &o), 0);
	assert_int_equal(atomic_write(path, S("newer"), &o), -ESTALE);
	assert_file(path, "new");
	assert_int_equal(stat(path, &st), 0);
	put(path, "longer", 0644);
	assert_int_equal(atomic_write(path, S("newer"), &o), -ESTALE);
	assert_file(path, "longer");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(atomic_write(path, S("newer"), &o), -ESTALE);
	assert_int_equal(tree_names(false), 0);
}

/* A disk that is full, as far as a limit of the process can play it. */
static void nothing_is_left_of_a_write_that_fails(void **state UNUSED)
{
	int status;

	put(path, "old", 0644);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		const struct rlimit limit = { 1000, 1000 };
		AUTO_BUF big = BUF_INIT;

		buf_fill(&big, 'x', 5000);
		(void)signal(SIGXFSZ, SIG_IGN);
		(void)setrlimit(RLIMIT_FSIZE, &limit);
		_exit(-atomic_write(path, buf_str(&big), NULL));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), EFBIG);
	assert_file(path, "old");
	assert_int_equal(tree_names(false), 1);
}

static void a_name_of_any_length_is_written(void **state UNUSED)
{
	char name[400];
	int n = snprintf(name, sizeof(name), "%s/", dir);

	memset(name + n, 'n', 255);
	name[n + 255] = '\0';
	assert_int_equal(atomic_write(name, S("x"), NULL), 0);
	assert_file(name, "x");
}

static void a_path_without_a_directory_is_written(void **state UNUSED)
{
	AUTO_CLOSE int back = open(".", O_PATH | O_CLOEXEC);

	assert_int_equal(chdir(dir), 0);
	int r = atomic_write("file", S("x"), NULL);
	assert_int_equal(fchdir(back), 0);
	assert_int_equal(r, 0);
	assert_file(path, "x");
}

static void the_signals_are_as_before(void **state UNUSED)
{
	sigset_t before, after;

	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &before), 0);
	assert_int_equal(atomic_write(path, S("x"), NULL), 0);
	assert_int_equal(sigprocmask(SIG_SETMASK, NULL, &after), 0);
	for (int i = 1; i < 32; i++)
		assert_int_equal(sigismember(&before, i), sigismember(&after, i));
}

static void one_at_a_time_has_the_lock(void **state UNUSED)
{
	char link[128];
	int first = -1, second = -1;

	put(path, "x", 0600);
	(void)snprintf(link, sizeof(link), "%s/link", dir);
	assert_int_equal(symlink(path, link), 0);
	assert_int_equal(file_lock(path, 0, &first), 0);
	assert_int_equal(file_lock(link, 20, &second), -ETIMEDOUT);
	assert_int_equal(second, -1);
	close_fd(&first);
	assert_int_equal(file_lock(link, 0, &second), 0);
	close_fd(&second);
	assert_int_equal(file_lock("/nonexistent/x", 0, &second), -ENOENT);
	assert_int_equal(tree_names(false), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_file_is_private_unless_told, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			whoever_has_the_old_file_open_keeps_it, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			mode_and_owner_are_kept_when_asked, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			an_access_list_is_kept_with_the_mode, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			an_inherited_access_list_does_not_come_in, begin, tree_end),
		cmocka_unit_test_setup_teardown(an_exclusive_write_never_replaces, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			of_many_exclusive_writers_one_wins, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			a_link_is_followed_only_when_asked, begin, tree_end),
		cmocka_unit_test_setup_teardown(a_link_to_nowhere_is_refused, begin, tree_end),
		cmocka_unit_test_setup_teardown(what_is_no_file_is_not_replaced, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			a_file_that_changed_since_it_was_read_is_left_alone, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			nothing_is_left_of_a_write_that_fails, begin, tree_end),
		cmocka_unit_test_setup_teardown(a_name_of_any_length_is_written, begin, tree_end),
		cmocka_unit_test_setup_teardown(
			a_path_without_a_directory_is_written, begin, tree_end),
		cmocka_unit_test_setup_teardown(the_signals_are_as_before, begin, tree_end),
		cmocka_unit_test_setup_teardown(one_at_a_time_has_the_lock, begin, tree_end),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("atomic file", tests, NULL, NULL);
}
