#include "app/launch/away.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/record/freeze.h"
#include "app/worker.h"
#include "base/path.h"
#include "graph/step.h"
#include "remote/exchange.h"
#include "remote/remote.h"
#include "remote/worker.h"
#include "runs/dir/open.h"

/* -- which executor ------------------------------------------------------------------------------
 */

/* NAME or NAME:CLASS. */
static void cut_class(struct launch *l)
{
	size_t colon = str_find(l->asked.on, ':', 0);

	if (colon == l->asked.on.len)
		return;
	l->asked.class = str_from(l->asked.on, colon + 1);
	l->asked.on = arena_str(&l->arena, str_sub(l->asked.on, 0, colon));
}

static bool check_class(const struct launch *l, const struct table *t, struct report *r)
{
	if (!l->asked.class.len || table_class(t, l->asked.class))
		return true;
	report_error(r, (struct where){ 0 }, "the executor '%.*s' has no class '%.*s'",
		STR(l->asked.on), STR(l->asked.class));
	return report_hint(
		r, "[executors.%.*s.classes.NAME] in config.toml makes one", STR(l->asked.on));
}

struct checking {
	const struct launch *launch;
	const struct table *table;
	struct report *r;
	bool ok;
};

static struct needs needs_of(const struct node *n)
{
	struct needs needs = NEEDS_NONE;

	for (; n; n = n->parent ? n->parent : n->owner)
		if (n->needs)
			needs_under(&needs, n->needs);
	return needs;
}

static bool is_local(const struct node *n)
{
	bool agent = n->step && n->step->agent;

	if (n->tty)
		return true;
	for (; n; n = n->parent ? n->parent : n->owner)
		if (n->runs_on)
			return n->runs_on == RUNS_LOCAL;
	return agent;
}

static void time_text(struct buf *b, uint64_t s)
{
	if (s % 3600 == 0)
		buf_printf(b, "%" PRIu64 "h", s / 3600);
	else if (s % 60 == 0)
		buf_printf(b, "%" PRIu64 "m", s / 60);
	else
		buf_printf(b, "%" PRIu64 "s", s);
}

static void check_node(struct checking *c, const struct node *n)
{
	struct needs needs = needs_of(n);
	bool own;
	struct shape shape = table_shape(c->table, &needs, c->launch->asked.class, &own);

	if (is_local(n))
		return;
	if (needs.class.len && !table_class(c->table, needs.class))
		report_warning(c->r, place_where(n->place),
			"the executor '%.*s' has no class '%.*s'; its usual allocation is asked "
			"for",
			STR(c->table->name), STR(needs.class));
	if (needs.time_s > shape.time_s) {
		AUTO_BUF wanted = BUF_INIT;
		AUTO_BUF most = BUF_INIT;

		time_text(&wanted, needs.time_s);
		time_text(&most, shape.time_s);
		c->ok = report_error(c->r, place_where(n->place),
			"the command needs %s, and an allocation of '%.*s' has %s",
			buf_cstr(&wanted), STR(c->table->name), buf_cstr(&most));
		report_hint(c->r, "give the executor or a class of it a longer `time`");
	}
}

static void check_nodes(struct checking *c, const struct node *n)
{
	if (n->kind == NODE_COMMAND)
		check_node(c, n);
	if (n->recover)
		check_nodes(c, n->recover);
	for (size_t i = 0; i < n->child_count; i++)
		check_nodes(c, n->children[i]);
}

/* -- secrets -------------------------------------------------------------------------------------
 */

struct secret_use {
	const struct launch *launch;
	const char *found; /* the name of the value */
};

static void see_placeholder(void *data, const struct placeholder *p)
{
	struct secret_use *u = data;
	json_t *name;
	size_t i;

	json_array_foreach(u->launch->asked.secret_env, i, name)
	{
		if (str_eq(json_str(name), p->name))
			u->found = json_string_value(name);
	}
}

