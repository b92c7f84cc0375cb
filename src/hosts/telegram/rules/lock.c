#include "hosts/telegram/rules/lock.h"

#include "base/clock.h"
#include "hosts/telegram/rules/update.h"

enum { SAME_START_MS = 2000 };

struct lock_entry lock_entry_read(const json_t *value)
{
	struct lock_entry e = { 0 };

	if (!json_is_object(value) || !json_whole(json_object_get(value, "pid"), &e.pid) ||
		e.pid <= 0)
		return (struct lock_entry){ 0 };
	e.cwd = json_text_of(value, "cwd");
	e.started = clock_read_rfc3339(json_text_of(value, "startedAt"));
	return e;
}

enum lock_state lock_state(int64_t pid, int64_t me, bool alive)
{
	return pid <= 0    ? LOCK_STATE_INACTIVE
	       : pid == me ? LOCK_STATE_HERE
	       : alive     ? LOCK_STATE_ELSEWHERE
			   : LOCK_STATE_STALE;
}

bool lock_same_start(uint64_t a, uint64_t b)
{
	return !a || !b || (a > b ? a - b : b - a) <= SAME_START_MS;
}

bool lock_owns(const struct lock_entry *entry, const struct lock_entry *me)
{
	return entry->pid > 0 && entry->pid == me->pid &&
	       (!entry->cwd.len || str_eq(entry->cwd, me->cwd)) &&
	       lock_same_start(entry->started, me->started);
}

bool lock_may_take(enum lock_state state, bool force)
{
	return state != LOCK_STATE_ELSEWHERE || force;
}

json_t *lock_registry(const json_t *registry, const char *key, const struct lock_entry *entry)
{
	json_t *copy = json_copy((json_t *)registry);
	AUTO_BUF time = BUF_INIT;

	if (!entry) {
		json_object_del(copy, key);
		return copy;
	}
	json_t *value = json_object();
	json_object_set_new(value, "pid", json_integer(entry->pid));
	json_object_set_new(value, "cwd", json_from_str(entry->cwd));
	if (entry->started) {
		clock_rfc3339(&time, entry->started);
		json_object_set_new(value, "startedAt", json_from_str(buf_str(&time)));
	}
	json_object_set_new(copy, key, value);
	return copy;
}
