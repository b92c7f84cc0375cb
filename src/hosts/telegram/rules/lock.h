#pragma once

#include "base/arena.h"
#include "data/json.h"

/* Entries of locks.json, which programs of one agent directory share: which process is the bridge.
 */

struct lock_entry {
	int64_t pid;      /* 0: there is no valid entry */
	struct str cwd;   /* borrowed; empty: the entry does not say */
	uint64_t started; /* milliseconds since 1970; 0: the entry does not say */
};

/* An object with a whole positive `pid`; anything else is not one. */
struct lock_entry lock_entry_read(const json_t *value);

enum lock_state {
	LOCK_STATE_INACTIVE,  /* no valid entry */
	LOCK_STATE_HERE,      /* this process */
	LOCK_STATE_ELSEWHERE, /* a live one */
	LOCK_STATE_STALE,     /* one that is gone, or whose number another process has now */
};

/* `alive`: the process exists, one that may not be signalled included, and began when the entry
 * says. */
enum lock_state lock_state(int64_t pid, int64_t me, bool alive);

/* Whether two times of a start, in milliseconds, are of the same process. 0: not known. */
bool lock_same_start(uint64_t a, uint64_t b);

/* Whether the entry is ours: this process, and the same directory where it names one. */
bool lock_owns(const struct lock_entry *entry, const struct lock_entry *me);
/* Whether a start may write its entry. */
bool lock_may_take(enum lock_state state, bool force);

/* The registry with `key` set to this entry (NULL: without it), all others kept as they are. A new
 * reference. */
json_t *lock_registry(const json_t *registry, const char *key, const struct lock_entry *entry);
