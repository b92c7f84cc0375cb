/* What a rerun or a resume would do; nothing is started and nothing is written. */
#include <stdlib.h>
#include <string.h>

#include "app/catalog/plan.h"
#include "app/catalog/secrets.h"
#include "app/context/run-values.h"
#include "app/launch/again.h"
#include "app/launch/attempts.h"
#include "app/launch/fate.h"
#include "app/launch/go-there.h"
#include "app/launch/kept.h"
#include "app/launch/take-back.h"
#include "app/launch/take-over.h"
#include "app/record/gates-file.h"
#include "app/record/secrets.h"
#include "base/node-path.h"
#include "base/run-status.h"
#include "graph/step.h"
#include "runs/dir/events.h"
#include "runs/dir/unrecorded.h"

/* What was asked at a gate in its last attempt. */
struct gate_asked {
	enum gate_answer answer;
	uint64_t number; /* of the attempt, from 1 */
};

/* A gate whose answer is taken over. */
struct gate_stood {
	struct str path, label;
};

/* An execution that is not over, or counts no more. */
struct cut_short {
	struct str path;
	struct leaf_record record;
};

struct plan_again {
	struct launch *launch;
	const struct run_look *look;
	struct redo *redo;
	struct leaves *leaves;
	bool resume;
	struct arena arena;
	struct map last;    /* path → struct leaf_record: its last execution */
	struct map holds;   /* path → anything: it is not executed again; of a resume */
	struct map visited; /* path → anything */
	struct fates fates; /* of a resume */
	struct map gates;   /* path → struct gate_asked: those that the run has reached */
	VEC(struct gate_stood) stood;
	VEC(struct cut_short) runs; /* of a resume */
	struct mask *mask;
	planned_again_fn *fn;
	void *data;
	bool enough;
};

/* -- what holds ----------------------------------------------------------------------------------
 */

static bool counts(const struct leaf_record *r)
{
	return r && r->ended && !r->cancelled;
}

static void see_last(void *data, struct str path, const struct leaf_record *record)
{
	struct plan_again *p = data;
	void **slot = map_put(&p->last, &p->arena, path);

	*slot = *slot ? *slot : arena_new(&p->arena, struct leaf_record);
	*(struct leaf_record *)*slot = *record;
}

static void see_holding(void *data, struct str path, const struct leaf_record *record)
{
	struct plan_again *p = data;

	if (counts(record))
		*map_put(&p->holds, &p->arena, path) = p;
}

static void see_running(void *data, struct str path, const struct leaf_record *record)
{
	struct plan_again *p = data;

	if (!counts(record))
		vec_push(&p->runs, (struct cut_short){ path, *record });
}

static struct past past_of(const struct plan_again *p)
{
	return (struct past){ .root = p->launch->subject.graph->root,
		.leaves = p->leaves,
		.called = p->redo->called };
}

/* Whether an attempt of a node around it has begun, or is to begin, that comes behind this one. */
static bool is_behind(const struct plan_again *p, struct str path, const struct leaf_record *record)
{
	const struct past past = past_of(p);

	if (!p->runs.len || !execution_is_retried(&past, path))
		return false;
	vec_each (run, &p->runs)
		if (execution_precedes(&past, path, record, run->path, &run->record))
			return true;
	return false;
}

/* Whether an attempt is yet to come, whatever came of those before. */
static bool has_attempt(
	const struct plan_again *p, struct str path, const struct leaf_record *record)
{
	const struct past past = past_of(p);

	return !counts(record) || execution_retries(&past, path, record) ||
	       is_behind(p, path, record);
}

static void see_attempt(void *data, struct str path, const struct leaf_record *record)
{
	struct plan_again *p = data;

	if (record->lost || fates_loop(&p->fates, path) ||
		(record == leaves_last(p->leaves, path) && has_attempt(p, path, record)))
		*map_put(&p->holds, &p->arena, path) = NULL;
}

static bool is_reused(const struct plan_again *p, struct str path)
{
	if (p->resume)
		return map_get(&p->holds, path) != NULL;
	return counts(map_get(&p->last, path)) && redo_holds(p->redo, path);
}

/* Whether all that the node did is known. */
static bool is_known(void *data, struct str path)
{
	const struct plan_again *p = data;

	if (!p->resume)
		return redo_holds_all(p->redo, path);
	bool any = false;
	map_each (entry, &p->last) {
		if (!node_path_within(entry->key, path))
			continue;
		any = true;
		if (!map_get(&p->holds, entry->key))
			return false;
	}
	return any;
}

static void forget(void *data, struct str path, const struct leaf_record *record)
{
	struct plan_again *p = data;
	const struct redo_node why = { .failed = true,
		.timeout = record && record->timed_out,
		.code = record && record->code ? record->code : p->look->row.code };

	(void)leaves_forget(p->leaves, path);
	redo_add(p->redo, path, &why);
}

