/* Workers on machines without a batch system: how one is started there, and how one is ended. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "remote/worker-own.h"
#include "remote/worker.h"
#include "runs/dir/identity.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/open.h"

enum {
	LEAVE_MS = 20000, /* a worker that was asked to end gives its commands no more than that */
	GONE_MS = 5000,
	FILE_MAX = 4096,
};

static int read_own(const struct worker *w, uint64_t id, const char *file, struct buf *ret)
{
	char name[64];

	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/%s", id, file);
	return exchange_read(&w->x, name, FILE_MAX, ret);
}

/* -- starting ------------------------------------------------------------------------------------
 */

/* One that was given up may have died and left what had left its commands: the driver may hand
 * these out again. */
static void end_given_up(void *data, uint64_t id)
{
	const struct worker *w = data;
	AUTO_BUF fence = BUF_INIT;

	if (id != w->id && read_own(w, id, "fence", &fence) >= 0 && fence.len)
		(void)leftovers_end_of_worker(w->info.run, w->info.generation, id);
}

static _Noreturn void become(const char *dir, int log)
{
	const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setsid();
	if (dup2(null, 0) >= 0 && dup2(log, 1) >= 0 && dup2(log, 2) >= 0)
		(void)execl("/proc/self/exe", "roux", "worker", dir, (char *)NULL);
	_exit(worker_complain("cannot execute this program: %s", strerror(errno)));
}

static int start(struct worker *w, const char *host, const char *dir)
{
	char name[64];

	if (!worker_find(w, dir))
		return 1;
	(void)exchange_workers(&w->x, end_given_up, w);
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/log", w->id);
	AUTO_CLOSE int log = run_open_at(w->x.fd, name, O_WRONLY | O_APPEND | O_CREAT);
	if (log < 0)
		return worker_complain("cannot write %s/log: %s", dir, strerror(-log));
	pid_t pid = fork();
	if (pid == 0)
		become(dir, log);
	if (pid < 0)
		return worker_complain("cannot start: %s", strerror(errno));
	(void)printf("%s:%d\n", host, (int)pid);
	return fflush(stdout) == 0 ? 0 : 1;
}

static int finish(struct worker *w, int status)
{
	exchange_close(&w->x);
	arena_done(&w->arena);
	return status;
}

int worker_start(const char *host, const char *dir)
{
	struct worker w = { .x = EXCHANGE_NONE };

	return finish(&w, start(&w, host, dir));
}

/* -- ending --------------------------------------------------------------------------------------
 */

/* Who has claimed it; false: no process has. */
static bool claimer(const struct worker *w, struct identity *ret, struct buf *host)
{
	AUTO_BUF text = BUF_INIT;

	if (read_own(w, w->id, "claim", &text) < 0 || !text.len)
		return false;
	AUTO_JSON *claim = json_loadb(text.p, text.len, 0, NULL);
	struct str boot = json_text_of(claim, "boot");
	*ret = (struct identity){ .pid = json_number_of(claim, "pid"),
		.start = (uint64_t)json_number_of(claim, "start") };
	memcpy(ret->boot, boot.p, MIN(boot.len, sizeof(ret->boot) - 1));
	buf_add(host, json_text_of(claim, "host"));
	return ret->pid > 0;
}

static bool is_gone(int pidfd, uint64_t ms)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, (int)ms) > 0;
}

/* False: it lives still. */
static bool end_process(const struct identity *who, uint64_t grace_ms, bool *was_there)
{
	AUTO_CLOSE int fd = identity_open(who);

	*was_there = fd >= 0;
	if (fd < 0)
		return fd == -ESRCH || fd == -EPERM; /* the number is another's by now */
	(void)identity_signal(fd, SIGTERM, 0);
	if (is_gone(fd, MIN(grace_ms, (uint64_t)LEAVE_MS) + GONE_MS))
		return true;
	(void)identity_signal(fd, SIGKILL, 0);
	return is_gone(fd, GONE_MS);
}

static int end(struct worker *w, const char *dir)
{
	struct identity who, self = { 0 };
	AUTO_BUF host = BUF_INIT;
	char here[256] = "";
	bool was_there = false;

	if (!worker_find(w, dir))
		return 1;
	(void)identity_self(&self);
	(void)gethostname(here, sizeof(here) - 1);
	if (claimer(w, &who, &host)) {
		/* Another boot of this machine has nothing left; of another machine it is not
		 * known. */
		if (strcmp(who.boot, self.boot) != 0 && strcmp(buf_cstr(&host), here) != 0)
			return worker_complain(
				"%s was started on %s, this is %s", dir, buf_cstr(&host), here);
		if (!end_process(&who, w->info.grace_ms, &was_there))
			return worker_complain(
				"process %" PRId64 " of %s does not end", who.pid, dir);
	}
	(void)leftovers_end_of_worker(w->info.run, w->info.generation, w->id);
	(void)puts(was_there ? "ended" : "gone");
	return fflush(stdout) == 0 ? 0 : 1;
}

int worker_end(const char *dir)
{
	struct worker w = { .x = EXCHANGE_NONE };

	return finish(&w, end(&w, dir));
}
