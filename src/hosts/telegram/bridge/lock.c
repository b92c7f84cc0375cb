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
#include "hosts/telegram/rules/lock.h"

#define LOCK_KEY "roux-telegram"
enum { REGISTRY_MAX = 1 << 20 };

/* When a process was started; 0: there is no such process, or the kernel does not say. */
static uint64_t started_at(int64_t pid)
{
	AUTO_BUF text = BUF_INIT;
	char path[64];
	unsigned long long ticks = 0;

	(void)snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (file_read(path, 4096, &text) < 0)
		return 0;
	/* The name of the program, in parentheses, may contain anything. */
	const char *behind = strrchr(buf_cstr(&text), ')');
	if (!behind ||
		sscanf(behind + 1,
			" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
			"%*d %*d %llu",
			&ticks) != 1)
		return 0;
	struct timespec boot, now;
	(void)clock_gettime(CLOCK_BOOTTIME, &boot);
	(void)clock_gettime(CLOCK_REALTIME, &now);
	uint64_t up = (uint64_t)boot.tv_sec * 1000 + (uint64_t)boot.tv_nsec / 1000000;
	uint64_t real = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
	return real - up + ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

void lock_init(struct lock *l, const char *path, struct str cwd)
{
	l->path = path;
	l->me = (struct lock_owner){ .pid = getpid(), .cwd = cwd, .started = started_at(getpid()) };
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

static struct lock_owner owner_of(const json_t *entry)
{
	return (struct lock_owner){ .pid = json_number_of(entry, "pid"),
		.cwd = json_text_of(entry, "cwd"),
		.started = clock_read_rfc3339(json_text_of(entry, "startedAt")) };
}

/* Alive, and the process that the entry means. A process of another user counts as alive. */
static bool alive(const struct lock_owner *o)
{
	if (o->pid <= 0 || o->pid > INT32_MAX || (kill((pid_t)o->pid, 0) < 0 && errno != EPERM))
		return false;
	return lock_same_start(o->started, started_at(o->pid));
}

static enum lock_standing standing(const struct lock *l, const struct lock_owner *o)
{
	static const enum lock_standing of[] = {
		[LOCK_STATE_INACTIVE] = LOCK_FREE,
		[LOCK_STATE_HERE] = LOCK_HERE,
		[LOCK_STATE_ELSEWHERE] = LOCK_ELSEWHERE,
		[LOCK_STATE_STALE] = LOCK_STALE,
	};

	return of[lock_state(o->pid, l->me.pid, alive(o))];
}

enum lock_standing lock_look(const struct lock *l, struct arena *a, struct lock_owner *ret)
{
	AUTO_JSON *registry = read_registry(l);
	struct lock_owner o = owner_of(json_object_get(registry, LOCK_KEY));

	if (ret) {
		*ret = o;
		ret->cwd = arena_str(a, o.cwd);
	}
	return standing(l, &o);
}

bool lock_owned(const struct lock *l)
{
	AUTO_JSON *registry = read_registry(l);
	struct lock_owner o = owner_of(json_object_get(registry, LOCK_KEY));

	return o.pid == l->me.pid && str_eq(o.cwd, l->me.cwd) &&
	       lock_same_start(o.started, l->me.started);
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
	struct lock_owner o = owner_of(json_object_get(registry, LOCK_KEY));
	AUTO_BUF time = BUF_INIT;

	*ret_taken = force || standing(l, &o) != LOCK_ELSEWHERE;
	if (fd < 0)
		return report_errno(r, -fd, "cannot lock '%s'", l->path);
	if (!*ret_taken)
		return true;
	clock_rfc3339(&time, l->me.started);
	json_object_set_new(registry, LOCK_KEY,
		json_pack("{s:I,s:o,s:s}", "pid", (json_int_t)l->me.pid, "cwd",
			json_from_str(l->me.cwd), "startedAt", buf_cstr(&time)));
	return write_registry(l, registry, r);
}

bool lock_drop(const struct lock *l, struct report *r)
{
	AUTO_CLOSE int fd = hold(l);
	AUTO_JSON *registry = read_registry(l);
	struct lock_owner o = owner_of(json_object_get(registry, LOCK_KEY));
	enum lock_standing s = standing(l, &o);

	if (fd < 0)
		return report_errno(r, -fd, "cannot lock '%s'", l->path);
	if (s == LOCK_FREE || s == LOCK_ELSEWHERE)
		return true;
	json_object_del(registry, LOCK_KEY);
	return write_registry(l, registry, r);
}
