#include "app/launch/enclose.h"

#include <stdlib.h>

#include "app/record/launch.h"
#include "loop/sandbox.h"

bool launch_enclose(const struct launch *l, int *ret, struct report *r)
{
	const char *temporary = getenv("TMPDIR");
	const char *const writable[] = { l->claim.cwd.len ? l->claim.cwd.p : ".",
		l->claim.dir.len ? l->claim.dir.p : "/dev/null",
		temporary && *temporary ? temporary : "/tmp", "/var/tmp", "/dev/null", "/dev/zero",
		"/dev/full", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm", NULL };
	const struct sandbox_rules rules = { writable, l->asked.offline };

	*ret = -1;
	if (!l->asked.sandbox)
		return true;
	const char *missing = sandbox_missing(&rules);
	if (missing)
		return report_system(
			r, (struct where){ 0 }, "the run cannot be kept in a sandbox: %s", missing);
	int fd = sandbox_open(&rules);
	if (fd < 0)
		return report_errno(r, -fd, "the run cannot be kept in a sandbox");
	*ret = fd;
	return true;
}
