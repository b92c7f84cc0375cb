/* What would run, as a document and as data. */
#include "app/catalog/plan.h"

#include "app/catalog/plan-away.h"
#include "app/catalog/ref.h"
#include "app/catalog/secrets.h"
#include "app/context/context.h"
#include "app/context/run-values.h"
#include "data/json-out.h"
#include "graph/step.h"
#include "remote/submission.h"

enum { LEAVES_MAX = 100000 }; /* in a document: memory has an end */

/* -- making it -----------------------------------------------------------------------------------
 */

/* A recipe may name values that only a recorded run has: they stand for themselves. */
static struct plan *plan_of(
	struct recipe_ref *ref, const struct recipe_surroundings *with, struct report *r)
{
	AUTO_JSON *values = ref->values ? json_copy(ref->values) : NULL;

	bool named = recipe_ref_check_names(ref, !with || !with->model, r);
	if (ref->recipe && !ref->graph->steps)
		run_add_unknown_values(values);
	struct plan *p = secrets_plan_new(ref->graph, ref->recipe, values, r);
	if (named)
		return p;
	plan_unref(p);
	return NULL;
}

bool recipe_ref_check_values(struct recipe_ref *ref, struct report *r)
{
	struct plan *p = plan_of(ref, NULL, r);

	plan_unref(p);
	return p != NULL;
}

static struct planned_host host_of(
	const struct recipe_ref *ref, const struct recipe_surroundings *with)
{
	struct str cwd = app_cwd(ref->app);

	return (struct planned_host){ .cwd = cwd.len ? cwd.p : ".",
		.agents = with ? with->agents : NULL,
		.collections = with ? with->collections : NULL,
		.dirs = app_dirs(ref->app) };
}

struct walking {
	const struct planned_host *host;
	walk_fn *visit;
	void *data;
};

static bool visit_template(void *data, const struct walk_leaf *leaf)
{
	const struct walking *w = data;

	return leaf->passed ? planned_import_walk(leaf, w->host, w->visit, w->data)
			    : w->visit(w->data, leaf);
}

/* The plan has been checked when it was made, so walking it again finds nothing wrong. */
void planned_walk(const struct plan *p, const struct planned_host *host, walk_fn *visit, void *data)
{
	AUTO_REPORT none = REPORT_INIT;

	if (p->graph->steps)
		planned_steps_walk(p, host, visit, data);
	else
		(void)plan_walk(p, visit_template, &(struct walking){ host, visit, data }, &none);
}

/* -- what it may not show -----------------------------------------------------------------------
 */

bool planned_calls(const struct plan *p)
{
	return p->graph->calls || (p->graph->steps && p->graph->steps->calls);
}

static bool look_on(void *data, const struct walk_leaf *leaf UNUSED)
{
	size_t *left = data;

	return --*left > 0;
}

/* A walk of its own, since a text may stand before the call that declares it. */
void planned_secrets(
	const struct plan *p, const struct planned_host *host, size_t most, struct mask *m)
{
	struct planned_host looking = *host;

	looking.secrets = m;
	looking.visits = most;
	if (most && planned_calls(p))
		planned_walk(p, &looking, look_on, &most);
}

struct mask *planned_mask(
	const struct recipe_ref *ref, const struct plan *p, const struct planned_host *host)
{
	AUTO_JSON *names = secrets_declared(ref->recipe, ref->graph);
	struct mask *m = mask_open();

	secrets_collect(m, names, ref->values, ref->recipe, p);
	planned_secrets(p, host, SIZE_MAX, m);
	return mask_or_null(m);
}

/* -- the document --------------------------------------------------------------------------------
 */

static bool open_away(struct plan_away *away, struct recipe_ref *ref,
	const struct recipe_surroundings *with, struct report *r)
{
	return plan_away_open(away, ref->app, with ? with->on : NULL, ref->graph->root,
		recipe_ref_warnings(ref), r);
}

struct writing {
	const struct planned_host *host;
	struct json_out *out;
	struct mask *mask; /* NULL: there is nothing to hide */
	struct plan_away *away;
	size_t count;
	bool more; /* than are in it */
};

static void write_argv(const struct writing *w, const char *name, const struct walk_leaf *leaf)
{
	struct arena a = ARENA_INIT;

	json_out_array(w->out, name);
	for (size_t i = 0; i < leaf->argc; i++)
		json_out_str(w->out, NULL, mask_text(w->mask, str_of(leaf->argv[i]), &a));
	json_out_array_end(w->out);
	arena_done(&a);
}

/* Counts a command; false: there are more than are written. */
static bool has_room(struct writing *w)
{
	w->more = w->count == LEAVES_MAX;
	w->count += !w->more;
	return !w->more;
}

static bool add_argv(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;

	if (!leaf->argv)
		return true;
	if (!has_room(w))
		return false;
	write_argv(w, NULL, leaf);
	return true;
}

