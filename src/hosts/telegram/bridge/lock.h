#pragma once

#include "hosts/telegram/rules/lock.h"

/* locks.json, which programs of one agent directory share: one object, one entry for each program.
 * Ours says which process is the bridge. Entries of other programs are kept as they are. */

struct lock {
	const char *path;
	struct lock_entry me;
};

/* This process. `cwd` is borrowed. */
void lock_init(struct lock *l, const char *path, struct str cwd);

/* Who has it now. `ret` (may be NULL) has a pid of 0 when there is no entry; its text lives in the
 * arena. */
enum lock_state lock_look(const struct lock *l, struct arena *a, struct lock_entry *ret);
/* Whether the entry is this process's. */
bool lock_owned(const struct lock *l);

/* Writes our entry. Without `force` only where no live process has one: *ret_taken says whether.
 * False with an issue: the file cannot be written. */
bool lock_take(const struct lock *l, bool force, bool *ret_taken, struct report *r);
/* Removes our entry or a stale one, never that of another live process. */
bool lock_drop(const struct lock *l, struct report *r);
