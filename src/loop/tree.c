#include "loop/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/lang.h"
#include "base/process.h"
#include "base/vec.h"

enum { CMDLINE_MAX = 4 << 20, SETTLE_MS = 20 };

struct tree_process {
	pid_t pid;
	uint64_t start;
};

struct member {
	struct process_stat is;
	bool ours; /* a descendant of this process */
};

struct tree_scan {
	VEC(struct member) processes; /* in order of pid */
};

static struct member *find(struct tree_scan *scan, pid_t pid)
{
	size_t low = 0, high = scan->processes.len;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (scan->processes.at[mid].is.pid < pid)
			low = mid + 1;
		else
			high = mid;
	}
	if (low < scan->processes.len && scan->processes.at[low].is.pid == pid)
		return &scan->processes.at[low];
	return NULL;
}

static int by_pid(const void *a, const void *b)
{
	const struct member *x = a, *y = b;

	return x->is.pid < y->is.pid ? -1 : x->is.pid > y->is.pid;
}

/* Follows the parents up; the list is a snapshot, so a loop cannot be ruled out. */
static bool descends_from(struct tree_scan *scan, const struct member *p, pid_t from)
{
	for (size_t hops = 0; p && hops <= scan->processes.len; hops++) {
		if (p->is.parent == from)
			return true;
		p = p->is.parent > 1 ? find(scan, p->is.parent) : NULL;
	}
	return false;
}

struct tree_scan *tree_scan_new(void)
{
	DIR *proc = opendir("/proc");

	if (!proc)
		return NULL;
	struct tree_scan *scan = mem_new(struct tree_scan);
	for (struct dirent *e; (e = readdir(proc));) {
		uint64_t pid;
		struct member p = { 0 };

		if (str_to_uint(str_of(e->d_name), &pid) && process_read((int64_t)pid, &p.is) == 0)
			vec_push(&scan->processes, p);
	}
	(void)closedir(proc);
	if (!find(scan, getpid()) && !scan->processes.len) {
		/* An empty directory where /proc should be. */
		tree_scan_free(scan);
		return NULL;
	}
	if (scan->processes.len)
		qsort(scan->processes.at, scan->processes.len, sizeof(struct member), by_pid);
	vec_each (p, &scan->processes)
		p->ours = descends_from(scan, p, getpid());
	return scan;
}

void tree_scan_free(struct tree_scan *scan)
{
	if (!scan)
		return;
	vec_done(&scan->processes);
	free(scan);
}

/* The second word of its command line. */
static bool has_command(pid_t pid, struct str command)
{
	AUTO_BUF words = BUF_INIT;
	char path[40];

	(void)snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
	(void)file_read(path, CMDLINE_MAX, &words);
	struct str all = buf_str(&words);
	size_t program = str_find(all, '\0', 0) + 1;
	return program < all.len &&
	       str_eq(str_sub(all, program, str_find(all, '\0', program) - program), command);
}

/* Whether it executes the file that this process does, or the one that has replaced it since. */
static bool runs_this_program(pid_t pid)
{
	const struct str gone = S(" (deleted)");
	char path[40], own[PATH_MAX], other[PATH_MAX];
	struct stat a, b;

	(void)snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (stat(path, &a) == 0 && stat("/proc/self/exe", &b) == 0 && a.st_dev == b.st_dev &&
		a.st_ino == b.st_ino)
		return true;
	ssize_t m = readlink("/proc/self/exe", own, sizeof(own));
	ssize_t n = readlink(path, other, sizeof(other));
	if (m <= 0 || n <= 0)
		return false;
	struct str mine = { own, (size_t)m };
	return str_ends(mine, gone) &&
	       str_eq(str_sub(mine, 0, mine.len - gone.len), (struct str){ other, (size_t)n });
}

/* `roux COMMAND …`, in a session of its own. */
static bool is_own(const struct member *p, struct str command)
{
	return p->is.session == p->is.pid && has_command(p->is.pid, command);
}

