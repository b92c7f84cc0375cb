#include <inttypes.h>
#include <stdlib.h>

#include "app/history.h"
#include "base/clock.h"
#include "base/run-status.h"

/* What became of groups is not among the events: it follows from their commands and the rules of
 * failure (command-templates.md section 11), as the engine has them. */

/* All copies of one node of the graph. */
struct past_state {
	struct picture_state sum;
	uint64_t first_ms, last_ms;
};

static bool is_bad(const struct past_node *p)
{
	return !p->ok && !p->halted;
}

/* How a node looks that did not come to its end. */
static enum outcome_kind cut_short(const struct history *h)
{
	if (h->live)
		return OUTCOME_RUNNING;
	if (status_is(h->status, ROUX_PAUSED))
		return OUTCOME_WAITING;
	return status_is(h->status, ROUX_EXITED) ? OUTCOME_INTERRUPTED : OUTCOME_CANCELLED;
}

static void conclude_command(struct history *h, struct past_node *p, bool tolerated)
{
	struct report_span *s = &p->spans.at[p->spans.len - 1];

	if (p->open) {
		s->outcome = cut_short(h);
		s->ms = h->now_ms > s->start_ms ? h->now_ms - s->start_ms : 0;
	}
	if (tolerated)
		vec_each (span, &p->spans)
			if (span->outcome == OUTCOME_FAILED || span->outcome == OUTCOME_TIMEOUT)
				span->outcome = OUTCOME_TOLERATED;
	p->outcome = s->outcome;
	p->ok = s->outcome == OUTCOME_DONE;
	p->halted = s->outcome == OUTCOME_RUNNING || s->outcome == OUTCOME_CANCELLED ||
		    s->outcome == OUTCOME_INTERRUPTED;
	p->code = s->code;
	p->coded = !p->open;
	p->timed = true;
	p->first_ms = p->spans.at[0].start_ms;
	p->last_ms = s->start_ms + s->ms;
}

/* A pause or a gate. */
static void conclude_told(const struct history *h, struct past_node *p)
{
	/* Nothing else keeps a live run from going on. */
	if (p->outcome == OUTCOME_WAITING && !status_is(h->status, ROUX_PAUSED))
		p->outcome = cut_short(h);
	p->ok = p->outcome == OUTCOME_DONE;
	p->halted = !p->ok && p->outcome != OUTCOME_FAILED;
	p->timed = true;
}

/* -- groups --------------------------------------------------------------------------------------
 */

/* What the children of a group came to. */
struct verdict {
	bool failed, running, halted;
	enum failure_scope carried;
	const struct past_node *by; /* the child that failed it */
};

static enum failure_scope scope_of(const struct past_node *group, const struct past_node *child)
{
	enum failure_scope scope = child->carried;

	if (child->node)
		scope = MAX(scope, child->node->failure);
	return group->node ? MAX(scope, group->node->failure) : scope;
}

static size_t child_count(const struct past_node *group)
{
	size_t n = group->below.len;

	return n && group->below.at[n - 1]->order == UINT64_MAX ? n - 1 : n;
}

/* Copies are as many as there were; of other groups the graph knows the number. */
static bool all_entered(const struct history *h, const struct past_node *group)
{
	const struct node *n = group->node;

	if (!n || node_repeats(n))
		return !h->live;
	return child_count(group) >= n->child_count;
}

static bool only_step_of_run(const struct past_node *group)
{
	return !group->up && group->node && group->node->child_count == 1 &&
	       group->node->kind != NODE_EACH && !group->node->step;
}

static void judge_sequence(const struct history *h, const struct past_node *g, struct verdict *v)
{
	for (size_t i = 0; i < child_count(g) && !v->failed; i++) {
		const struct past_node *child = g->below.at[i];
		enum failure_scope scope = scope_of(g, child);

		v->running |= child->outcome == OUTCOME_RUNNING;
		v->halted |= child->halted;
		if (!is_bad(child))
			continue;
		if (g->node && g->node->wrapper) {
			v->failed = true;
			v->carried = child->node ? MAX(child->carried, child->node->failure)
						 : child->carried;
		} else if (scope != FAILURE_CONTINUE || only_step_of_run(g)) {
			v->failed = true;
			v->carried = only_step_of_run(g) ? FAILURE_ROOT : scope;
		}
		v->by = v->failed ? child : NULL;
	}
	if (!v->failed && !all_entered(h, g))
		v->halted = true;
}

static void judge_parallel(const struct history *h, const struct past_node *g, struct verdict *v)
{
	const struct past_node *bad = NULL, *root = NULL;
	size_t ok = 0;

	for (size_t i = 0; i < child_count(g); i++) {
		const struct past_node *child = g->below.at[i];

		v->running |= child->outcome == OUTCOME_RUNNING;
		v->halted |= child->halted;
		ok += child->ok;
		if (!is_bad(child))
			continue;
		bad = bad ? bad : child;
		if (scope_of(g, child) == FAILURE_ROOT)
			root = root ? root : child;
	}
	if (root)
		v->carried = FAILURE_ROOT;
	else if (bad && g->node->failure == FAILURE_BRANCH)
		v->carried = FAILURE_BRANCH;
	else if (ok || v->halted)
		bad = NULL;
	v->by = root ? root : bad;
	v->failed = v->by != NULL;
	if (!v->failed && !all_entered(h, g))
		v->halted = true;
}

static int by_order(const void *a, const void *b)
{
	const struct past_node *x = *(struct past_node *const *)a;
	const struct past_node *y = *(struct past_node *const *)b;

	return (x->order > y->order) - (x->order < y->order);
}

