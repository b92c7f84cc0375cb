#include "remote/program.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/content.h"

/* Another build has another name, so an upgrade leaves the copies of running workers alone. */
static struct str name_of(struct str state_dir, const struct stat *st, struct arena *a)
{
	return arena_printf(a, "%.*s/bin/roux-" ROUX_VERSION "-%llx-%llx", STR(state_dir),
		(unsigned long long)st->st_size,
		(unsigned long long)st->st_mtim.tv_sec * 1000000 +
			(unsigned long long)st->st_mtim.tv_nsec / 1000);
}

bool program_path(struct str state_dir, struct arena *a, struct str *ret, struct report *report)
{
	struct stat st;

	if (stat("/proc/self/exe", &st) < 0)
		return report_errno(report, errno, "cannot read this program");
	*ret = name_of(state_dir, &st, a);
	return true;
}

bool program_copy(struct str state_dir, struct arena *a, struct str *ret, struct report *report)
{
	struct str dir = arena_printf(a, "%.*s/bin", STR(state_dir));
	struct stat st;
	AUTO_BUF temp = BUF_INIT;
	AUTO_CLOSE int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);

	if (from < 0 || fstat(from, &st) < 0)
		return report_errno(report, errno, "cannot read this program");
	*ret = name_of(state_dir, &st, a);
	if (access((*ret).p, X_OK) == 0)
		return true;
	int n = dir_make(dir.p);
	buf_printf(&temp, "%.*s.%d", STR((*ret)), (int)getpid());
	AUTO_CLOSE int to =
		n < 0 ? -1 : open(buf_cstr(&temp), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	struct content *all = content_from_fd(dup(from), 0, (uint64_t)st.st_size);
	n = n < 0 ? n : to < 0 ? -errno : content_write(all, to);
	content_unref(all);
	if (n == 0 && (fsync(to) < 0 || rename(buf_cstr(&temp), (*ret).p) < 0))
		n = -errno;
	if (n < 0)
		(void)unlink(buf_cstr(&temp));
	return n == 0 || report_errno(report, -n, "cannot copy this program to %.*s", STR(dir));
}
