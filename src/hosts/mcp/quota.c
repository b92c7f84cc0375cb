#include "hosts/mcp/quota.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/runs.h"
#include "base/clock.h"
#include "hosts/mcp/call.h"

/* How old the sum of the disk may be, and how deep a run directory is looked into. */
enum { SUM_MS = 2000, DEPTH = 16 };

/* -- runs that continue --------------------------------------------------------------------------
 */

struct kept {
	struct list link; /* of mcp.kept */
	struct str principal;
	struct arena arena;
	struct run_handle *run;
	struct deferred gone;
	struct mcp *server;
};

static void kept_free(struct kept *k)
{
	deferred_stop(&k->gone);
	list_remove(&k->link);
	run_close(k->run);
	arena_done(&k->arena);
	free(k);
}

static void on_gone(struct deferred *d)
{
	kept_free(container_of(d, struct kept, gone));
}

static void on_ended(void *data)
{
	struct kept *k = data;

	/* Not from here: the handle is telling others. */
	deferred_start(app_loop(k->server->app), &k->gone);
}

void quota_keep(struct mcp *m, struct str principal, struct str run)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, run);
	struct run_handle *h = runs_open(m->app, buf_cstr(&name), &ignored);
	if (!h)
		return;
	if (run_status(h) != ROUX_RUNNING) {
		run_close(h);
		return;
	}
	struct kept *k = mem_new(struct kept);
	k->server = m;
	k->run = h;
	k->principal = arena_str(&k->arena, principal);
	k->gone.call = on_gone;
	list_append(&m->kept, &k->link);
	(void)run_observe(h, &(struct observer){ .ended = on_ended, .data = k });
}

void quota_done(struct mcp *m)
{
	list_each_safe (link, &m->kept)
		kept_free(list_entry(link, struct kept, link));
}

static size_t count_runs(const struct mcp *m, struct str principal)
{
	size_t count = 0;

	list_each (link, &m->kept)
		count += str_eq(list_entry(link, struct kept, link)->principal, principal);
	list_each (link, &m->calls) {
		const struct tool_call *c = list_entry(link, struct tool_call, link);

		count += c->run && str_eq(c->x->session->principal, principal);
	}
	return count;
}

/* -- the disk ------------------------------------------------------------------------------------
 */

/* Adds what a directory takes. Takes the descriptor. What vanishes meanwhile does not count. */
static void add_tree(int fd, int depth, uint64_t *bytes)
{
	DIR *dir = fdopendir(fd);
	const struct dirent *e;
	struct stat st;

	if (!dir) {
		(void)close(fd);
		return;
	}
	while ((e = readdir(dir)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
			fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
			continue;
		*bytes += (uint64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode) && depth > 0) {
			int below = openat(
				fd, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

			if (below >= 0)
				add_tree(below, depth - 1, bytes);
		}
	}
	(void)closedir(dir);
}

static uint64_t disk_used(struct mcp *m)
{
	uint64_t now = clock_mono_ms();
	AUTO_BUF path = BUF_INIT;

	if (m->disk_ms && now < m->disk_ms + SUM_MS)
		return m->disk;
	m->disk = 0;
	buf_printf(&path, "%.*s/runs", STR(app_state_root(m->app)));
	int fd = open(buf_cstr(&path), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0)
		add_tree(fd, DEPTH, &m->disk);
	m->disk_ms = clock_mono_ms();
	return m->disk;
}

bool quota_allows(struct mcp *m, struct str principal, struct buf *why)
{
	const struct mcp_options *o = &m->options;

	if (count_runs(m, principal) >= o->runs)
		buf_printf(why,
			"%zu run%s under way already, which is as many as this server allows: "
			"wait for one with roux_run_wait, or cancel one",
			o->runs, o->runs == 1 ? " is" : "s are");
	else if (o->disk && disk_used(m) >= o->disk)
		buf_printf(why,
			"the runs take more than the %llu MiB of disk that this server allows: a "
			"person has to delete some with `roux prune`",
			(unsigned long long)(o->disk >> 20));
	return !why->len;
}
