#include "render/terminal/live-tree.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/node-path.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "graph/step.h"
#include "render/terminal/stream.h"

/* Longer captions are never drawn; a prompt as an argument may have megabytes. */
enum { CAPTION_BYTES = 512 };

static size_t hash(struct str path)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < path.len; i++)
		h = (h ^ (unsigned char)path.p[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

static struct live_row **bucket(const struct live_tree *t, struct str path)
{
	return &t->buckets[hash(path) & (t->bucket_count - 1)];
}

static void grow(struct live_tree *t)
{
	struct live_row **old = t->buckets;
	size_t old_count = t->bucket_count;

	t->bucket_count *= 2;
	t->buckets = mem_zero(t->bucket_count * sizeof(void *));
	for (size_t i = 0; i < old_count; i++) {
		for (struct live_row *r = old[i], *next; r; r = next) {
			struct live_row **place = bucket(t, str_of(r->path));

			next = r->chain;
			r->chain = *place;
			*place = r;
		}
	}
	free(old);
}

void live_tree_init(struct live_tree *t)
{
	*t = (struct live_tree){ .bucket_count = 64 };
	t->buckets = mem_zero(t->bucket_count * sizeof(void *));
	list_init(&t->order);
	list_init(&t->root.children);
}

struct live_row *live_tree_find(const struct live_tree *t, struct str path)
{
	for (struct live_row *r = *bucket(t, path); r; r = r->chain)
		if (str_eq(str_of(r->path), path))
			return r;
	return NULL;
}

/* The nearest row above: a group without a row, such as the command that a recovery belongs to, is
 * passed over. */
static struct live_row *find_above(struct live_tree *t, struct str path)
{
	struct live_row *r = NULL;

	while (!r && !str_eq(path, S("."))) {
		path = node_path_up(path);
		r = live_tree_find(t, path);
	}
	return r ? r : &t->root;
}

static struct live_row *add(struct live_tree *t, const struct event *e, enum live_state state)
{
	struct live_row *r = mem_new(struct live_row);
	struct live_row **place;

	if (t->row_count >= t->bucket_count)
		grow(t);
	place = bucket(t, e->path);
	r->parent = find_above(t, e->path);
	r->path = mem_alloc(e->path.len + 1);
	memcpy(r->path, e->path.p, e->path.len);
	r->path[e->path.len] = '\0';
	r->chain = *place;
	*place = r;
	r->state = state;
	r->started_ms = e->mono_ms;
	list_init(&r->children);
	list_append(&r->parent->children, &r->siblings);
	list_append(&t->order, &r->order);
	t->row_count++;
	return r;
}

static void set_state(struct live_tree *t, struct live_row *r, enum live_state state)
{
	t->running += (state == LIVE_RUNNING) - (uint64_t)(r->state == LIVE_RUNNING);
	t->kept += (state == LIVE_FAILED) - (uint64_t)(r->state == LIVE_FAILED);
	t->queued += (state == LIVE_QUEUED) - (uint64_t)(r->state == LIVE_QUEUED);
	r->state = state;
}

static void remove_one(struct live_tree *t, struct live_row *r)
{
	struct live_row **place = bucket(t, str_of(r->path));

	while (*place != r)
		place = &(*place)->chain;
	*place = r->chain;
	t->row_count--;
	t->running -= r->state == LIVE_RUNNING;
	t->kept -= r->state == LIVE_FAILED;
	t->queued -= r->state == LIVE_QUEUED;
	list_remove(&r->siblings);
	list_remove(&r->order);
	buf_done(&r->caption);
	last_line_done(&r->last);
	free(r->path);
	free(r);
}

static void remove_children(struct live_tree *t, struct live_row *top)
{
	/* Down to a leaf, take it off, up again: nesting may be deeper than a stack would like. */
	for (struct live_row *r = top;;) {
		if (!list_empty(&r->children)) {
			r = list_entry(r->children.next, struct live_row, siblings);
		} else if (r == top) {
			return;
		} else {
			struct live_row *up = r->parent;

			remove_one(t, r);
			r = up;
		}
	}
}

static void remove_row(struct live_tree *t, struct live_row *r)
{
	remove_children(t, r);
	remove_one(t, r);
}

void live_tree_done(struct live_tree *t)
{
	buf_done(&t->on);
	buf_done(&t->away);
	if (!t->buckets)
		return;
	remove_children(t, &t->root);
	free(t->buckets);
	t->buckets = NULL;
}

static void set_caption(struct live_row *r, const struct event *e)
{
	AUTO_BUF text = BUF_INIT;
	bool command = e->kind == EVENT_COMMAND_START || e->kind == EVENT_COMMAND_WAITS;
	const char *const *argv = command ? e->argv : NULL;
	size_t count = 0;

	buf_reset(&r->caption);
	if (str_ends(e->path, S("recover")))
		buf_adds(&r->caption, "recover: ");
	while (argv && argv[count])
		count++;
	const struct node *n = e->node;
	uint64_t round = n && n->step ? node_path_round(e->path) : 0;
	if (n && n->step && n->kind == NODE_SEQUENCE && !n->label.len && !round)
		/* All steps of a recipe; of one that is called, by the name of the step. */
		buf_add(&text, r->parent->call ? buf_str(&r->parent->caption) : S("steps"));
	else if (round && (n->kind == NODE_COMMAND || n->label.len))
		step_name(&text, e);
	else if (round)
		buf_printf(&text, "#%" PRIu64, round);
	else if (e->label.len)
		buf_add(&text, e->label);
	else if (count)
		command_display(&text, argv, count);
	else if (e->node)
		buf_add(&text, node_caption(e->node));
	else
		buf_add(&text, e->path);
	text_plain(&r->caption, utf8_cut(buf_str(&text), CAPTION_BYTES));
	if (e->item.len && node_path_round(e->path) && (e->label.len || round)) {
		buf_addc(&r->caption, ' ');
		text_item(&r->caption, e->item);
	}
}

static struct live_row *begin(struct live_tree *t, const struct event *e, enum live_state state)
{
	struct live_row *r = live_tree_find(t, e->path);

	if (!r)
		r = add(t, e, LIVE_WAITING);
	set_state(t, r, state);
	r->attempt = MAX(r->attempt, e->attempt);
	set_caption(r, e);
	return r;
}

static void begin_group(struct live_tree *t, const struct event *e)
{
	struct live_row *r = begin(t, e, LIVE_GROUP);

	remove_children(t, r);
	r->call = e->node && e->node->kind == NODE_CALL;
	r->wrapper = r->call || (e->node && e->node->wrapper && !e->label.len);
	r->repeats = e->node && e->node->step && node_repeats(e->node);
	r->count = e->count;
	r->done = r->failed = 0;
}

static void begin_command(struct live_tree *t, const struct event *e)
{
	struct live_row *r = begin(t, e, LIVE_RUNNING);

	r->started_ms = e->mono_ms;
	if (e->away.host.len) {
		buf_adds(&r->caption, " on ");
		text_plain(&r->caption, e->away.host);
	}
	list_remove(&r->order);
	list_append(&t->order, &r->order);
	last_line_done(&r->last);
}

/* It was handed to the executor and waits there. */
static void queue_command(struct live_tree *t, const struct event *e)
{
	if (t->queued >= LIVE_QUEUED_MAX && !live_tree_find(t, e->path))
		return;
	(void)begin(t, e, LIVE_QUEUED);
	buf_reset(&t->on);
	text_plain(&t->on, e->away.on);
}

/* One more child of its group has ended; a recovery is not one of them. */
static void count_in_group(struct live_tree *t, struct str path, bool ok, uint64_t by)
{
	struct live_row *up = str_eq(path, S(".")) ? NULL : live_tree_find(t, node_path_up(path));

	if (!up || up->state != LIVE_GROUP || str_ends(path, S("recover")))
		return;
	if (ok)
		up->done += by;
	else if (by == 1 || up->failed)
		up->failed += by;
}

/* A command that failed stays where it was. */
static void keep_failed(struct live_tree *t, struct live_row *r, const struct event *e)
{
	remove_children(t, r);
	set_state(t, r, LIVE_FAILED);
	last_line_done(&r->last);
	r->last = (struct last_line){ 0 };
	r->until_ms = 0;
	r->code = e->end.code;
	r->signal = e->end.signal;
	r->timeout = e->end.timeout;
	r->tolerated = e->end.tolerated;
}

/* What failed in a group that has ended stands in the group around it from then on. */
static void hand_up(struct live_row *group)
{
	list_each_safe (link, &group->children) {
		struct live_row *r = list_entry(link, struct live_row, siblings);

		if (r->state != LIVE_FAILED)
			continue;
		list_remove(&r->siblings);
		r->parent = group->parent;
		list_append(&r->parent->children, &r->siblings);
	}
}

static void end_node(struct live_tree *t, const struct event *e, bool command)
{
	struct live_row *r = live_tree_find(t, e->path);
	bool keep = command && !e->end.ok && !t->stopping && t->kept < LIVE_FAILED_MAX;

	if (r && keep) {
		keep_failed(t, r, e);
	} else if (r) {
		hand_up(r);
		remove_row(t, r);
	}
	/* What a cancel ended is not a failure, nor is a round that waits at a gate. */
	if (!e->end.ok && (t->stopping || (!command && e->end.outcome == NODE_END_CANCELLED)))
		return;
	if (command && e->end.ok)
		t->done++;
	else if (command)
		t->failed++;
	if (r)
		count_in_group(t, e->path, e->end.ok, 1);
}

/* The failure of the attempt before was not the end. A node that still has a row and has not failed
 * was not counted as ended, so there is nothing to take back. */
static struct live_row *retry(struct live_tree *t, const struct event *e)
{
	struct live_row *r = live_tree_find(t, e->path);

	if (!r || r->state == LIVE_FAILED) {
		count_in_group(t, e->path, false, (uint64_t)-1);
		if (t->failed && !(e->node && node_is_group(e->node)))
			t->failed--;
	}
	if (!r) {
		r = add(t, e, LIVE_WAITING);
		set_caption(r, e);
	} else if (r->state == LIVE_FAILED) {
		set_state(t, r, LIVE_WAITING);
	}
	r->attempt = e->attempt;
	return r;
}

/* One line: who waits for what is the first question when nothing moves. */
static void tell_workers(struct live_tree *t, const struct event *e)
{
	AUTO_BUF text = BUF_INIT;

	buf_reset(&t->away);
	if (!e->workers.running && !e->workers.queued && !e->workers.waiting)
		return;
	buf_printf(&text, "%.*s: %" PRIu64 " running", STR(e->away.on), e->workers.running);
	if (e->workers.queued)
		buf_printf(&text, ", %" PRIu64 " queued", e->workers.queued);
	if (e->workers.queued && e->away.why.len)
		buf_printf(&text, " (%.*s)", STR(e->away.why));
	buf_printf(&text, ", %" PRIu64 " of %" PRIu64 " slot%s", e->workers.busy, e->workers.slots,
		e->workers.slots == 1 ? "" : "s");
	if (e->workers.waiting)
		buf_printf(&text, ", %" PRIu64 " command%s wait%s", e->workers.waiting,
			e->workers.waiting == 1 ? "" : "s", e->workers.waiting == 1 ? "s" : "");
	text_plain(&t->away, buf_str(&text));
}

/* Pauses and gates, which are not commands. */
static void step_event(struct live_tree *t, const struct event *e)
{
	struct live_row *r;

	if (e->kind == EVENT_WAIT_START) {
		r = begin(t, e, LIVE_WAITING);
		r->until_ms = e->mono_ms + e->step.ms;
	} else if (e->kind == EVENT_WAIT_COMPLETE || e->kind == EVENT_WAIT_ERROR) {
		r = live_tree_find(t, e->path);
		if (r)
			remove_row(t, r);
		count_in_group(t, e->path, e->kind == EVENT_WAIT_COMPLETE, 1);
	} else if (e->kind == EVENT_STEP_RETRY) {
		r = retry(t, e);
		r->until_ms = e->mono_ms + e->step.ms;
	} else if (e->kind == EVENT_RECIPE_APPROVAL) {
		count_in_group(t, e->path, true, e->step.answer == GATE_APPROVED);
	}
}

void live_tree_event(struct live_tree *t, const struct event *e)
{
	struct live_row *r;

	if (!t->started)
		t->started_ms = e->mono_ms;
	t->started = true;
	switch (e->kind) {
	case EVENT_NODE_START:
		begin_group(t, e);
		break;
	case EVENT_COMMAND_START:
		begin_command(t, e);
		break;
	case EVENT_COMMAND_WAITS:
		queue_command(t, e);
		break;
	case EVENT_COMMAND_OUTPUT:
		r = live_tree_find(t, e->path);
		if (r)
			last_line_feed(&r->last, e->output.bytes);
		break;
	case EVENT_COMMAND_DONE:
	case EVENT_NODE_DONE:
		end_node(t, e, e->kind == EVENT_COMMAND_DONE);
		break;
	case EVENT_NODE_SKIPPED:
		count_in_group(t, e->path, true, 1);
		break;
	case EVENT_NODE_REUSED:
		count_in_group(t, e->path, e->end.ok, 1);
		t->done += e->end.ok;
		t->failed += !e->end.ok;
		break;
	case EVENT_NODE_RETRY:
		(void)retry(t, e);
		break;
	case EVENT_RUN_CANCEL:
	case EVENT_RUN_KILL:
		t->stopping = e->kind;
		break;
	case EVENT_RUN_DONE:
	case EVENT_RUN_FAILED:
		t->ended = true;
		break;
	case EVENT_RUN_START:
	case EVENT_RUN_MESSAGE:
	case EVENT_RUN_ANSWERED:
		break;
	case EVENT_WORKERS:
		tell_workers(t, e);
		break;
	case EVENT_WORKER_SUBMIT ... EVENT_WORKER_END:
	case EVENT_COMMAND_LEFT: /* a line above the tree */
	case EVENT_WORKER_LOST:
		break;
	case EVENT_RECIPE_START ... EVENT_STEP_SKIP:
		step_event(t, e);
		break;
	}
}