/* -- telling -------------------------------------------------------------------------------------
 */

static struct str failed_words(struct arena *a, bool timeout, int code)
{
	return timeout ? S("failed earlier: time limit")
		       : arena_printf(a, "failed earlier: exit %d", code);
}

static struct str why_it_runs(struct plan_again *p, struct str path, enum planned_fate *fate)
{
	const struct leaf_record *was = map_get(&p->last, path);
	const struct redo_node *why = redo_why(p->redo, path);

	const struct fate *told = fates_of(&p->fates, path);
	const struct fate *loop = p->resume ? fates_loop(&p->fates, path) : NULL;

	*fate = told || counts(was) ? PLANNED_AGAIN : PLANNED_RUN;
	if (told)
		return str_of(resume_reason(told->why));
	bool cancelled = was && was->cancelled && !p->redo->whole;
	if (!was || (cancelled && !was->started))
		return S("not reached before");
	if (!was->ended || cancelled)
		return S("cut short before");
	if (why && why->failed)
		return failed_words(&p->arena, why->timeout, why->code);
	if (loop)
		return arena_printf(&p->arena, "from the first round of [%.*s]: %s",
			STR(loop->path), resume_reason(loop->why));
	if (p->resume) {
		*fate = PLANNED_RUN; /* what is recorded stands */
		return S("in a later attempt");
	}
	return why || p->redo->whole ? S("asked for") : S("follows what runs again");
}

/* NULL: the run has not been there. */
static const struct gate_asked *gate_at(const struct plan_again *p, struct str path)
{
	return map_get(&p->gates, path);
}

/* As that of a command. */
static struct leaf_record gate_record(
	const struct plan_again *p, struct str path, const struct gate_asked *gate)
{
	return (struct leaf_record){ .number = gate->number + leaves_base(p->leaves, path) };
}

/* Whether it is asked again in an attempt that is yet to come. */
static bool is_asked_later(
	const struct plan_again *p, struct str path, const struct gate_asked *gate)
{
	const struct leaf_record record = gate_record(p, path, gate);

	return p->resume && is_behind(p, path, &record);
}

/* Whether it is not asked again: as take_gates() and a resume decide it. */
static bool gate_stands(const struct plan_again *p, struct str path)
{
	const struct gate_asked *gate = gate_at(p, path);

	return gate && gate->answer == GATE_APPROVED &&
	       (p->resume ? !is_asked_later(p, path, gate) : redo_holds(p->redo, path));
}

static struct str why_it_asks(const struct plan_again *p, struct str path, enum planned_fate *fate)
{
	const struct gate_asked *gate = gate_at(p, path);
	enum gate_answer answer = gate ? gate->answer : GATE_PENDING;

	*fate = answer == GATE_PENDING ? PLANNED_RUN : PLANNED_AGAIN;
	if (!gate)
		return S("not reached before");
	if (p->redo->whole)
		return S("asked for");
	if (answer == GATE_APPROVED && p->resume) {
		*fate = PLANNED_RUN;
		return S("in a later attempt");
	}
	return answer == GATE_PENDING  ? S("not answered before")
	       : answer == GATE_DENIED ? S("denied earlier")
				       : S("follows what runs again");
}

/* The text with what is secret in it masked. */
static struct str masked(struct plan_again *p, struct str text)
{
	return mask_text(p->mask, text, &p->arena);
}

static const char *const *masked_words(struct plan_again *p, const char *const *argv, size_t argc)
{
	const char **words = arena_array(&p->arena, const char *, argc + 1);

	for (size_t i = 0; i < argc; i++)
		words[i] = arena_str(&p->arena, masked(p, str_of(argv[i]))).p;
	return words;
}

static void tell(struct plan_again *p, struct planned_again *what)
{
	if (!p->enough)
		p->enough = !p->fn(p->data, what);
}

static bool visit(void *data, const struct walk_leaf *leaf)
{
	struct plan_again *p = data;
	const struct node *n = leaf->node;
	struct planned_again what = { .path = leaf->path,
		.label = masked(p, n->label),
		.note = masked(p, leaf->note),
		.gate = n->kind == NODE_GATE,
		.agent = n->step && n->step->agent,
		.argc = leaf->argc,
		.cwd = masked(p, leaf->cwd ? str_of(leaf->cwd) : p->look->row.cwd),
		.timeout_ms = leaf->timeout_ms };

	*map_put(&p->visited, &p->arena, leaf->path) = p;
	if (is_reused(p, leaf->path))
		return !p->enough;
	if (what.gate && gate_stands(p, leaf->path)) {
		vec_push(&p->stood,
			(struct gate_stood){ arena_str(&p->arena, leaf->path), what.label });
		return !p->enough;
	}
	/* The condition of a step that is a loop stands at the loop. */
	if (n->step && !n->when && n->parent && node_repeats(n->parent))
		n = n->parent;
	const struct gate_asked *gate = what.gate && p->resume ? gate_at(p, leaf->path) : NULL;
	what.asked = gate && !is_asked_later(p, leaf->path, gate);
	what.when = masked(p, n->when ? n->when->raw : S(""));
	if (leaf->argv)
		what.argv = masked_words(p, leaf->argv, leaf->argc);
	what.why = what.gate ? why_it_asks(p, leaf->path, &what.fate)
			     : why_it_runs(p, leaf->path, &what.fate);
	tell(p, &what);
	return !p->enough;
}

