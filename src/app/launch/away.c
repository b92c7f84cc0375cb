#include "app/launch/away.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/catalog/placement.h"
#include "app/context/executor.h"
#include "app/record/freeze.h"
#include "app/record/secrets.h"
#include "app/worker.h"
#include "remote/exchange.h"
#include "remote/remote.h"
#include "remote/worker.h"
#include "runs/dir/open.h"

/* -- which executor ------------------------------------------------------------------------------
 */

bool away_prepare(struct launch *l, struct report *r)
{
	const struct settings *s = app_settings(l->app, r);

	if (!s)
		return false;
	if (!l->asked.class.len && l->asked.on.len &&
		!executor_split(l->asked.on, &l->arena, &l->asked.on, &l->asked.class, r))
		return false;
	if (!l->asked.on.len) {
		json_decref(l->asked.executor);
		l->asked.executor = NULL;
		return true;
	}
	if (l->asked.sandbox || l->asked.offline) {
		report_error(r, (struct where){ 0 },
			"a sandbox holds only here, and '%.*s' runs commands elsewhere",
			STR(l->asked.on));
		return report_hint(r, "leave out one of the two");
	}
	if (l->asked.executor)
		return true; /* a run keeps its executor */
	l->asked.executor = table_resolve(s->executors, l->asked.on, r);
	struct table *t = l->asked.executor ? table_load(l->asked.executor, l->asked.on, r) : NULL;
	if (!t)
		return false;
	AUTO_REPORT found = REPORT_INIT;
	bool ok = executor_has_class(t, l->asked.class, r);
	ok &= placement_check(&(struct placement){ t, l->asked.class }, l->subject.graph->root,
		&l->subject.plan->scope, t->secrets_file ? NULL : l->asked.secret_env, &found);
	if (!ok)
		report_move(r, &found); /* else there are warnings, which the run tells itself */
	table_free(t);
	return ok;
}

/* -- the executor --------------------------------------------------------------------------------
 */

struct finding {
	const struct leaves *leaves;
	struct str on;
	VEC(struct remote_grant) grants;
};

static void find_grant(void *data, struct str path, const struct leaf_record *record)
{
	struct finding *f = data;

	if (!record->started || record->ended || record->lost || !str_eq(record->on, f->on))
		return;
	vec_push(&f->grants, (struct remote_grant){ .path = path,
				     .number = record->number - leaves_base(f->leaves, path),
				     .worker = record->worker,
				     .n = record->grant });
}

static void superseded(void *data)
{
	const struct launch *l = data;

	(void)fprintf(stderr,
		"roux: another process continues the run '%.*s'; this one leaves it alone\n",
		STR(l->asked.id));
	if (l->app->manners.own_process)
		_exit(1);
}

static const char *const *hidden(struct launch *l)
{
	size_t count = json_array_size(l->asked.secret_env), n = 0;
	const char **names = arena_array(&l->arena, const char *, 2 * count + 1);

	for (size_t i = 0; i < count; i++) {
		const char *name = json_string_value(json_array_get(l->asked.secret_env, i));

		names[n++] = secret_variable(l, name);
		names[n++] = name;
	}
	return names;
}

static struct executor *make(struct launch *l, const struct away_options *o, struct str on,
	json_t *resolved, struct report *r)
{
	struct table *t = table_load(resolved, on, r);
	struct finding f = { .leaves = o->before, .on = on };
	uint64_t last = o->before ? leaves_last_worker(o->before) : 0;

	if (!t)
		return NULL;
	if (o->before)
		leaves_each(o->before, find_grant, &f);
	struct executor *e = remote_executor(&(struct remote_options){ .loop = o->loop,
						     .table = t,
						     .here = o->here,
						     .class = l->asked.class,
						     .run = l->asked.id,
						     .generation = l->claim.generation,
						     .run_dir = l->claim.dir,
						     .state_dir = l->claim.root,
						     .cwd = l->claim.row.cwd,
						     .grace_ms = l->asked.grace_ms,
						     .jobs = o->jobs_given ? l->asked.jobs : 0,
						     .durable = l->asked.durable,
						     .careful = l->asked.careful,
						     .stops_left = l->asked.stops_in_doubt,
						     .env = o->env,
						     .hidden = hidden(l),
						     .resumed = o->before != NULL,
						     .grants = f.grants.at,
						     .grant_count = f.grants.len,
						     .last_worker = last,
						     .superseded = superseded,
						     .data = l },
		r);
	vec_done(&f.grants);
	return e;
}

/* -- another one than before ---------------------------------------------------------------------
 */