static void see_text(const struct text *t, struct secret_use *u)
{
	if (t)
		t->ops->walk(t, see_placeholder, u);
}

/* A value that may not be written down cannot go with an order either. */
static void check_secrets(struct checking *c, const struct node *n)
{
	struct secret_use use = { c->launch, NULL };

	if (n->kind == NODE_COMMAND && !is_local(n)) {
		for (size_t i = 0; i < n->word_count; i++)
			see_text(n->words[i].text, &use);
		for (const struct node *up = n; up; up = up->parent ? up->parent : up->owner)
			for (size_t i = 0; i < up->env_count; i++)
				see_text(up->env[i].text, &use);
		json_t *name;
		size_t i;
		json_array_foreach(c->launch->asked.secret_env, i, name)
		{
			AUTO_BUF written = BUF_INIT;

			buf_printf(&written, "{{%s}}", json_string_value(name));
			if (n->step && str_contains(n->line, buf_str(&written)))
				use.found = json_string_value(name);
		}
	}
	if (use.found) {
		c->ok = report_error(c->r, place_where(n->place),
			"the command needs the secret '%s', which may not be written to the shared "
			"directory of '%.*s'",
			use.found, STR(c->table->name));
		report_hint(c->r,
			"add \"runs_on\": \"local\" to it, or set secrets = \"file\" of the "
			"executor in config.toml");
	}
	if (n->recover)
		check_secrets(c, n->recover);
	for (size_t i = 0; i < n->child_count; i++)
		check_secrets(c, n->children[i]);
}

bool away_prepare(struct launch *l, struct report *r)
{
	const struct settings *s = app_settings(l->app, r);

	if (!s)
		return false;
	cut_class(l);
	if (!l->asked.on.len || str_eq(l->asked.on, S("local"))) {
		l->asked.on = S("");
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
	struct checking c = { l, t, r, check_class(l, t, r) };
	check_nodes(&c, l->subject.graph->root);
	if (!t->secrets_file && json_array_size(l->asked.secret_env))
		check_secrets(&c, l->subject.graph->root);
	table_free(t);
	return c.ok;
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
		const json_t *other = json_object_get(l->asked.secret_vars, name);

		names[n++] = other ? json_string_value(other) : name;
		names[n++] = name;
	}
	return names;
}

static struct executor *make(struct launch *l, const struct away_options *o, struct str on,
	json_t *resolved, struct report *r)
{
	struct table *t = table_load(resolved, on, r);
	struct finding f = { .leaves = o->before, .on = on };

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
						     .env = o->env,
						     .hidden = t->secrets_file ? NULL : hidden(l),
						     .resumed = o->before != NULL,
						     .grants = f.grants.at,
						     .grant_count = f.grants.len,
						     .superseded = superseded,
						     .data = l },
		r);
	vec_done(&f.grants);
	return e;
}

bool away_executors(struct launch *l, const struct away_options *o, struct executor **ret,
	size_t *count, size_t *elsewhere, bool *needs, struct report *r)
{
	*elsewhere = 0;
	*needs = false;
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
	struct str shared = json_text_of(json_object_get(run, "executor"), "dir");
	struct str root = shared.len ? arena_printf(&a, "%.*s/%.*s-%.*s", STR(shared),
					       STR(json_text_of(run, "run")),
					       STR(json_text_of(run, "generation")))
				     : arena_printf(&a, "%.*s/exchange", STR(dir));
	const char *name = arena_printf(&a, "w/%" PRIu64 "/log", worker).p;
	int n = run ? run_read(root.p, name, 64 << 20, ret) : -ENOENT;

	if (n < 0 && run) {
		report_error(r, (struct where){ 0 }, "there is no log of worker %" PRIu64, worker);
		report_hint(r, "one that has printed nothing is not kept");
	}
	arena_done(&a);
	return n >= 0;
}

int app_worker(const char *dir)
{
	return worker_main(dir);
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