/* Whether it runs depends on what will fail: plans leave recoveries out. */
static bool in_recovery(struct str path)
{
	return str_contains(path, S("recover"));
}

/* Whether it runs again, and the plan has not told so. */
static bool is_unseen(struct plan_again *p, struct str path)
{
	bool runs = counts(map_get(&p->last, path)) && !in_recovery(path);

	return (runs || (p->resume && fates_of(&p->fates, path))) && !is_reused(p, path) &&
	       !map_get(&p->visited, path);
}

/* Most lines are about commands that do not run again: to read only the path of those takes a tenth
 * of the time, and the pages of a server wait for it. */
static bool may_be_unseen(struct plan_again *p, struct str line)
{
	struct str name = S("\"path\":\"");
	const char *at = memmem(line.p, line.len, name.p, name.len);

	if (!at)
		return false;
	struct str rest = str_from(line, (size_t)(at - line.p) + name.len);
	return is_unseen(p, str_sub(rest, 0, str_find(rest, '"', 0)));
}

/* Commands that failed where the plan cannot see: their words are as they were then. */
static bool see_start(void *data, struct str line, uint64_t seq)
{
	struct plan_again *p = data;
	struct arena a = ARENA_INIT;
	struct event e;

	(void)seq;
	if (!str_contains(line, S("\"type\":\"command.start\"")) || !may_be_unseen(p, line))
		return true;
	AUTO_JSON *object = json_loadb(line.p, line.len, 0, NULL);
	if (event_read(object, &a, &e) && is_unseen(p, e.path)) {
		struct planned_again what = {
			.path = e.path, .label = e.label, .argv = e.argv, .cwd = p->look->row.cwd
		};

		while (e.argv[what.argc])
			what.argc++;
		*map_put(&p->visited, &p->arena, e.path) = p;
		what.why = why_it_runs(p, e.path, &what.fate);
		tell(p, &what);
	}
	arena_done(&a);
	return !p->enough;
}

static void tell_reused(struct plan_again *p)
{
	vec_each (g, &p->stood) {
		struct planned_again what = { .path = g->path,
			.label = g->label,
			.gate = true,
			.fate = PLANNED_REUSED,
			.why = S("approved earlier") };
		tell(p, &what);
	}
	map_each (entry, &p->last) {
		const struct leaf_record *r = entry->value;
		struct way_step way[WAY_MAX];

		if (!is_reused(p, entry->key))
			continue;
		size_t steps = called_way(p->redo->called, entry->key, way);
		struct planned_again what = { .path = entry->key,
			.fate = PLANNED_REUSED,
			.label = masked(p, steps ? way[steps - 1].node->label : S("")),
			.why = r->code || r->timed_out
				       ? failed_words(&p->arena, r->timed_out, r->code)
				       : S("succeeded earlier") };
		tell(p, &what);
	}
}

/* -- all of it -----------------------------------------------------------------------------------
 */

/* From its second attempt on a gate has #NUMBER. */
static void see_gates(struct plan_again *p)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *gates = gates_read(p->look->dir, &ignored);
	const char *name;
	json_t *gate;

	json_object_foreach(gates, name, gate)
	{
		struct str all = str_of(name);
		size_t end = str_find(all, '#', 0);
		struct str path = arena_str(&p->arena, str_sub(all, 0, end));
		uint64_t number = end < all.len ? strtoull(name + end + 1, NULL, 10) : 1;
		void **slot = map_put(&p->gates, &p->arena, path);
		struct gate_asked *asked = *slot;

		if (!asked)
			*slot = asked = arena_new(&p->arena, struct gate_asked);
		if (number >= asked->number)
			*asked = (struct gate_asked){ gate_answer_of(gate), number };
	}
}

static bool choose(struct plan_again *p, const struct rerun_request *q, struct report *r)
{
	AUTO_BUF node = BUF_INIT;
	struct launch *l = p->launch;

	leaves_each(p->leaves, see_last, p);
	see_gates(p);
	if (!p->resume) {
		if (!again_choose(l, q, p->look, p->leaves, p->redo, &node, r))
			return false;
		if (!p->redo->whole)
			fates_find(&p->fates, p->redo->called, p->leaves);
		return true;
	}
	struct str failed = resume_failed_node(l, p->look, p->leaves);
	if (failed.len)
		resume_forgets(l, p->leaves, failed, json_text_of(p->look->result, "retried_node"),
			forget, p);
	return true;
}

