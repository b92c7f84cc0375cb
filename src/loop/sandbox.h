#pragma once

#include "base/str.h"

/* What commands may do to the machine, enforced by the kernel (Landlock): they may read and execute
 * everything, and write only below a few places. It holds for all that they start. */

struct sandbox_rules {
	const char *const *writable; /* paths; NULL-terminated. One that is not there is left out */
	bool offline;                /* no TCP connections, neither way */
};

/* What of it this kernel cannot enforce, for people; NULL: nothing. */
const char *sandbox_missing(const struct sandbox_rules *rules);
/* A descriptor for child_spec.sandbox, which the caller closes; -errno. */
int sandbox_open(const struct sandbox_rules *rules);
/* The calling thread is in it from now on. Only system calls: for a child before it executes.
 * 0 or errno. */
int sandbox_enter(int fd);