static bool add_leaf(void *data, const struct walk_leaf *leaf)
{
	struct writing *w = data;
	struct json_out *o = w->out;
	const struct node *n = leaf->node;
	struct arena a = ARENA_INIT;

	if (!leaf->argv)
		return true;
	if (!has_room(w))
		return false;
	/* The condition of a step that is a loop stands at the loop. */
	if (n->step && !n->when && n->parent && node_repeats(n->parent))
		n = n->parent;
	json_out_object(o, NULL);
	json_out_str(o, "path", leaf->path);
	json_out_str_or_null(o, "label", mask_text(w->mask, leaf->node->label, &a));
	write_argv(w, "argv", leaf);
	json_out_str(
		o, "cwd", mask_text(w->mask, str_of(leaf->cwd ? leaf->cwd : w->host->cwd), &a));
	if (leaf->timeout_ms)
		json_out_uint(o, "timeout", leaf->timeout_ms);
	else
		json_out_null(o, "timeout");
	json_out_str_or_null(o, "when", mask_text(w->mask, n->when ? n->when->raw : S(""), &a));
	if (w->away)
		plan_away_leaf_json(w->away, leaf, o);
	json_out_object_end(o);
	arena_done(&a);
	return true;
}

bool planned_json(const struct plan *p, const struct planned_host *host, struct mask *mask,
	struct plan_away *away, struct json_out *o, struct report *r)
{
	struct writing argv = { .host = host, .out = o, .mask = mask, .away = away }, leaves = argv;

	json_out_object(o, NULL);
	json_out_array(o, "argv");
	planned_walk(p, host, add_argv, &argv);
	json_out_array_end(o);
	json_out_array(o, "leaves");
	planned_walk(p, host, add_leaf, &leaves);
	json_out_array_end(o);
	if (leaves.more)
		json_out_bool(o, "truncated", true);
	bool ok = !away || plan_away_json(away, o, r);
	json_out_object_end(o);
	return ok;
}

bool recipes_plan(struct recipe_ref *ref, const struct recipe_surroundings *with,
	struct json_out *o, struct report *r)
{
	struct planned_host host = host_of(ref, with);
	struct plan *p = plan_of(ref, with, r);
	struct plan_away away = { 0 };

	bool ok = p && open_away(&away, ref, with, r);
	struct mask *mask = ok ? planned_mask(ref, p, &host) : NULL;
	ok = ok && planned_json(p, &host, mask, &away, o, r);
	mask_free(mask);
	plan_away_done(&away);
	plan_unref(p);
	return ok;
}

/* -- as data -------------------------------------------------------------------------------------
 */

struct telling {
	planned_fn *fn;
	void *data;
	struct mask *mask;
	const char *cwd;
	struct plan_away *away;
};

static bool tell_leaf(void *data, const struct walk_leaf *leaf)
{
	const struct telling *t = data;
	struct arena a = ARENA_INIT;
	const char **argv = leaf->argv ? arena_array(&a, const char *, leaf->argc + 1) : NULL;

	for (size_t i = 0; argv && i < leaf->argc; i++)
		argv[i] = mask_text(t->mask, str_of(leaf->argv[i]), &a).p;
	AUTO_BUF asks = BUF_INIT;
	const struct shape *shape = plan_away_see(t->away, leaf);
	if (shape)
		shape_text(shape, &asks);
	bool more = t->fn(t->data,
		&(struct planned_command){ .path = leaf->path,
			.label = mask_text(t->mask, leaf->node->label, &a),
			.cwd = mask_text(t->mask, str_of(leaf->cwd ? leaf->cwd : t->cwd), &a),
			.gate = leaf->node->kind == NODE_GATE,
			.agent = leaf->node->step && leaf->node->step->agent,
			.note = mask_text(t->mask, leaf->note, &a),
			.on = !plan_away_is_open(t->away) ? S("")
			      : shape                     ? t->away->choice.name
							  : S("local"),
			.shape = buf_str(&asks),
			.argv = argv,
			.argc = leaf->argc });
	arena_done(&a);
	return more;
}

/* The allocations that would be asked for, when all commands have been told. */
static bool tell_submits(struct plan_away *away, const struct recipe_surroundings *with, void *data,
	struct report *r)
{
	bool ok = true;

	for (size_t i = 0; with && with->submit && i < away->shapes.len; i++) {
		AUTO_BUF asks = BUF_INIT;
		const char *const *argv = plan_away_words(away, &away->shapes.at[i], r);
		size_t argc = 0;

		shape_text(&away->shapes.at[i], &asks);
		while (argv && argv[argc])
			argc++;
		ok &= argv != NULL;
		if (argv)
			with->submit(data, &(struct planned_submit){
						   away->choice.name, buf_str(&asks), argv, argc });
	}
	for (size_t i = 0; with && with->note && i < away->notes.len; i++)
		with->note(data, away->notes.at[i]);
	return ok;
}

bool recipes_plan_each(struct recipe_ref *ref, const struct recipe_surroundings *with,
	planned_fn *fn, void *data, struct report *r)
{
	struct planned_host host = host_of(ref, with);
	struct plan *p = plan_of(ref, with, r);
	struct plan_away away = { 0 };
	bool ok = p && open_away(&away, ref, with, r);
	struct mask *mask = ok ? planned_mask(ref, p, &host) : NULL;

	if (ok)
		planned_walk(
			p, &host, tell_leaf, &(struct telling){ fn, data, mask, host.cwd, &away });
	ok = ok && tell_submits(&away, with, data, r);
	mask_free(mask);
	plan_away_done(&away);
	plan_unref(p);
	return ok;
}