static void see_lost(void *data, struct str path, const struct leaf_record *record)
{
	if (record->lost)
		see_last(data, path, record);
}

/* As a resume decides it, and nothing is written. */
static bool find_holding(struct plan_again *p, struct report *r)
{
	AUTO_BUF ignored = BUF_INIT;

	if (!resume_lose(p->launch, p->leaves, &ignored, r))
		return false;
	fates_find(&p->fates, p->redo->called, p->leaves);
	leaves_each(p->leaves, see_lost, p);
	leaves_each(p->leaves, see_holding, p);
	leaves_each(p->leaves, see_running, p);
	/* What was asked in an attempt tells that it has begun. */
	map_each (entry, &p->gates) {
		vec_push(&p->runs,
			(struct cut_short){ entry->key, gate_record(p, entry->key, entry->value) });
	}
	leaves_each(p->leaves, see_attempt, p);
	return true;
}

static bool make_plan(struct plan_again *p, const struct rerun_request *q, struct report *r)
{
	struct launch *l = p->launch;

	if (!launch_ask(l, &q->request, r) || !launch_values(l, q->values, r))
		return false;
	if (!p->resume && !l->subject.graph->steps) {
		/* The name and directory of the new run are not known yet. */
		plan_unref(l->subject.plan);
		run_add_unknown_values(l->subject.values);
		l->subject.plan =
			secrets_plan_new(l->subject.graph, l->subject.recipe, l->subject.values, r);
		return l->subject.plan != NULL;
	}
	return launch_plan_again(l, r);
}

/* The plan of what would run, unless values given now are refused. */
static bool make_plan_kept(struct plan_again *p, const struct rerun_request *q, struct report *r)
{
	AUTO_JSON *before = json_copy(p->launch->subject.values);
	const struct kept_values values = { before, q->values };

	return make_plan(p, q, r) && kept_check(p->launch, p->look->id, &values, p->redo->called,
					     p->leaves, p->resume ? NULL : p->redo, r);
}

static bool plan(struct plan_again *p, const struct rerun_request *q, struct report *r)
{
	struct launch *l = p->launch;

	if (!choose(p, q, r) || !make_plan_kept(p, q, r))
		return false;
	if (p->resume ? !find_holding(p, r) : !rerun_has_outputs(l, p->look, p->redo, p->leaves, r))
		return false;
	p->mask = mask_of_run(l);
	const struct planned_host host = { .cwd = arena_cstr(&p->arena, p->look->row.cwd),
		.agents = l->asked.agents,
		.collections = l->asked.collections,
		.dirs = &l->subject.dirs,
		.known = p->redo->whole ? NULL : is_known,
		.known_data = p,
		.context = json_object_get(p->look->result, "context") };
	planned_secrets(l->subject.plan, &host, SIZE_MAX, p->mask);
	planned_walk(l->subject.plan, &host, visit, p);
	if (!p->redo->whole)
		(void)events_each(p->look->dir.p, 0, see_start, p);
	tell_reused(p);
	mask_free(p->mask);
	return true;
}

/* A resume of a run that is complete starts nothing. */
static void tell_complete(struct plan_again *p)
{
	leaves_each(p->leaves, see_last, p);
	leaves_each(p->leaves, see_holding, p);
	tell_reused(p);
}

bool runs_plan_again(struct app *a, const char *name, const struct rerun_request *q, bool resume,
	planned_again_fn *fn, void *data, struct report *r)
{
	AUTO_LOOK look = { 0 };
	struct called called = { 0 };
	struct redo redo;

	if (!find_settled(a, name, &look, r))
		return false;
	if (look.live)
		return refuse_running(look.id, r);
	struct launch *l = launch_new(a);
	struct plan_again p = {
		.launch = l, .look = &look, .redo = &redo, .resume = resume, .fn = fn, .data = data
	};
	redo_init(&redo, &called);
	bool ok = go_there(l, &look, q->stay, r) && launch_thaw(l, look.dir, r) &&
		  (p.leaves = leaves_of_run(look.dir.p, r));
	if (ok) {
		called_init(&called, l, look.dir);
		if (resume && status_rests(look.status, STATUS_COMPLETE))
			tell_complete(&p);
		else
			ok = plan(&p, q, r);
	}
	redo_done(&redo);
	called_done(&called);
	leaves_free(p.leaves);
	fates_done(&p.fates);
	vec_done(&p.stood);
	vec_done(&p.runs);
	arena_done(&p.arena);
	launch_free(l);
	return ok;
}
