#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/record/launch.h"
#include "base/environ.h"
#include "base/file.h"
#include "base/path.h"
#include "base/program.h"
#include "loop/tree.h"
#include "runs/dir/open.h"

/* Where the supervisor finds what it is handed. */
enum { LOCK_FD = 3, READY_FD = 4 };

extern char **environ;

static int actions(posix_spawn_file_actions_t *a, struct launch *l, int lock, int ready, int errors)
{
	int r = posix_spawn_file_actions_addopen(a, 0, "/dev/null", O_RDONLY, 0);

	r = r ? r : posix_spawn_file_actions_addopen(a, 1, "/dev/null", O_WRONLY, 0);
	r = r ? r : posix_spawn_file_actions_adddup2(a, errors, 2);
	if (l->claim.cwd.len)
		r = r ? r
		      : posix_spawn_file_actions_addchdir_np(
				a, arena_cstr(&l->arena, l->claim.cwd));
	r = r ? r : posix_spawn_file_actions_adddup2(a, lock, LOCK_FD);
	r = r ? r : posix_spawn_file_actions_adddup2(a, ready, READY_FD);
	return r ? r : posix_spawn_file_actions_addclosefrom_np(a, READY_FD + 1);
}

static const char *runnable(struct arena *a, struct str dir, struct str name)
{
	struct str path = path_below(a, dir, name);

	return access(path.p, X_OK) == 0 ? path.p : NULL;
}

/* This program; for a host's own, the one beside the library in a build tree, below its prefix when
 * it is installed, or on PATH. NULL: there is none. */
static const char *find_program(struct launch *l)
{
	struct arena *a = &l->arena;

	if (l->app->manners.is_roux)
		return "/proc/self/exe";
	struct str lib = path_dir(code_path(a)), up = path_dir(lib);
	const char *found = runnable(a, lib, S("roux"));
	found = found ? found : runnable(a, up, S("bin/roux"));
	found = found ? found : runnable(a, path_dir(up), S("bin/roux"));
	if (found)
		return found;
	return program_find(a, S("roux"), path_absolute(a, S(".")), program_search(), NULL);
}

bool launch_can_detach(struct launch *l, struct report *r)
{
	if (!l->asked.detached || find_program(l))
		return true;
	report_error(r, (struct where){ 0 },
		"there is no roux program, which looks after a detached run");
	return report_hint(r, "install it where the library is, or put it on PATH");
}

/* A command of a run that throws its environment away and starts another run does not get out of
 * its tree by that: it still cannot answer for the run that it belongs to. */
static char *const *marked_environ(struct launch *l)
{
	AUTO_BUF marks = BUF_INIT;

	if (!getenv(TREE_VARIABLE))
		tree_marks_above(&marks);
	if (!marks.len)
		return environ;
	struct str mark = arena_printf(&l->arena, TREE_VARIABLE "=%s", buf_cstr(&marks));
	return (char *const *)environ_with(&l->arena, (const char *const[]){ mark.p, NULL });
}

/* The supervisor must find the same places as this host, from its own directory. */
static char *const *supervisor_environ(struct launch *l)
{
	struct str state = arena_printf(&l->arena, "ROUX_STATE_DIR=%.*s", STR(l->claim.root));
	struct environ_list own = { 0 };

	if (l->app->manners.own_process)
		return marked_environ(l);
	environ_add(&own, l->app->variables, (const char *const[]){ state.p, NULL });
	vec_push(&own.vars, NULL);
	const char *const *env = environ_with(&l->arena, own.vars.at);
	vec_done(&own.vars);
	return (char *const *)env;
}

static int spawn(struct launch *l, bool resume, int ready, pid_t *pid)
{
	bool apart = !l->app->manners.own_process;
	const char *how = resume  ? (apart ? "resume-apart" : "resume")
			  : apart ? DETACHED_APART
				  : NULL;
	const char *argv[] = { "roux", "supervise", l->claim.dir.p, how, NULL };
	const char *program = find_program(l);
	char *const *env = supervisor_environ(l);
	/* Duplicated above READY_FD first: in a caller without descriptors 0 to 2, the lock or the
	 * pipe may have one of the numbers that dup2() overwrites. */
	AUTO_CLOSE int lock = fcntl(l->claim.lock, F_DUPFD_CLOEXEC, READY_FD + 1);
	AUTO_CLOSE int tell = fcntl(ready, F_DUPFD_CLOEXEC, READY_FD + 1);
	AUTO_CLOSE int log = run_open(l->claim.dir.p, "stderr.log", O_WRONLY | O_CREAT | O_APPEND);
	AUTO_CLOSE int errors = log < 0 ? log : fcntl(log, F_DUPFD_CLOEXEC, READY_FD + 1);
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;

	if (log < 0)
		return log;
	if (lock < 0 || tell < 0 || errors < 0)
		return -errno;
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawn_file_actions_init(&files);
	(void)sigemptyset(&none);
	(void)sigfillset(&all);
	/* A session of its own: neither a terminal nor the process that started it can end it. */
	(void)posix_spawnattr_setflags(
		&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawnattr_setsigdefault(&attr, &all);
	int r = actions(&files, l, lock, tell, errors);
	r = r ? r : posix_spawn(pid, program, &files, &attr, (char *const *)argv, env);
	(void)posix_spawnattr_destroy(&attr);
	(void)posix_spawn_file_actions_destroy(&files);
	return -r;
}

int64_t launch_detach(struct launch *l, bool resume, struct report *r)
{
	AUTO_BUF said = BUF_INIT;
	int ends[2];
	pid_t pid = 0;
	int heard = 0;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return report_errno(r, errno, "cannot start a supervisor"), -1;
	int n = spawn(l, resume, ends[1], &pid);
	close_fd(&ends[1]);
	if (n < 0)
		report_errno(r, -n, "cannot start a supervisor");
	else
		heard = fd_read_all(ends[0], 64 * 1024, &said);
	close_fd(&ends[0]);
	bool ok = str_eq(buf_str(&said), S("ok"));
	if (n == 0 && (!ok || !l->app->manners.own_process))
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	if (ok) {
		close_fd(&l->claim.lock); /* the supervisor has it */
		return pid;
	}
	if (n == 0)
		report_system(r, (struct where){ 0 }, "the run could not begin: %s",
			said.len    ? buf_cstr(&said)
			: heard < 0 ? strerror(-heard)
				    : "its supervisor was ended");
	return -1;
}

void detached_leave(void)
{
	pid_t pid = fork();

	if (pid == 0)
		return;
	if (pid < 0)
		(void)fd_write_all(READY_FD, S("there is no room for a process"));
	_exit(pid < 0);
}

void detached_begin(int *lock, int *ready)
{
	*lock = LOCK_FD;
	*ready = READY_FD;
	(void)fcntl(LOCK_FD, F_SETFD, FD_CLOEXEC);
	(void)fcntl(READY_FD, F_SETFD, FD_CLOEXEC);
}
