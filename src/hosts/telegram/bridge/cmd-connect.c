#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/cli.h"

struct connect_opts {
	bool detach, force;
	const char *api;
	const char *ready; /* of a detached start: the descriptor that hears of it */
	struct companion_common common;
};

static const struct opt own_opts[] = {
	OPT_FLAG('d', "detach", struct connect_opts, detach, "return when it polls"),
	OPT_FLAG('f', "force", struct connect_opts, force,
		"take over from another process without asking"),
	OPT_TEXT(0, "api", "URL", struct connect_opts, api, "the Bot API server, this time"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	COMPANION_COMMON(struct connect_opts),
};

static bool agrees(const struct lock_entry *o)
{
	AUTO_BUF question = BUF_INIT;
	char answer[16] = "";

	buf_printf(&question, "Process %lld (%.*s) is the bridge. Take over? [y/N] ",
		(long long)o->pid, STR(o->cwd));
	(void)fd_write_all(STDERR_FILENO, buf_str(&question));
	return read(STDIN_FILENO, answer, sizeof(answer) - 1) > 0 &&
	       (answer[0] == 'y' || answer[0] == 'Y');
}

static bool take_lock(struct companion *c, struct bridge *b, const struct connect_opts *o)
{
	struct lock_entry owner;
	bool taken = false, force = o->force;

	if (lock_look(&b->lock, &c->arena, &owner) == LOCK_STATE_ELSEWHERE && !force &&
		isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		force = agrees(&owner);
	if (!lock_take(&b->lock, force, &taken, &c->report))
		return false;
	if (taken)
		return true;
	report_error(&c->report, (struct where){ 0 }, "process %lld (%.*s) is the bridge",
		(long long)owner.pid, STR(owner.cwd));
	return report_hint(&c->report, "roux telegram connect --force takes over from it");
}

static bool check(struct companion *c, struct bridge *b)
{
	if (b->token.len)
		return true;
	report_error(&c->report, (struct where){ 0 }, "no token is stored");
	return report_hint(&c->report, "roux telegram setup asks for one");
}

/* -- detached ------------------------------------------------------------------------------------
 */

enum { READY_FD = 3 };

/* Only of the child of a detached start. */
static void tell_ready(void *data)
{
	(void)data;
	if (fcntl(READY_FD, F_GETFD) >= 0) {
		(void)fd_write_all(READY_FD, S("ok"));
		(void)close(READY_FD);
	}
	(void)unsetenv("ROUX_TELEGRAM_READY");
}

extern char **environ;

static int spawn(const struct connect_opts *o, const char *log, int tell, pid_t *pid)
{
	const char *argv[8] = { "roux-telegram", "connect" };
	size_t n = 2;
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;

	if (o->api) {
		argv[n++] = "--api";
		argv[n++] = o->api;
	}
	if (o->force)
		argv[n++] = "--force";
	(void)sigemptyset(&none);
	(void)posix_spawnattr_init(&attr);
	(void)posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK);
	(void)posix_spawnattr_setsigmask(&attr, &none);
	(void)posix_spawn_file_actions_init(&files);
	int r = posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	r = r ? r : posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	r = r ? r
	      : posix_spawn_file_actions_addopen(
			&files, 2, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	r = r ? r : posix_spawn_file_actions_adddup2(&files, tell, READY_FD);
	(void)setenv("ROUX_TELEGRAM_READY", "1", 1);
	r = r ? r : posix_spawn(pid, "/proc/self/exe", &files, &attr, (char *const *)argv, environ);
	(void)posix_spawn_file_actions_destroy(&files);
	(void)posix_spawnattr_destroy(&attr);
	return -r;
}

static int detach(struct companion *c, struct bridge *b, const struct connect_opts *o)
{
	struct lock_entry owner;
	AUTO_BUF said = BUF_INIT;
	int ends[2], n = places_prepare_temp(&b->places);
	pid_t pid = 0;
	const char *log = arena_printf(&c->arena, "%s/bridge.log", b->places.temp).p;

	if (!o->force && lock_look(&b->lock, &c->arena, &owner) == LOCK_STATE_ELSEWHERE) {
		report_error(&c->report, (struct where){ 0 }, "process %lld (%.*s) is the bridge",
			(long long)owner.pid, STR(owner.cwd));
		report_hint(&c->report, "roux telegram connect --force takes over from it");
		return companion_refuse(c, o->common.json);
	}
	n = n < 0 ? n : pipe2(ends, O_CLOEXEC) < 0 ? -errno : 0;
	if (n == 0) {
		AUTO_CLOSE int tell = fcntl(ends[1], F_DUPFD_CLOEXEC, READY_FD + 1);

		n = spawn(o, log, tell, &pid);
		close_fd(&ends[1]);
	}
	if (n < 0) {
		report_errno(&c->report, -n, "cannot start the bridge");
		return companion_refuse(c, o->common.json);
	}
	(void)fd_read_all(ends[0], 64, &said);
	close_fd(&ends[0]);
	if (!str_eq(buf_str(&said), S("ok"))) {
		int status = 0;

		(void)waitpid(pid, &status, 0);
		report_system(&c->report, (struct where){ 0 }, "the bridge ended before it polled");
		report_hint(&c->report, "%s says why", log);
		(void)companion_refuse(c, o->common.json);
		return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
	}
	AUTO_JSON *d = json_pack("{s:b,s:s,s:n,s:I,s:s,s:n,s:{},s:n}", "ok", 1, "status", "running",
		"run", "pid", (json_int_t)pid, "dir", b->places.temp, "recipe", "artifacts",
		"mailbox");
	companion_print_json(d);
	return 0;
}

static int connect_bridge(const struct call *call)
{
	struct companion *c = call->host;
	const struct connect_opts *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	bool told = getenv("ROUX_TELEGRAM_READY") != NULL;
	int status;

	bool ok = companion_enter(c, &o->common) && bridge_open(&b, tg_app(c), &note, &c->report) &&
		  check(c, &b);
	if (note.len)
		companion_say("%s", buf_cstr(&note));
	if (ok && o->detach) {
		status = detach(c, &b, o);
	} else if (ok && take_lock(c, &b, o)) {
		struct bridge_options how = { .api_url = o->api,
			.ready = told ? tell_ready : NULL };

		if (b.places.clock != 1)
			companion_say("the clock of buttons and menus is %llu times as fast",
				(unsigned long long)b.places.clock);
		status = bridge_run(&b, &how, &c->report);
		if (c->report.errors)
			status = companion_refuse(c, o->common.json);
	} else {
		status = companion_refuse(c, o->common.json);
	}
	bridge_close(&b);
	return status;
}

const struct command tg_connect = {
	.name = "telegram connect",
	.summary = "poll the bot and answer the paired person",
	.details =
		"Runs until it is interrupted. A turn that runs then continues by itself; its "
		"answer is "
		"delivered when the bridge is back.\n\nThe exit status is 0 after a stop and when "
		"another process took over, 1 when the token is refused, 2 when another process is "
		"the bridge.",
	SETS(sets, struct connect_opts),
	.run = connect_bridge,
};

/* -- disconnect ----------------------------------------------------------------------------------
 */

struct disconnect_opts {
	bool abort;
	struct companion_common common;
};

static const struct opt disconnect_own[] = {
	OPT_FLAG(0, "abort", struct disconnect_opts, abort, "cancel the running turn too"),
};

static const struct opt_set disconnect_sets[] = {
	OPT_SET("Options", disconnect_own),
	COMPANION_COMMON(struct disconnect_opts),
};

enum { STOP_WAIT_MS = 30000, STOP_LOOK_MS = 20 };

static bool cancel_turn(void *data, const struct queue_item *item)
{
	json_array_append_new(data, json_from_str(item->run));
	return true;
}

static void abort_turns(struct companion *c)
{
	AUTO_JSON *runs = json_array();
	AUTO_REPORT ignored = REPORT_INIT;
	json_t *run;
	size_t i;

	(void)queue_each(tg_app(c), STORE_HOST, QUEUE_RUNNING, cancel_turn, runs, &ignored);
	json_array_foreach(runs, i, run)
	{
		struct run_handle *h = runs_open(tg_app(c), json_string_value(run), &ignored);

		if (h && run_end(h, RUN_CANCEL, -1, &ignored))
			companion_print("cancelled run %s", json_string_value(run));
		run_close(h);
	}
}

static void wait_for_end(struct bridge *b, struct arena *a)
{
	uint64_t until = clock_mono_ms() + STOP_WAIT_MS;

	while (lock_look(&b->lock, a, NULL) == LOCK_STATE_ELSEWHERE && clock_mono_ms() < until)
		(void)usleep(STOP_LOOK_MS * 1000);
}

static int disconnect(const struct call *call)
{
	struct companion *c = call->host;
	const struct disconnect_opts *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	struct lock_entry owner;
	int status = 0;

	if (!companion_enter(c, &o->common) || !bridge_open(&b, tg_app(c), &note, &c->report)) {
		status = companion_refuse(c, o->common.json);
	} else {
		bool live = lock_look(&b.lock, &c->arena, &owner) == LOCK_STATE_ELSEWHERE;

		if (live && kill((pid_t)owner.pid, SIGTERM) < 0)
			report_errno(&c->report, errno, "cannot stop process %lld",
				(long long)owner.pid);
		else if (live)
			wait_for_end(&b, &c->arena);
		if (o->abort)
			abort_turns(c);
		if (!lock_drop(&b.lock, &c->report) || c->report.errors)
			status = companion_refuse(c, o->common.json);
		else if (o->common.json)
			companion_print("{\"ok\":true,\"stopped\":%s}", live ? "true" : "false");
		else
			companion_print(live ? "the bridge (process %lld) has stopped"
					     : "no bridge was running",
				(long long)owner.pid);
	}
	bridge_close(&b);
	return status;
}

const struct command tg_disconnect = {
	.name = "telegram disconnect",
	.summary = "stop the bridge",
	.details = "A turn that runs continues; --abort cancels it.",
	SETS(disconnect_sets, struct disconnect_opts),
	.run = disconnect,
};
