#include "app/context.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/embed.h"
#include "app/issues.h"
#include "app/runs.h"
#include "app/settings.h"
#include "app/start.h"
#include "app/watched.h"
#include "base/path.h"
#include "loop/tree.h"
#include "runs/dir/run-dir.h"

/* A member of a struct that the caller may know in an older, shorter form. */
#define GIVEN(options, member)                                                      \
	((options) && (options)->size >= offsetof(__typeof__(*(options)), member) + \
						 sizeof((options)->member))

const char *roux_version(void)
{
	return ROUX_VERSION;
}

/* -- beginning and end ---------------------------------------------------------------------------
 */

/* Paths are meant from where the process is now, wherever it goes. */
static struct str given_path(struct roux *r, const char *path)
{
	return path && *path ? path_absolute(&r->arena, str_of(path)) : S("");
}

static struct str current_directory(struct roux *r)
{
	char *cwd = getcwd(NULL, 0);
	struct str path = arena_str(&r->arena, str_of(cwd));

	free(cwd);
	return path;
}

struct roux *roux_new(const struct roux_options *o)
{
	struct roux *r = mem_new(struct roux);

	r->references = 1;
	list_init(&r->runs);
	list_init(&r->ended);
	r->jobs_given = GIVEN(o, jobs) && o->jobs;
	r->jobs = r->jobs_given ? o->jobs : DEFAULT_JOBS;
	r->cwd = given_path(r, GIVEN(o, cwd) ? o->cwd : NULL);
	r->cwd = r->cwd.len ? r->cwd : current_directory(r);
	r->agent_dir = given_path(r, GIVEN(o, agent_dir) ? o->agent_dir : NULL);
	r->packaged_dir = given_path(r, GIVEN(o, packaged_dir) ? o->packaged_dir : NULL);
	r->state_dir = given_path(r, GIVEN(o, state_dir) ? o->state_dir : NULL);
	r->loop = loop_new();
	if (!r->loop) {
		int error = errno;

		roux_unref(r);
		errno = error;
		return NULL;
	}
	r->subreaper = GIVEN(o, subreaper) && o->subreaper && tree_become_subreaper();
	return r;
}

struct roux *roux_ref(struct roux *r)
{
	r->references++;
	return r;
}

void roux_unref(struct roux *r)
{
	if (--r->references)
		return;
	embed_hub_free(r->hub);
	loop_free(r->loop);
	report_done(&r->report);
	buf_done(&r->json);
	buf_done(&r->text);
	buf_done(&r->answer);
	json_decref(r->collections);
	arena_done(&r->arena);
	free(r);
}

void roux_free(struct roux *r)
{
	if (!r)
		return;
	while (!list_empty(&r->runs)) {
		/* Waiting takes it off the list; the caller still owns it. */
		struct roux_run *run = start_first(r);

		if (run->watched)
			watched_leave(run);
		else
			start_end(run);
	}
	r->closed = true;
	roux_unref(r);
}

/* -- where things are ----------------------------------------------------------------------------
 */

static const char *given_or_null(struct str path)
{
	return path.len ? path.p : NULL;
}

/* Programs that a run starts, roux itself among them, look for the same places. */
static void make_variables(struct roux *r)
{
	const char **v = arena_array(&r->arena, const char *, 4);
	size_t n = 0;

	if (r->state_dir.len || r->agent_dir.len)
		v[n++] = arena_printf(&r->arena, "ROUX_STATE_DIR=%.*s", STR(r->root)).p;
	if (r->agent_dir.len)
		v[n++] = arena_printf(&r->arena, "PI_CODING_AGENT_DIR=%.*s", STR(r->agent_dir)).p;
	if (r->packaged_dir.len)
		v[n++] = arena_printf(&r->arena, "ROUX_PACKAGED_DIR=%.*s", STR(r->packaged_dir)).p;
	r->variables = v;
}

/* The state goes with the agent directory that was given, whatever the environment says. */
static struct str state_root(struct roux *r)
{
	if (r->state_dir.len)
		return r->state_dir;
	if (r->agent_dir.len)
		return path_below(&r->arena, r->agent_dir, S("roux"));
	return path_absolute(&r->arena, runs_root(&r->arena, r->dirs.agent));
}

void context_places(struct roux *r)
{
	if (r->root.len)
		return;
	r->dirs = recipe_dirs_find(
		&r->arena, given_or_null(r->agent_dir), given_or_null(r->packaged_dir));
	r->root = state_root(r);
	make_variables(r);
}

bool context_settings(struct roux *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct settings s;

	if (r->settled)
		return true;
	bool ok = settings_read(&s, &r->report, &ignored);
	if (ok) {
		r->settled = true;
		r->jobs = r->jobs_given ? r->jobs : s.jobs;
		r->grace_ms = s.grace_ms;
		r->max_parallel = s.max_parallel;
		r->durable = s.durable;
		r->usage_in_file = s.usage == SETTINGS_USAGE_FILE;
		r->collections = s.collection_count ? settings_collections(&s) : NULL;
	}
	settings_done(&s);
	return ok;
}

/* -- what went wrong -----------------------------------------------------------------------------
 */

const char *roux_errors_json(const struct roux *r)
{
	struct roux *w = (struct roux *)r;

	if (!r)
		return "[]";
	buf_reset(&w->json);
	issues_json(&r->report, REPORT_ERRORS, &w->json);
	return buf_cstr(&w->json);
}

const char *roux_errors_text(const struct roux *r)
{
	struct roux *w = (struct roux *)r;

	if (!r)
		return "";
	buf_reset(&w->text);
	report_text(&r->report, REPORT_ERRORS, &w->text);
	return buf_cstr(&w->text);
}

/* -- looking at runs -----------------------------------------------------------------------------
 */

const char *roux_runs_json(struct roux *r)
{
	struct arena a = ARENA_INIT;
	struct runs s;

	if (!r)
		return NULL;
	report_reset(&r->report);
	buf_reset(&r->answer);
	context_places(r);
	runs_open_at(&s, &a, r->root, &r->report);
	runs_list(&s, true, &r->answer, &r->report);
	runs_close(&s);
	arena_done(&a);
	return r->report.errors ? NULL : buf_cstr(&r->answer);
}

const char *roux_status_json(struct roux *r, const char *id)
{
	struct arena a = ARENA_INIT;
	const char *reason;
	struct run_look look;
	struct runs s;

	if (!r || !id)
		return NULL;
	report_reset(&r->report);
	buf_reset(&r->answer);
	context_places(r);
	runs_open_at(&s, &a, r->root, &r->report);
	bool found = runs_find(&s, id, &look, &reason, &r->report);
	if (found)
		runs_status(&look, true, &r->answer);
	look_done(&look);
	runs_close(&s);
	arena_done(&a);
	return found ? buf_cstr(&r->answer) : NULL;
}

/* -- driving it ----------------------------------------------------------------------------------
 */

int roux_fd(const struct roux *r)
{
	return r ? loop_fd(r->loop) : -1;
}

int roux_turn(struct roux *r, int timeout_ms)
{
	int n = r ? loop_turn(r->loop, timeout_ms) : -EINVAL;
	int live = 0;

	if (n < 0)
		return n;
	while (!list_empty(&r->ended))
		embed_rest(list_entry(r->ended.next, struct roux_run, link));
	list_each (link, &r->runs)
		live++;
	return live;
}

void roux_wake(struct roux *r)
{
	if (r)
		loop_wake(r->loop);
}
