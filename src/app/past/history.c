#include "app/past/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/node-path.h"
#include "base/plain-text.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "data/json.h"
#include "graph/event.h"
#include "runs/dir/events.h"

enum {
	COMMANDS_KEPT = 200000, /* more are counted and not told apart */
	PATH_BYTES = 4000,
	PATH_DEPTH = 500,
	SPANS_KEPT = 40, /* of one command: half of them the first, half the last ones */
	COMMAND_KEPT = 300,
	LABEL_KEPT = 200,
};

/* -- finding the node of a path ------------------------------------------------------------------
 */

static bool root_is(const struct history *h, struct str path)
{
	return h->graph ? str_eq(path, node_root_path(h->graph->root)) : str_eq(path, S("."));
}

/* Which child the part of a path means; *order puts siblings in the order of execution. */
static const struct node *child_of(const struct node *n, struct str part, uint64_t *order)
{
	uint64_t index = 0;

	if (str_eq(part, S("recover"))) {
		*order = UINT64_MAX;
		return n ? n->recover : NULL;
	}
	if (node_path_is_copy(part, &index)) {
		*order = index;
		return n && n->child_count ? n->children[0] : NULL;
	}
	if (!str_to_uint(part, &index))
		return NULL;
	*order = index;
	return n && index < n->child_count ? n->children[index] : NULL;
}

static struct past_node *node_make(struct history *h, struct str path)
{
	struct past_node *p = arena_new(&h->arena, struct past_node);
	void **place = map_put(&h->nodes, &h->arena, path);

	p->path = arena_str(&h->arena, path);
	*place = p;
	return p;
}

static struct past_node *node_at(struct history *h, struct str path, unsigned depth);

/* What is below a node as its author wrote it; copies and rounds come with their events. */
static void add_unreached(struct history *h, struct past_node *p, unsigned depth)
{
	const struct node *n = p->node;

	if (!h->whole || !n || node_repeats(n))
		return;
	for (size_t i = 0; i < n->child_count && h->kept < COMMANDS_KEPT; i++) {
		AUTO_BUF path = BUF_INIT;

		node_path_child(&path, p->path, i);
		h->kept++;
		(void)node_at(h, buf_str(&path), depth + 1);
	}
}

static struct past_node *node_at(struct history *h, struct str path, unsigned depth)
{
	struct past_node *p = map_get(&h->nodes, path);

	if (p || !path.len || path.len > PATH_BYTES || depth > PATH_DEPTH)
		return p;
	if (root_is(h, path)) {
		h->top = node_make(h, path);
		h->top->node = h->graph ? h->graph->root : NULL;
		add_unreached(h, h->top, depth);
		return h->top;
	}
	struct str part = node_path_last(path), up = node_path_up(path);
	if (h->graph && str_eq(up, S(".")))
		up = node_root_path(h->graph->root);
	struct past_node *above = node_at(h, up, depth + 1);
	if (!above)
		return NULL;
	p = node_make(h, path);
	p->up = above;
	p->node = child_of(above->node, part, &p->order);
	vec_push(&above->below, p);
	add_unreached(h, p, depth);
	return p;
}

/* Something happened to it, and so to all that it is in. */
static void touch(struct history *h, struct past_node *p)
{
	for (; p; p = p->up) {
		p->reached = true;
		p->changed = h->seq;
	}
}

/* -- events --------------------------------------------------------------------------------------
 */

/* Times of events are those of a clock that may have been set back. */
static uint64_t since_start(const struct history *h, uint64_t real_ms)
{
	return real_ms > h->began_ms ? real_ms - h->began_ms : 0;
}

static void add_span(struct past_node *p, struct report_span span)
{
	p->executions++;
	if (p->spans.len == SPANS_KEPT) {
		struct report_span *half = p->spans.at + SPANS_KEPT / 2;

		memmove(half, half + 1, (SPANS_KEPT / 2 - 1) * sizeof(*half));
		p->spans.len--;
	}
	vec_push(&p->spans, span);
	p->open = true;
}

static struct report_span *last_span(const struct past_node *p)
{
	return p->spans.len ? &p->spans.at[p->spans.len - 1] : NULL;
}

static void interrupt(struct past_node *p, uint64_t at_ms)
{
	struct report_span *s = last_span(p);

	if (!p->open)
		return;
	p->open = false;
	s->state = STATE_EXITED;
	s->ms = at_ms > s->start_ms ? at_ms - s->start_ms : 0;
}

static struct str command_text(struct history *h, const char *const *argv)
{
	const char *words[64];
	size_t count = 0;
	AUTO_BUF text = BUF_INIT;

