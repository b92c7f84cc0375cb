#include "loop/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/lang.h"

/* The header of the machine that builds may be older than the kernel that runs. */
enum {
	ABI_FILES = 3, /* truncating and renaming are controlled too */
	ABI_TCP = 4,
};
#define ACCESS_REFER (1ULL << 13)
#define ACCESS_TRUNCATE (1ULL << 14)
#define NET_BIND (1ULL << 0)
#define NET_CONNECT (1ULL << 1)

#define ACCESS_READ \
	(LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define ACCESS_FILE (LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)
#define ACCESS_WRITE                                                                    \
	(ACCESS_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE | \
		LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_DIR |            \
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |            \
		LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_BLOCK |          \
		LANDLOCK_ACCESS_FS_MAKE_SYM | ACCESS_REFER)

/* As the kernel wants it, with the member that came with ABI_TCP. */
struct ruleset {
	uint64_t files, net;
};

static int version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

const char *sandbox_missing(const struct sandbox_rules *rules)
{
	int abi = version();

	if (abi < 0)
		return "this kernel has no Landlock, or it is switched off";
	if (abi < ABI_FILES)
		return "the Landlock of this kernel cannot keep files from being truncated";
	return rules->offline && abi < ABI_TCP
		       ? "the Landlock of this kernel cannot forbid TCP connections"
		       : NULL;
}

static int allow(int ruleset, const char *path, uint64_t access)
{
	AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);
	struct landlock_path_beneath_attr rule = { .allowed_access = access, .parent_fd = fd };
	struct stat st;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 : -errno;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access &=
			ACCESS_FILE | LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
	return syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) < 0
		       ? -errno
		       : 0;
}

int sandbox_open(const struct sandbox_rules *rules)
{
	struct ruleset set = { .files = ACCESS_READ | ACCESS_WRITE,
		.net = rules->offline ? NET_BIND | NET_CONNECT : 0 };

	if (sandbox_missing(rules))
		return -ENOTSUP;
	/* An older kernel refuses a structure that is longer than it knows. */
	AUTO_CLOSE int fd = (int)syscall(SYS_landlock_create_ruleset, &set,
		rules->offline ? sizeof(set) : sizeof(set.files), 0);
	if (fd < 0)
		return -errno;
	int r = allow(fd, "/", ACCESS_READ);
	for (size_t i = 0; r == 0 && rules->writable[i]; i++)
		r = allow(fd, rules->writable[i], ACCESS_READ | ACCESS_WRITE);
	return r < 0 ? r : take_fd(&fd);
}

int sandbox_enter(int fd)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
		syscall(SYS_landlock_restrict_self, fd, 0) < 0)
		return errno;
	return 0;
}
