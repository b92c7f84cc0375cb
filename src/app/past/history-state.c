#include <inttypes.h>
#include <stdlib.h>

#include "app/past/history.h"
#include "base/clock.h"
#include "base/run-status.h"

/* All copies of one node of the graph. */
struct past_state {
	struct picture_state sum;
	uint64_t first_ms, last_ms;
};

/* How a node looks that did not come to its end. */
static enum shown_state cut_short(const struct history *h)
{
	enum shown_state s = shown_state_of(h->status);

	return s == STATE_RUNNING || s == STATE_PAUSED || s == STATE_EXITED || s == STATE_KILLED
		       ? s
		       : STATE_CANCELLED;
}

static void conclude_command(struct history *h, struct past_node *p)
{
	struct report_span *s = &p->spans.at[p->spans.len - 1];

	if (p->open) {
		s->state = cut_short(h);
		s->ms = h->now_ms > s->start_ms ? h->now_ms - s->start_ms : 0;
	}
	if (p->tolerated)
		vec_each (span, &p->spans)
			if (span->state == STATE_FAILED || span->state == STATE_TIMEOUT)
				span->state = STATE_TOLERATED;
	p->state = s->state;
	p->code = s->code;
	p->coded = !p->open;
	p->timed = true;
	p->first_ms = p->spans.at[0].start_ms;
	p->last_ms = s->start_ms + s->ms;
}

/* A pause or a gate. */
static void conclude_told(const struct history *h, struct past_node *p)
{
	bool open = p->told_as == STATE_WAITING || p->told_as == STATE_PAUSED;

	p->state = open ? cut_short(h) : p->told_as;
	p->timed = true;
}

/* -- groups --------------------------------------------------------------------------------------
 */

static int by_order(const void *a, const void *b)
{
	const struct past_node *x = *(struct past_node *const *)a;
	const struct past_node *y = *(struct past_node *const *)b;

	return (x->order > y->order) - (x->order < y->order);
}

/* Without node.done: of a record of an older version, or of a run whose supervisor vanished before
 * the first group ended. The worst that happened in it. */
static enum shown_state worst_child(const struct history *h, struct past_node *g)
{
	bool stopped = g->node && !node_repeats(g->node) && g->below.len < g->node->child_count;

	vec_each (child, &g->below) {
		enum shown_state o = (*child)->state;

		if ((*child)->order == UINT64_MAX)
			continue; /* a recovery */
		if (o == STATE_FAILED || o == STATE_TIMEOUT) {
			g->code = (*child)->code;
			return STATE_FAILED;
		}
		stopped |= o != STATE_DONE && o != STATE_SKIPPED && o != STATE_TOLERATED;
	}
	return stopped ? cut_short(h) : STATE_DONE;
}

static enum shown_state told_end(const struct history *h, const struct past_node *g)
{
	static const enum shown_state states[NODE_ENDS] = {
		[NODE_END_DONE] = STATE_DONE,
		[NODE_END_TOLERATED] = STATE_TOLERATED,
		[NODE_END_FAILED] = STATE_FAILED,
		[NODE_END_TIMEOUT] = STATE_TIMEOUT,
	};

	/* A gate in it, or beside it, may have stopped it for the time being. */
	return g->end == NODE_END_CANCELLED ? cut_short(h) : states[g->end];
}

static void conclude_group(struct history *h, struct past_node *p)
{
	p->timed = false;
	vec_each (child, &p->below) {
		if (!(*child)->timed)
			continue;
		p->first_ms = p->timed ? MIN(p->first_ms, (*child)->first_ms) : (*child)->first_ms;
		p->last_ms = MAX(p->last_ms, (*child)->last_ms);
		p->timed = true;
	}
	if (h->whole && !p->reached)
		p->state = h->live || status_is(h->status, ROUX_PAUSED) ? STATE_WAITING
									: STATE_UNREACHED;
	else if (p->ended)
		p->state = told_end(h, p);
	else if (h->live || h->tells_groups)
		p->state = cut_short(h);
	else
		p->state = worst_child(h, p);
	p->coded = p->state == STATE_FAILED || p->state == STATE_TIMEOUT ||
		   p->state == STATE_TOLERATED;
}

static void conclude(struct history *h, struct past_node *p, bool tolerated)
{
	tolerated |= p->node && p->node->failure_stated && p->node->failure == FAILURE_CONTINUE;
	p->tolerated = tolerated;
	if (p->below.len)
		qsort(p->below.at, p->below.len, sizeof(*p->below.at), by_order);
	vec_each (child, &p->below)
		conclude(h, *child, tolerated);
	if (p->skipped) {
		p->state = STATE_SKIPPED;
	} else if (p->told) {
		conclude_told(h, p);
	} else if (p->spans.len) {
		conclude_command(h, p);
	} else {
		conclude_group(h, p);
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
	s->sum.counts[p->state]++;
	if (!p->timed)
		return;
	s->first_ms = MIN(s->first_ms, p->first_ms);
	s->last_ms = MAX(s->last_ms, p->last_ms);
	s->sum.ms = s->last_ms - s->first_ms;
}

/* The run's own status is more than what its commands tell. */
static void conclude_root(struct history *h)
{
	struct past_node *top = h->top;

	if (!top || top->spans.len || top->skipped)
		return;
	(void)shown_state_read(h->status, &top->state);
	top->coded &= top->state != STATE_DONE;
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
	if (h->whole)
		return; /* pictures are drawn from histories of what happened */
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
		ret->counts[h->live ? STATE_WAITING : STATE_UNREACHED] = 1;
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
