#include "hosts/telegram/bridge/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/process.h"

#define LOCK_KEY "roux-telegram"
enum { REGISTRY_MAX = 1 << 20 };

/* When a process was started; 0: there is no such process, or the kernel does not say. */
static uint64_t started_at(int64_t pid)
{
	struct process_stat p;

	if (process_read(pid, &p) < 0)
		return 0;
	return clock_real_ms() - clock_boot_ms() + process_ticks_ms(p.start);
}

void lock_init(struct lock *l, const char *path, struct str cwd)
{
	l->path = path;
	l->me = (struct lock_entry){ .pid = getpid(), .cwd = cwd, .started = started_at(getpid()) };
}

/* A file that is missing, unreadable or not an object counts as empty. */
static json_t *read_registry(const struct lock *l)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *d = NULL;

	if (file_read_regular(l->path, REGISTRY_MAX, &text) == 0)
		d = json_read(&(struct source){ S("locks.json"), buf_str(&text) }, &ignored);
	if (json_is_object(d))
		return d;
	json_decref(d);
	return json_object();
}

/* Alive, and the process that the entry means. A process of another user counts as alive. */
static bool alive(const struct lock_entry *e)
{
	if (e->pid <= 0 || e->pid > INT32_MAX || (kill((pid_t)e->pid, 0) < 0 && errno != EPERM))
		return false;
	return lock_same_start(e->started, started_at(e->pid));
}

static enum lock_state state_of(const struct lock *l, const struct lock_entry *e)
{
	return lock_state(e->pid, l->me.pid, alive(e));
}

enum lock_state lock_look(const struct lock *l, struct arena *a, struct lock_entry *ret)
{
	AUTO_JSON *registry = read_registry(l);
	struct lock_entry e = lock_entry_read(json_object_get(registry, LOCK_KEY));

	if (ret) {
		*ret = e;
		ret->cwd = arena_str(a, e.cwd);
	}
	return state_of(l, &e);
}

bool lock_owned(const struct lock *l)
{
	AUTO_JSON *registry = read_registry(l);
	struct lock_entry e = lock_entry_read(json_object_get(registry, LOCK_KEY));

	return lock_owns(&e, &l->me);
}

/* Holds locks.json.lock until the descriptor is closed. -errno. */
static int hold(const struct lock *l)
{
	struct arena a = ARENA_INIT;
	const char *path = arena_printf(&a, "%s.lock", l->path).p;
	const char *dir = arena_cstr(&a, path_dir(str_of(l->path)));
	int n = dir_make(dir);
	int fd = n < 0 ? n : open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd == -1)
		fd = -errno;
	while (fd >= 0 && flock(fd, LOCK_EX) < 0)
		if (errno != EINTR) {
			n = -errno;
			close_fd(&fd);
			fd = n;
		}
	arena_done(&a);
	return fd;
}

static bool write_registry(const struct lock *l, const json_t *registry, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	json_write_typed(&text, registry, 2);
	buf_addc(&text, '\n');
	int n = atomic_write(
		l->path, buf_str(&text), &(struct atomic_options){ .keep = true, .follow = true });
	return n == 0 || report_errno(r, -n, "cannot write '%s'", l->path);
}

bool lock_take(const struct lock *l, bool force, bool *ret_taken, struct report *r)
{
	AUTO_CLOSE int fd = hold(l);
	AUTO_JSON *registry = read_registry(l);
	struct lock_entry e = lock_entry_read(json_object_get(registry, LOCK_KEY));

	*ret_taken = lock_may_take(state_of(l, &e), force);
	if (fd < 0)
		return report_errno(r, -fd, "cannot lock '%s'", l->path);
	if (!*ret_taken)
		return true;
	AUTO_JSON *taken = lock_registry(registry, LOCK_KEY, &l->me);
	return write_registry(l, taken, r);
}

bool lock_drop(const struct lock *l, struct report *r)
{
	AUTO_CLOSE int fd = hold(l);
	AUTO_JSON *registry = read_registry(l);
	struct lock_entry e = lock_entry_read(json_object_get(registry, LOCK_KEY));
	enum lock_state state = state_of(l, &e);

	if (fd < 0)
		return report_errno(r, -fd, "cannot lock '%s'", l->path);
	if (state == LOCK_STATE_INACTIVE || state == LOCK_STATE_ELSEWHERE)
		return true;
	AUTO_JSON *dropped = lock_registry(registry, LOCK_KEY, NULL);
	return write_registry(l, dropped, r);
}