	while (count < ARRAY_SIZE(words) && argv[count]) {
		words[count] = argv[count];
		if (strlen(words[count++]) > COMMAND_KEPT) /* what follows is not shown */
			break;
	}
	command_display(&text, words, count);
	if (text.len <= COMMAND_KEPT)
		return arena_str(&h->arena, buf_str(&text));
	return arena_printf(&h->arena, "%.*s…", STR(utf8_cut(buf_str(&text), COMMAND_KEPT)));
}

/* Something begins in it: an end that was told before, in an earlier attempt or before a resume,
 * does not count any more. The groups around a group that has not ended have not ended either. */
static void reopen(struct past_node *group)
{
	for (; group && group->ended; group = group->up)
		group->ended = false;
}

/* The node that the event is about, made if there is room. NULL: there is none. */
static struct past_node *node_of(struct history *h, const struct event *e)
{
	struct past_node *p = map_get(&h->nodes, e->path);

	if (!p && h->kept >= COMMANDS_KEPT)
		return NULL;
	h->kept += !p;
	return node_at(h, e->path, 0);
}

/* Label and item: "lint f/2.sh". */
static struct str name_of(struct history *h, const struct event *e)
{
	AUTO_BUF name = BUF_INIT;

	buf_add(&name, utf8_cut(e->label, LABEL_KEPT));
	if (e->item.len && !str_contains(buf_str(&name), e->item)) {
		if (name.len)
			buf_addc(&name, ' ');
		text_item(&name, e->item);
	}
	return arena_str(&h->arena, buf_str(&name));
}

static void on_start(struct history *h, const struct event *e, uint64_t at_ms)
{
	struct past_node *p = map_get(&h->nodes, e->path);

	h->commands += !p || !p->executions;
	if (!p && h->kept >= COMMANDS_KEPT)
		return;
	p = node_at(h, e->path, 0);
	if (!p)
		return;
	h->kept += !p->executions;
	interrupt(p, at_ms);
	if (!p->executions) {
		p->label = name_of(h, e);
		p->command = command_text(h, e->argv);
	}
	p->start = h->events.place;
	p->skipped = false;
	p->retrying = false;
	touch(h, p);
	reopen(p->up);
	add_span(p, (struct report_span){ .start_ms = at_ms, .state = STATE_RUNNING });
}

static void on_done(struct history *h, const struct event *e)
{
	struct past_node *p = map_get(&h->nodes, e->path);
	struct report_span *s = p ? last_span(p) : NULL;

	if (!s)
		return;
	touch(h, p);
	s->code = e->end.code;
	s->signal = e->end.signal;
	s->ms = e->end.ms;
	s->state = e->end.timeout   ? STATE_TIMEOUT
		   : !s->code       ? STATE_DONE
		   : h->stopped.len ? STATE_CANCELLED
				    : STATE_FAILED;
	p->open = false;
	if (!e->away.host.len)
		return;
	/* Few names for many commands: each is kept once. */
	char *known = map_get(&h->hosts, e->away.host);
	if (!known) {
		known = arena_cstr(&h->arena, e->away.host);
		*map_put(&h->hosts, &h->arena, e->away.host) = known;
	}
	s->host = str_of(known);
	s->queued_ms = e->away.queued_ms;
}

/* A result that an earlier run, or the part of this one before a resume, already had. */
static void on_reused(struct history *h, const struct event *e, uint64_t at_ms)
{
	struct past_node *p = map_get(&h->nodes, e->path);

	if (p && p->executions)
		return;
	if (!p && h->kept >= COMMANDS_KEPT)
		return;
	p = node_at(h, e->path, 0);
	if (!p)
		return;
	h->kept++;
	h->commands++;
	p->label = name_of(h, e);
	p->command = S("taken over from an earlier execution");
	reopen(p->up);
	add_span(p, (struct report_span){ .start_ms = at_ms });
	on_done(h, e);
}

static void on_skipped(struct history *h, const struct event *e)
{
	struct past_node *p = node_of(h, e);

	if (!p)
		return;
	p->skipped = true;
	touch(h, p);
	reopen(p->up);
}

static void on_retry(struct history *h, const struct event *e)
{
	struct past_node *p = node_of(h, e);

	if (!p)
		return;
	p->skipped = false;
	p->retrying = true;
	p->retries = e->attempt;
	touch(h, p);
	reopen(p);
}

static void on_group_done(struct history *h, const struct event *e)
{
	struct past_node *p = node_of(h, e);

	h->tells_groups = true;
	if (!p)
		return;
	p->ended = true;
	p->retrying = false;
	touch(h, p);
	p->end = e->end.outcome;
	p->code = e->end.code;
}

