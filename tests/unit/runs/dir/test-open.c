#include "runs/dir/open.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runs/dir/remove-tree.h"
#include "unit.h"

/* DIR/{file,fifo,link,loop,sub/file,out → ELSEWHERE}, ELSEWHERE/file */
struct place {
	char base[64], dir[80], elsewhere[80];
};

static const char *at(const char *dir, const char *name)
{
	static char path[4][256];
	static unsigned next;
	char *p = path[next++ % 4];

	(void)snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void put(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_int_equal(write(fd, "text", 4), 4);
	assert_int_equal(close(fd), 0);
}

static int set_up(void **state)
{
	struct place *p = calloc(1, sizeof(*p));

	(void)snprintf(p->base, sizeof(p->base), "/tmp/roux-unit-open.XXXXXX");
	if (!mkdtemp(p->base))
		return -1;
	(void)snprintf(p->dir, sizeof(p->dir), "%s/run", p->base);
	(void)snprintf(p->elsewhere, sizeof(p->elsewhere), "%s/elsewhere", p->base);
	assert_int_equal(mkdir(p->dir, 0700) | mkdir(p->elsewhere, 0700), 0);
	assert_int_equal(mkdir(at(p->dir, "sub"), 0700), 0);
	put(at(p->dir, "file"));
	put(at(p->dir, "sub/file"));
	put(at(p->elsewhere, "file"));
	assert_int_equal(mkfifo(at(p->dir, "fifo"), 0600), 0);
	assert_int_equal(symlink(at(p->elsewhere, "file"), at(p->dir, "link")), 0);
	assert_int_equal(symlink(p->elsewhere, at(p->dir, "out")), 0);
	*state = p;
	return 0;
}

static int tear_down(void **state)
{
	struct place *p = *state;

	(void)remove_tree(AT_FDCWD, p->base, NULL);
	free(p);
	return 0;
}

static void opens(const struct place *p, const char *name, int flags)
{
	int fd = run_open(p->dir, name, flags);

	if (fd < 0)
		fail_msg("%s: %d", name, fd);
	assert_int_equal(close(fd), 0);
}

static void regular_files_beneath_are_opened(void **state)
{
	const struct place *p = *state;

	opens(p, "file", O_RDONLY);
	opens(p, "sub/file", O_RDWR);
	opens(p, "new", O_WRONLY | O_CREAT);
	opens(p, "sub/new", O_WRONLY | O_CREAT | O_EXCL);
	assert_int_equal(run_open(p->dir, "none", O_RDONLY), -ENOENT);
	int fd = run_open_path(at(p->dir, "file"), O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void what_is_not_a_regular_file_is_refused_at_once(void **state)
{
	const struct place *p = *state;

	assert_int_equal(run_open(p->dir, "fifo", O_RDONLY), -EINVAL);
	assert_int_equal(run_open(p->dir, "fifo", O_WRONLY), -EINVAL);
	assert_int_equal(run_open(p->dir, "fifo", O_RDWR | O_CREAT), -EINVAL);
	assert_int_equal(run_open(p->dir, "sub", O_RDONLY), -EISDIR);
}

static void no_link_is_followed(void **state)
{
	const struct place *p = *state;

	assert_int_equal(run_open(p->dir, "link", O_RDONLY), -ELOOP);
	assert_int_equal(run_open(p->dir, "out/file", O_RDONLY), -ELOOP);
	assert_int_equal(run_open(p->dir, "out/new", O_WRONLY | O_CREAT), -ELOOP);
	assert_true(access(at(p->elsewhere, "new"), F_OK) < 0);
	assert_true(run_open_dir(p->dir, "out", true) < 0);
	assert_true(run_open(at(p->dir, "out"), "file", O_RDONLY) < 0);
}

static void nothing_leads_out(void **state)
{
	const struct place *p = *state;

	assert_int_equal(run_open(p->dir, "../elsewhere/file", O_RDONLY), -EXDEV);
	assert_int_equal(run_open(p->dir, at(p->elsewhere, "file"), O_RDONLY), -EXDEV);
}

static void directories_are_made_beneath(void **state)
{
	const struct place *p = *state;
	int fd = run_open_dir(p->dir, "sub/more", true);

	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
	assert_int_equal(run_open_dir(p->dir, "other", false), -ENOENT);
	fd = run_open_dir(p->dir, ".", false);
	assert_true(fd >= 0);
	assert_int_equal(close(fd), 0);
}

static void a_file_is_read_up_to_a_limit(void **state)
{
	const struct place *p = *state;
	AUTO_BUF text = BUF_INIT;

	assert_int_equal(run_read(p->dir, "sub/file", 4, &text), 0);
	assert_str(buf_str(&text), "text");
	assert_int_equal(run_read(p->dir, "sub/file", 3, &text), -EFBIG);
}

/* From here on the kernel is one that does not know openat2(). */
static void without_openat2(void **state UNUSED)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

#define IN_A_PLACE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
#define ALL                                                                     \
	IN_A_PLACE(regular_files_beneath_are_opened),                           \
		IN_A_PLACE(what_is_not_a_regular_file_is_refused_at_once),      \
		IN_A_PLACE(no_link_is_followed), IN_A_PLACE(nothing_leads_out), \
		IN_A_PLACE(directories_are_made_beneath), IN_A_PLACE(a_file_is_read_up_to_a_limit)

int main(void)
{
	const struct CMUnitTest tests[] = { ALL, cmocka_unit_test(without_openat2), ALL };

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("open", tests, NULL, NULL);
}
