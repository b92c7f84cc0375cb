#include "runs/dir/copy-tree.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "runs/root.h"

static size_t skipped;

static int copy(const char *from, const char *to)
{
	return copy_tree(at(from), AT_FDCWD, at(to), &skipped);
}

static unsigned mode_of(const char *name)
{
	struct stat st;

	assert_int_equal(lstat(at(name), &st), 0);
	return st.st_mode & 07777;
}

static const char *target_of(const char *name)
{
	static char target[256];
	ssize_t n = readlink(at(name), target, sizeof(target) - 1);

	assert_true(n >= 0);
	target[n] = '\0';
	return target;
}

static void a_directory_is_copied_with_everything_in_it(void **state UNUSED)
{
	put("from/file", "text");
	put("from/empty", "");
	put("from/.hidden", "h");
	put("from/sub/deep/file", "deep");
	assert_int_equal(mkdir(at("from/nothing"), 0755), 0);
	assert_int_equal(copy("from", "to"), 0);
	assert_str(text_of("to/file"), "text");
	assert_str(text_of("to/empty"), "");
	assert_str(text_of("to/.hidden"), "h");
	assert_str(text_of("to/sub/deep/file"), "deep");
	assert_true(is_there("to/nothing"));
	assert_str(text_of("from/file"), "text");
}

static void a_file_is_copied(void **state UNUSED)
{
	AUTO_BUF big = BUF_INIT;

	for (int i = 0; i < 70000; i++)
		buf_printf(&big, "line %d\n", i);
	put("from", buf_cstr(&big));
	assert_int_equal(copy("from", "to"), 0);
	assert_bytes(text_of("to"), buf_str(&big));
}

/* Files of /proc have no length, so the kernel cannot copy them. */
static void what_the_kernel_does_not_copy_is_read(void **state UNUSED)
{
	AUTO_BUF want = BUF_INIT;

	assert_int_equal(file_read("/proc/sys/kernel/random/boot_id", 100, &want), 0);
	assert_int_equal(
		copy_tree("/proc/sys/kernel/random/boot_id", AT_FDCWD, at("to"), &skipped), 0);
	assert_int_equal(want.len, 37);
	assert_bytes(text_of("to"), buf_str(&want));
}

static void links_inside_are_copied_as_links(void **state UNUSED)
{
	put("from/file", "text");
	put("elsewhere/file", "x");
	assert_int_equal(symlink("file", at("from/near")), 0);
	assert_int_equal(symlink(at("elsewhere"), at("from/far")), 0);
	assert_int_equal(symlink("nowhere", at("from/dangling")), 0);
	assert_int_equal(symlink(".", at("from/circle")), 0);
	assert_int_equal(copy("from", "to"), 0);
	assert_string_equal(target_of("to/near"), "file");
	assert_string_equal(target_of("to/far"), at("elsewhere"));
	assert_string_equal(target_of("to/dangling"), "nowhere");
	assert_string_equal(target_of("to/circle"), ".");
}

static void the_thing_itself_may_be_given_by_a_link(void **state UNUSED)
{
	put("real/file", "text");
	assert_int_equal(symlink("real", at("from")), 0);
	assert_int_equal(copy("from", "to"), 0);
	assert_str(text_of("to/file"), "text");
	assert_int_equal(mode_of("to"), 0700);
	assert_int_equal(symlink("nowhere", at("dangling")), 0);
	assert_int_equal(copy("dangling", "other"), -ENOENT);
}

/* The copy is its owner's alone, and can be read and written; what is a program stays one. */
static void modes_are_those_of_the_owner(void **state UNUSED)
{
	put("from/plain", "");
	put("from/program", "");
	put("from/locked", "");
	assert_int_equal(chmod(at("from/plain"), 0666), 0);
	assert_int_equal(chmod(at("from/program"), 06755), 0);
	assert_int_equal(chmod(at("from/locked"), 0444), 0);
	assert_int_equal(chmod(at("from"), 0777), 0);
	assert_int_equal(copy("from", "to"), 0);
	assert_int_equal(mode_of("to"), 0700);
	assert_int_equal(mode_of("to/plain"), 0600);
	assert_int_equal(mode_of("to/program"), 0700);
	assert_int_equal(mode_of("to/locked"), 0600);
}

static void a_name_that_is_taken_stays_as_it_is(void **state UNUSED)
{
	put("from/file", "new");
	put("file", "new");
	put("to/file", "old");
	put("there", "old");
	assert_int_equal(symlink("nowhere", at("dangling")), 0);
	assert_int_equal(copy("from", "to"), -EEXIST);
	assert_int_equal(copy("file", "there"), -EEXIST);
	assert_int_equal(copy("file", "dangling"), -EEXIST);
	assert_int_equal(copy("from", "there"), -EEXIST);
	assert_str(text_of("to/file"), "old");
	assert_str(text_of("there"), "old");
	assert_false(is_there("nowhere"));
}

static void what_has_no_bytes_is_left_out(void **state UNUSED)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	AUTO_CLOSE int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	put("from/file", "text");
	assert_int_equal(mkfifo(at("from/fifo"), 0600), 0);
	(void)snprintf(address.sun_path, sizeof(address.sun_path), "%s", at("from/socket"));
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(copy("from", "to"), 0);
	assert_int_equal(skipped, 2);
	assert_true(is_there("to/file"));
	assert_false(is_there("to/fifo"));
	assert_false(is_there("to/socket"));
	assert_int_equal(copy("from/fifo", "other"), -EINVAL);
	assert_int_equal(copy("from/socket", "other"), -ENXIO);
	assert_int_equal(copy("nowhere", "other"), -ENOENT);
	assert_false(is_there("other"));
}

static void a_failure_in_the_middle_leaves_nothing(void **state UNUSED)
{
	const struct rlimit small = { 3, RLIM_INFINITY };
	struct rlimit before;

	put("from/a", "abc");
	put("from/sub/b", "abcd"); /* a byte too many */
	put("from/sub/c", "abc");
	put("from/d", "abc");
	(void)signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	int whole = copy("from", "to"), file = copy("from/sub/b", "alone");
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(whole, -EFBIG);
	assert_int_equal(file, -EFBIG);
	assert_false(is_there("to"));
	assert_false(is_there("alone"));
	assert_str(text_of("from/sub/b"), "abcd");
}

/* That many directories, one in the other, and a file in the last. */
static void nested(int levels)
{
	AUTO_BUF path = BUF_INIT;

	buf_adds(&path, "from");
	for (int i = 1; i < levels; i++)
		buf_adds(&path, "/d");
	put(arena_printf(&arena, "%s/file", buf_cstr(&path)).p, "bottom");
}

static void what_is_too_deep_is_not_copied_in_part(void **state UNUSED)
{
	nested(64);
	assert_int_equal(copy("from", "to"), 0);
	nested(65);
	assert_int_equal(copy("from", "other"), -ELOOP);
	assert_false(is_there("other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_directory_is_copied_with_everything_in_it),
		T(a_file_is_copied),
		T(what_the_kernel_does_not_copy_is_read),
		T(links_inside_are_copied_as_links),
		T(the_thing_itself_may_be_given_by_a_link),
		T(modes_are_those_of_the_owner),
		T(a_name_that_is_taken_stays_as_it_is),
		T(what_has_no_bytes_is_left_out),
		T(a_failure_in_the_middle_leaves_nothing),
		T(what_is_too_deep_is_not_copied_in_part),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("copy-tree", tests, NULL, NULL);
}