/* Pauses and gates. */
static void on_told(
	struct history *h, const struct event *e, uint64_t at_ms, enum shown_state state)
{
	struct past_node *p = node_of(h, e);

	if (!p)
		return;
	p->first_ms = p->told ? p->first_ms : at_ms;
	p->last_ms = at_ms;
	p->told = true;
	p->is_gate = e->kind == EVENT_RECIPE_APPROVAL;
	p->told_as = state;
	touch(h, p);
	reopen(p->up);
}

static enum shown_state state_of_answer(enum gate_answer answer)
{
	return answer == GATE_APPROVED ? STATE_DONE
	       : answer == GATE_DENIED ? STATE_DENIED
				       : STATE_PAUSED;
}

/* The run is resumed: what was running when it was cut short is over, and a group that was stopped
 * may still come to its end. */
static void on_run_start(struct history *h)
{
	h->stopped = S("");
	map_each (e, &h->nodes) {
		struct past_node *p = e->value;

		interrupt(p, h->now_ms);
		p->ended &= p->end != NODE_END_CANCELLED;
	}
}

static void see(struct history *h, const struct event *e)
{
	if (e->time_ms && !h->began_ms)
		h->began_ms = e->time_ms;
	uint64_t at_ms = e->time_ms ? since_start(h, e->time_ms) : h->now_ms;
	if (e->kind == EVENT_RUN_START)
		on_run_start(h);
	else if (e->kind == EVENT_COMMAND_START)
		on_start(h, e, at_ms);
	else if (e->kind == EVENT_COMMAND_DONE)
		on_done(h, e);
	else if (e->kind == EVENT_NODE_REUSED)
		on_reused(h, e, at_ms);
	else if (e->kind == EVENT_NODE_SKIPPED)
		on_skipped(h, e);
	else if (e->kind == EVENT_NODE_RETRY || e->kind == EVENT_STEP_RETRY)
		on_retry(h, e);
	else if (e->kind == EVENT_NODE_DONE)
		on_group_done(h, e);
	else if (e->kind == EVENT_WAIT_START)
		on_told(h, e, at_ms, STATE_WAITING);
	else if (e->kind == EVENT_WAIT_COMPLETE)
		on_told(h, e, at_ms, STATE_DONE);
	else if (e->kind == EVENT_WAIT_ERROR)
		on_told(h, e, at_ms, STATE_FAILED);
	else if (e->kind == EVENT_RECIPE_APPROVAL)
		on_told(h, e, at_ms, state_of_answer(e->step.answer));
	else if (e->kind == EVENT_RUN_CANCEL)
		h->stopped = S("cancelled");
	else if (e->kind == EVENT_RUN_KILL)
		h->stopped = S("killed");
	h->now_ms = MAX(h->now_ms, at_ms);
}

/* A line that is not an event is left out: the others are worth showing. */
static bool see_line(void *data, struct str line, uint64_t seq)
{
	struct history *h = data;
	struct event e;
	AUTO_JSON *object = json_loadb(line.p, line.len, 0, NULL);

	h->seq = seq;
	/* When it was answered is not when something of it ran. */
	if (event_read(object, &h->line, &e) && e.kind != EVENT_RUN_ANSWERED)
		see(h, &e);
	arena_reset(&h->line);
	return !h->stop || !atomic_load(h->stop);
}

struct history *history_open(const char *dir, struct graph *g, bool whole)
{
	struct history *h = mem_new(struct history);

	h->graph = g ? graph_ref(g) : NULL;
	h->whole = whole;
	event_follower_init(&h->events, dir, 0);
	if (whole && g)
		(void)node_at(h, node_root_path(g->root), 0);
	return h;
}

int history_feed(struct history *h)
{
	return event_follower_read(&h->events, see_line, h);
}

struct history *history_read(const char *dir, struct graph *g, struct report *r)
{
	struct history *h = history_open(dir, g, false);
	int n = events_each(dir, 0, see_line, h);

	if (n == 0)
		return h;
	report_errno(r, -n, "cannot read the events in %s", dir);
	history_free(h);
	return NULL;
}

void history_free(struct history *h)
{
	if (!h)
		return;
	map_each (e, &h->nodes) {
		struct past_node *p = e->value;

		vec_done(&p->below);
		vec_done(&p->spans);
	}
	event_follower_done(&h->events);
	graph_unref(h->graph);
	arena_done(&h->line);
	arena_done(&h->arena);
	free(h);
}