static bool own_limit(const struct past_node *g, const struct verdict *v)
{
	return g->node && (g->node->timeout_ms.value || g->node->timeout_ms.text) &&
	       (v->by->outcome == OUTCOME_TIMEOUT || v->by->outcome == OUTCOME_TOLERATED) &&
	       g->last_ms - g->first_ms >= g->node->timeout_ms.value;
}

static void conclude_group(struct history *h, struct past_node *p, bool tolerated)
{
	struct verdict v = { 0 };

	vec_each (child, &p->below) {
		if (!(*child)->timed)
			continue;
		p->first_ms = p->timed ? MIN(p->first_ms, (*child)->first_ms) : (*child)->first_ms;
		p->last_ms = MAX(p->last_ms, (*child)->last_ms);
		p->timed = true;
	}
	if (p->node && node_joins(p->node))
		judge_parallel(h, p, &v);
	else
		judge_sequence(h, p, &v);
	p->carried = v.carried;
	if (v.running) {
		p->outcome = OUTCOME_RUNNING;
		p->halted = true;
	} else if (v.failed) {
		p->code = v.by->code;
		p->coded = true;
		p->outcome = own_limit(p, &v) ? OUTCOME_TIMEOUT : OUTCOME_FAILED;
		if (p->outcome == OUTCOME_TIMEOUT)
			p->carried = FAILURE_CONTINUE;
		if (tolerated)
			p->outcome = OUTCOME_TOLERATED;
	} else if (v.halted) {
		p->outcome = cut_short(h);
		p->halted = true;
	} else {
		p->outcome = OUTCOME_DONE;
		p->ok = true;
	}
}

static void conclude(struct history *h, struct past_node *p, bool tolerated)
{
	tolerated |= p->node && p->node->failure_stated && p->node->failure == FAILURE_CONTINUE;
	if (p->below.len)
		qsort(p->below.at, p->below.len, sizeof(*p->below.at), by_order);
	vec_each (child, &p->below)
		conclude(h, *child, tolerated);
	if (p->skipped) {
		p->outcome = OUTCOME_SKIPPED;
		p->ok = true;
	} else if (p->told) {
		conclude_told(h, p);
	} else if (p->spans.len) {
		conclude_command(h, p, tolerated);
	} else {
		conclude_group(h, p, tolerated);
	}
}

/* -- for pictures --------------------------------------------------------------------------------
 */

/* `1.r3.0` → `1.r*.0`: the picture draws all copies as one. */
static void add_starred(struct buf *b, struct str path)
{
	for (size_t at = 0; at <= path.len;) {
		size_t end = str_find(path, '.', at);
		struct str part = str_sub(path, at, end - at);

		if (part.len > 1 && part.p[0] == 'r' && ascii_digit(part.p[1]))
			part = S("r*");
		buf_printf(b, "%s%.*s", at ? "." : "", STR(part));
		at = end + 1;
	}
}

static void add_to_states(struct history *h, const struct past_node *p)
{
	AUTO_BUF path = BUF_INIT;

	if (p->up)
		add_starred(&path, p->path);
	else
		buf_add(&path, p->path); /* the root is a dot */
	void **place = map_put(&h->states, &h->arena, buf_str(&path));
	struct past_state *s = *place;
	if (!s) {
		s = *place = arena_new(&h->arena, struct past_state);
		s->first_ms = UINT64_MAX;
	}
	picture_state_merge(
		&s->sum, &(struct picture_state){
				 .attempts = p->skipped     ? 0
					     : p->spans.len ? p->executions
							    : MAX(p->retries, (uint64_t)1),
				 .code = p->code,
				 .coded = p->coded,
				 .timed = p->timed,
			 });
	s->sum.counts[p->outcome]++;
	if (!p->timed)
		return;
	s->first_ms = MIN(s->first_ms, p->first_ms);
	s->last_ms = MAX(s->last_ms, p->last_ms);
	s->sum.ms = s->last_ms - s->first_ms;
}

/* The run's own status is more than what its commands tell. */
static void conclude_root(struct history *h)
{
	if (h->top && !h->top->spans.len && !h->top->skipped)
		(void)outcome_of_status(h->status, &h->top->outcome);
}

void history_conclude(struct history *h, struct str status)
{
	h->status = arena_str(&h->arena, status);
	h->live = status_is(status, ROUX_RUNNING);
	if (h->live && h->began_ms) {
		uint64_t now = clock_real_ms();

		h->now_ms = MAX(h->now_ms, now > h->began_ms ? now - h->began_ms : 0);
	}
	if (h->top)
		conclude(h, h->top, false);
	conclude_root(h);
	map_each (e, &h->nodes)
		add_to_states(h, e->value);
}

bool history_state(const void *history, struct str path, struct picture_state *ret)
{
	const struct history *h = history;
	const struct past_state *s = map_get(&h->states, path);

	if (s)
		*ret = s->sum;
	else
		ret->counts[h->live ? OUTCOME_WAITING : OUTCOME_NONE] = 1;
	return true;
}

static void collect(struct past_node *p, struct report_leaf *leaves, size_t *count)
{
	if (p->spans.len)
		leaves[(*count)++] = (struct report_leaf){
			.path = p->path,
			.label = p->label,
			.command = p->command,
			.spans = p->spans.at,
			.span_count = p->spans.len,
			.executions = p->executions,
		};
	vec_each (child, &p->below)
		collect(*child, leaves, count);
}

const struct report_leaf *history_leaves(struct history *h, size_t *ret_count)
{
	struct report_leaf *leaves = arena_array(&h->arena, struct report_leaf, h->nodes.count + 1);

	*ret_count = 0;
	if (h->top)
		collect(h->top, leaves, ret_count);
	return leaves;
}
