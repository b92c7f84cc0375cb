/* What a worker finds before it works: its exchange, whether it is the first, its environment. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/processors.h"
#include "remote/table.h"
#include "remote/worker-own.h"
#include "runs/dir/identity.h"

enum {
	NAME_TRIES = 120, /* for names that are seen late: half a minute */
	NAME_AGAIN_US = 250000,
};

int worker_complain(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	(void)fputs("roux worker: ", stderr);
	(void)vfprintf(stderr, fmt, args);
	(void)fputc('\n', stderr);
	va_end(args);
	return 1;
}

/* A file that the driver has made before the job was submitted: its name may be seen late. */
static int read_late(const struct worker *w, const char *name, size_t max, struct buf *ret)
{
	int r = exchange_read(&w->x, name, max, ret);

	for (int i = 0; (r == -ENOENT || r == -ESTALE) && i < NAME_TRIES; i++) {
		(void)usleep(NAME_AGAIN_US);
		r = exchange_read(&w->x, name, max, ret);
	}
	return r;
}

bool worker_find(struct worker *w, const char *dir)
{
	struct str path = path_absolute(&w->arena, str_of(dir));
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF probe = BUF_INIT;

	if (!str_to_uint(path_base(path), &w->id) || !w->id ||
		!str_eq(path_base(path_dir(path)), S("w")))
		return worker_complain("%s is not the directory of a worker", dir) == 0;
	const char *root = arena_cstr(&w->arena, path_dir(path_dir(path)));
	int r = exchange_open(&w->x, root, false);
	if (r == -EPERM)
		return worker_complain("%s is not this user's own directory", root) == 0;
	r = r < 0 ? r : read_late(w, "run.json", 1 << 20, &text);
	if (r < 0)
		return worker_complain("cannot read %s: %s", root, strerror(-r)) == 0;
	if (!exchange_info_read(buf_str(&text), &w->arena, &w->info))
		return worker_complain("%s/run.json is not of this version of roux", root) == 0;
	if (w->info.uid != geteuid())
		return worker_complain("the run is that of user %" PRIu64 ", this is user %u",
			       w->info.uid, (unsigned)geteuid()) == 0;
	if (w->info.scale > 0 && !remote_may_scale)
		return worker_complain("%s has a time scale, which only tests have", root) == 0;
	remote_scale = w->info.scale > 0 ? w->info.scale : 1;
	(void)read_late(w, "probe", 256, &probe);
	w->probe = arena_str(&w->arena, str_trim(buf_str(&probe)));
	w->x.network |= w->info.network;
	return true;
}

bool worker_claim(struct worker *w, int *status)
{
	struct identity self = { 0 };
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF before = BUF_INIT;
	const char *again = getenv("SLURM_RESTART_COUNT");
	char name[64];

	(void)identity_self(&self);
	buf_printf(&text,
		"{\"host\":\"%s\",\"pid\":%d,\"start\":%" PRIu64
		",\"boot\":\"%s\",\"job\":\"%.*s\",\"restarts\":%d}\n",
		w->host, (int)getpid(), self.start, self.boot, STR(w->job),
		again ? (int)strtol(again, NULL, 10) : 0);
	int r = exchange_claim(&w->x, w->id, buf_str(&text));
	if (r == 0)
		return true;
	*status = r == -EEXIST ? 0 : 1;
	if (r != -EEXIST)
		return worker_complain("cannot claim %s/w/%" PRIu64 ": %s", w->x.path, w->id,
			       strerror(-r)) == 0;
	(void)snprintf(name, sizeof(name), "w/%" PRIu64 "/claim", w->id);
	(void)exchange_read(&w->x, name, 4096, &before);
	AUTO_JSON *who = json_loadb(buf_cstr(&before), before.len, 0, NULL);
	worker_complain("was started before by %.*s pid %" JSON_INTEGER_FORMAT
			"; nothing is run twice",
		STR(json_text_of(who, "host")), json_number_of(who, "pid"));
	return false;
}

bool worker_environment(struct worker *w, const char *const **ret)
{
	AUTO_BUF text = BUF_INIT;
	int r = read_late(w, "env.json", 16 << 20, &text);

	if (r < 0 || !exchange_env_read(buf_str(&text), &w->arena, ret))
		return worker_complain("cannot read %s/env.json", w->x.path) == 0;
	if (w->info.node_env)
		return true;
	for (size_t i = 0; environ[i];) {
		char name[256];
		size_t len = strcspn(environ[i], "=");

		if (environ_is_nodes(environ[i]) || len >= sizeof(name)) {
			i++;
			continue;
		}
		memcpy(name, environ[i], len);
		name[len] = '\0';
		if (unsetenv(name) < 0)
			i++;
	}
	return true;
}

struct str worker_job(struct arena *a)
{
	static const char *const names[] = { "SLURM_JOB_ID", "JOB_ID" };
	struct str id = S("");

	for (size_t i = 0; !id.len && i < ARRAY_SIZE(names); i++)
		id = table_job_id(str_of(getenv(names[i])));
	return arena_str(a, id);
}

uint64_t worker_processors(void)
{
	const char *given = getenv("SLURM_CPUS_PER_TASK");
	uint64_t n = 0;

	if (given && str_to_uint(str_of(given), &n) && n)
		return n;
	return processors_usable();
}