static void spare(struct tree_scan *scan, struct member *p)
{
	p->ours = false;
	vec_each (child, &scan->processes)
		child->ours &= !descends_from(scan, child, p->is.pid);
}

/* A script can be called as a supervisor is. */
void tree_scan_spare_runs(struct tree_scan *scan)
{
	vec_each (p, &scan->processes)
		if (p->ours && is_own(p, S("supervise")) && runs_this_program(p->is.pid))
			spare(scan, p);
}

/* They execute a copy of the program. */
void tree_scan_spare_holders(struct tree_scan *scan)
{
	vec_each (p, &scan->processes)
		if (p->ours && is_own(p, S("worker")))
			spare(scan, p);
}

void tree_scan_spare(struct tree_scan *scan, pid_t pid)
{
	vec_each (p, &scan->processes)
		if (p->is.pid == pid)
			spare(scan, p);
}

/* The value of ROUX_TREE in its environment, marks between slashes; empty when there is none.
 * False: it is being replaced by another program, and cannot be told yet. */
static bool read_marks(pid_t pid, struct buf *ret)
{
	AUTO_BUF environ_text = BUF_INIT;

	if (process_environ_settled(pid, SETTLE_MS, &environ_text) == -EAGAIN)
		return false;
	struct str text = buf_str(&environ_text);
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\0', at);
		struct str entry = str_sub(text, at, end - at);

		if (str_starts(entry, S(TREE_VARIABLE "="))) {
			buf_add(ret, entry);
			return true;
		}
		at = end + 1;
	}
	return true;
}

bool tree_marked(pid_t pid, struct str mark)
{
	AUTO_BUF marks = BUF_INIT;

	(void)read_marks(pid, &marks);
	return str_contains(buf_str(&marks), mark);
}

/* A process of this program, or one that was started as `roux run …` and its like are: the commands
 * that can be above a command of a run. One too many does no harm. */
static bool runs_commands(pid_t pid)
{
	static const char *const commands[] = { "supervise", "run", "resume", "rerun", "approve" };

	if (runs_this_program(pid))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (has_command(pid, str_of(commands[i])))
			return true;
	return false;
}

void tree_marks_above(struct buf *ret)
{
	const size_t name = sizeof(TREE_VARIABLE "=") - 1;
	struct process_stat p;

	for (pid_t pid = getppid(); pid > 1 && process_read(pid, &p) == 0; pid = p.parent) {
		AUTO_BUF marks = BUF_INIT;

		(void)read_marks(pid, &marks);
		if (marks.len > name) {
			buf_add(ret, str_from(buf_str(&marks), name));
			return;
		}
		/* What threw its environment away and was orphaned is a child of the supervisor. */
		if (runs_commands(pid)) {
			buf_printf(ret, "/%d-0.0/", pid);
			return;
		}
	}
}

static bool began_after(const struct member *p, uint64_t ms)
{
	/* A start is rounded down to a tick. */
	return ms && process_ticks_ms(p->is.start + 1) >= ms;
}

/* What cannot be told yet counts, so that a tree is not called gone, and is let alone. */
enum belonging { STRANGER, UNSETTLED, MEMBER };

static enum belonging belongs(struct tree_scan *scan, const struct member *p, const struct tree *t)
{
	AUTO_BUF marks = BUF_INIT;

	if (!t)
		return MEMBER;
	if (t->pid && (p->is.pid == t->pid || p->is.group == t->pid || p->is.session == t->pid ||
			      descends_from(scan, p, t->pid)))
		return MEMBER;
	if (!t->mark.len)
		return STRANGER;
	if (!read_marks(p->is.pid, &marks))
		return UNSETTLED;
	bool is = marks.len ? str_contains(buf_str(&marks), t->mark)
			    : began_after(p, t->adopt_since_ms);
	return is ? MEMBER : STRANGER;
}