void away_keep_left(struct launch *l, struct str was_on, json_t *was)
{
	struct asked *a = &l->asked;

	if (!was)
		return;
	if (str_eq(a->on, was_on)) {
		/* A run keeps its executor as it was. */
		json_decref(a->executor);
		a->executor = json_incref(was);
		return;
	}
	json_t *before = a->left_executor;
	struct str before_on = a->left_on;
	a->left_executor = json_incref(was);
	a->left_on = arena_str(&l->arena, was_on);
	if (a->executor && before && str_eq(before_on, a->on)) {
		json_decref(a->executor);
		a->executor = json_incref(before);
	} else if (a->executor) {
		AUTO_BUF suffix = BUF_INIT;

		buf_printf(&suffix, ".%.*s", STR(a->on));
		json_object_set_new(a->executor, "suffix", json_from_str(buf_str(&suffix)));
	}
	json_decref(before);
}

struct knowing {
	const struct launch *launch;
	struct str unknown;
};

static void see_grant(void *data, struct str path, const struct leaf_record *record)
{
	struct knowing *k = data;
	const struct asked *a = &k->launch->asked;

	(void)path;
	if (record->started && !record->ended && !record->lost && record->on.len &&
		!str_eq(record->on, a->on) && !str_eq(record->on, a->left_on))
		k->unknown = record->on;
}

/* What a third one may still run, no process would hear of. */
bool away_knows(const struct launch *l, const struct leaves *before, struct report *r)
{
	struct knowing k = { l, S("") };

	leaves_each(before, see_grant, &k);
	if (!k.unknown.len)
		return true;
	report_error(r, (struct where){ 0 },
		"commands of run '%.*s' may still run on '%.*s', which is neither '%.*s' nor "
		"'%.*s'",
		STR(l->asked.id), STR(k.unknown), STR(l->asked.on.len ? l->asked.on : S("local")),
		STR(l->asked.left_on));
	return report_hint(r, "resume it once without naming an executor");
}

/* Whether there is still a directory to meet its workers in. */
static bool is_left(struct launch *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct table *t = table_load(l->asked.left_executor, l->asked.left_on, &ignored);
	bool there = t && access(remote_exchange_path(t, l->claim.dir, l->asked.id,
					 l->claim.generation, &l->arena)
					  .p,
				  F_OK) == 0;

	table_free(t);
	return there;
}

bool away_executors(struct launch *l, const struct away_options *o, struct executor **ret,
	size_t *count, size_t *elsewhere, bool *needs, struct report *r)
{
	*elsewhere = 0;
	*needs = false;
	if (l->asked.left_executor && o->before && is_left(l)) {
		struct executor *e = make(l, o, l->asked.left_on, l->asked.left_executor, r);

		if (!e)
			return false;
		ret[(*count)++] = e; /* it gets nothing new */
	}
	if (l->asked.executor) {
		struct executor *e = make(l, o, l->asked.on, l->asked.executor, r);

		if (!e)
			return false;
		*elsewhere = *count;
		*needs = str_eq(json_text_of(l->asked.executor, "takes"), S("needs"));
		ret[(*count)++] = e;
	}
	return true;
}

/* -- workers -------------------------------------------------------------------------------------
 */

bool run_worker_log(const struct run_handle *h, uint64_t worker, struct buf *ret, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct str dir = run_dir(h);
	AUTO_JSON *run = freeze_json(dir, "run.json", false, r);
	json_t *executor = json_object_get(run, "executor");
	struct table *t = executor ? table_load(executor, json_text_of(run, "on"), r) : NULL;
	struct str root = t ? remote_exchange_path(t, dir, json_text_of(run, "run"),
				      json_text_of(run, "generation"), &a)
			    : dir;
	const char *name = arena_printf(&a, "w/%" PRIu64 "/log", worker).p;
	int n = run ? run_read(root.p, name, 64 << 20, ret) : -ENOENT;

	if (n < 0 && run) {
		report_error(r, (struct where){ 0 }, "there is no log of worker %" PRIu64, worker);
		report_hint(r, "one that has printed nothing is not kept");
	}
	table_free(t);
	arena_done(&a);
	return n >= 0;
}

int app_worker(const char *dir)
{
	return worker_main(dir);
}

int app_worker_start(const char *host, const char *dir)
{
	return worker_start(host, dir);
}

int app_worker_end(const char *dir)
{
	return worker_end(dir);
}

bool app_time_scale(bool allowed)
{
	const char *given = allowed ? getenv("ROUX_TEST_TIME_SCALE") : NULL;
	double scale = given ? strtod(given, NULL) : 1;

	remote_may_scale |= allowed;
	if (scale > 0)
		remote_scale = scale < 1 ? 1 / scale : scale;
	return remote_may_scale;
}