/* Through a pidfd whose process is still the one that was looked at. */
static void send(const struct member *p, int sig)
{
	AUTO_CLOSE int fd = (int)syscall(SYS_pidfd_open, p->is.pid, 0);
	struct process_stat now;

	if (fd >= 0 && process_read(p->is.pid, &now) == 0 && now.start == p->is.start)
		(void)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

static bool alive(const struct member *p)
{
	return p->ours && p->is.state != 'Z' && p->is.state != 'X';
}

size_t tree_count(struct tree_scan *scan, const struct tree *tree)
{
	size_t count = 0;

	vec_each (p, &scan->processes)
		count += alive(p) && belongs(scan, p, tree) != STRANGER;
	return count;
}

size_t tree_kill(struct tree_scan *scan, const struct tree *tree)
{
	pid_t group = tree ? tree->pid : 0;
	bool group_killed = false;
	size_t count = 0;

	vec_each (p, &scan->processes) {
		enum belonging b = alive(p) ? belongs(scan, p, tree) : STRANGER;

		count += b != STRANGER;
		if (b != MEMBER)
			continue;
		/* The group in one go: one by one, a tree that forks all the time would win the
		 * race. */
		if (group && p->is.group == group && !group_killed)
			group_killed = kill(-group, SIGKILL) == 0;
		send(p, SIGKILL);
	}
	return count;
}

static bool was_asked(const struct tree_asked *asked, const struct member *p)
{
	vec_each (a, asked)
		if (a->pid == p->is.pid && a->start == p->is.start)
			return true;
	return false;
}

/* Whether another supervisor that is alive has started it: the last mark in its environment begins
 * with that one's pid. Being asked itself, it will ask. */
static bool has_own_supervisor(struct tree_scan *scan, const struct member *p)
{
	AUTO_BUF marks = BUF_INIT;
	uint64_t pid;

	(void)read_marks(p->is.pid, &marks);
	struct str s = buf_str(&marks);
	if (s.len && s.p[s.len - 1] == '/')
		s.len--;
	size_t from = s.len;
	while (from && s.p[from - 1] != '/')
		from--;
	s = str_from(s, from);
	if (!str_to_uint(str_sub(s, 0, str_find(s, '-', 0)), &pid) || (pid_t)pid == getpid())
		return false;
	const struct member *supervisor = find(scan, (pid_t)pid);
	return supervisor && supervisor != p && alive(supervisor);
}

size_t tree_ask(struct tree_scan *scan, const struct tree *tree, struct tree_asked *asked)
{
	size_t count = 0;
	pid_t group = tree ? tree->pid : 0;
	bool group_asked = false;

	vec_each (p, &scan->processes) {
		enum belonging b = alive(p) ? belongs(scan, p, tree) : STRANGER;

		count += b != STRANGER;
		if (b != MEMBER || was_asked(asked, p) || has_own_supervisor(scan, p))
			continue;
		vec_push(asked, (struct tree_process){ p->is.pid, p->is.start });
		/* As it is now: since the scan it may have left. */
		if (group && getpgid(p->is.pid) == group) {
			/* The whole group in one call, so that a process being forked gets it too.
			 */
			if (!group_asked && kill(-group, SIGTERM) == 0)
				(void)kill(-group, SIGCONT);
			group_asked = true;
			continue;
		}
		send(p, SIGTERM);
		send(p, SIGCONT);
	}
	return count;
}

void tree_asked_done(struct tree_asked *asked)
{
	vec_done(asked);
}

size_t tree_reap(bool (*known)(void *data, pid_t pid), void *data)
{
	for (size_t reaped = 0;; reaped++) {
		siginfo_t info = { 0 };

		/* Look without taking: a watched command is taken by its own watch. */
		if (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 || !info.si_pid ||
			known(data, info.si_pid))
			return reaped;
		(void)waitid(P_PID, (id_t)info.si_pid, &info, WEXITED | WNOHANG);
	}
}

bool tree_has_children(void)
{
	siginfo_t info = { 0 };

	return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}

bool tree_become_subreaper(void)
{
	return prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;
}
