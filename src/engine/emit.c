#include "base/clock.h"
#include "base/node-path.h"
#include "base/utf8.h"
#include "data/big.h"
#include "engine/frame.h"
#include "graph/label.h"
#include "template/braces.h"

enum { ITEM_BYTES = 4096 };

/* Where a frame is, and the one door through which events leave the engine. */

void frame_path(const struct frame *f, struct buf *b)
{
	if (!f->up) {
		buf_add(b, node_root_path(f->node));
		return;
	}
	AUTO_BUF up = BUF_INIT;
	frame_path(f->up, &up);
	switch (f->role) {
	case FRAME_CHILD:
		node_path_child(b, buf_str(&up), f->index);
		break;
	case FRAME_COPY:
		node_path_copy(b, buf_str(&up), f->index);
		break;
	case FRAME_RECOVERY:
		node_path_recover(b, buf_str(&up));
		break;
	}
}

struct leaf_key frame_key(const struct frame *f, struct buf *path)
{
	uint64_t number = 0, weight = 1;

	frame_path(f, path);
	for (; f; f = f->up) {
		number += weight * (MAX(f->tries.now, (uint64_t)1) - 1);
		weight *= MAX(f->tries.most, (uint64_t)1);
	}
	return (struct leaf_key){ buf_str(path), number + 1 };
}

void frame_label(const struct frame *f, struct buf *b)
{
	label_resolve(f->node, f->scope, b);
}

/* The first of these that says something. */
static bool add_name_of(const json_t *object, struct buf *b)
{
	static const char *const names[] = { "name", "id", "title" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const json_t *value = json_object_get(object, names[i]);

		if (json_is_big(value)) {
			buf_add(b, json_big_digits(value));
			return true;
		}
		if (json_is_string(value) && json_str(value).len) {
			buf_add(b, json_str(value));
			return true;
		}
		if (json_is_integer(value)) {
			buf_printf(b, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
			return true;
		}
	}
	return false;
}

static const json_t *list_of(const struct frame *loop)
{
	const struct count *count = &loop->node->count;

	if (loop->node->step)
		return loop->node->kind == NODE_EACH ? loop->rounds.list : NULL;
	return count->number || !loop->scope ? NULL : braces_array(loop->scope, count->array);
}

void frame_item(const struct frame *f, struct buf *b)
{
	while (f && f->role != FRAME_COPY)
		f = f->up;
	if (!f)
		return;
	const json_t *item = json_array_get(list_of(f->up), f->index);
	if (json_is_string(item) && json_str(item).len && !json_is_big(item))
		utf8_add_short(b, json_str(item), ITEM_BYTES);
	else if (!json_is_object(item) || !add_name_of(item, b))
		buf_add_number(b, f->index + (f->up->node->kind == NODE_WHILE), 1);
}

struct event_away event_away(const struct job_away *away)
{
	return away ? (struct event_away){ .on = away->on,
		.host = away->host,
		.worker = away->worker,
		.queued_ms = away->queued_ms }
		    : (struct event_away){ 0 };
}

enum runs_on frame_runs_on(const struct frame *f)
{
	const struct node *n = f->node;

	for (; f; f = f->up)
		if (f->node->runs_on != RUNS_UNSAID)
			return f->node->runs_on;
	return n->step && n->step->agent ? RUNS_LOCAL : RUNS_ANY;
}

bool frame_needs(const struct frame *f, struct needs *ret)
{
	bool any = false;

	*ret = NEEDS_NONE;
	for (; f; f = f->up) {
		if (!f->node->needs)
			continue;
		needs_under(ret, f->node->needs);
		any = true;
	}
	return any;
}

void run_emit(struct run *r, struct event *e)
{
	if (!r->options.listen)
		return;
	if (event_name(e->kind))
		e->seq = ++r->seq;
	e->time_ms = clock_real_ms();
	e->mono_ms = clock_mono_ms();
	r->options.listen(r->options.listen_data, e);
}

void run_emit_frame(struct run *r, struct event *e, const struct frame *f)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF label = BUF_INIT;
	AUTO_BUF item = BUF_INIT;

	if (!r->options.listen)
		return;
	frame_path(f, &path);
	e->path = buf_str(&path);
	e->node = f->node;
	e->label = f->node->label;
	if (f->node->label_parts) {
		frame_label(f, &label);
		e->label = buf_str(&label);
	}
	frame_item(f, &item);
	e->item = buf_str(&item);
	run_emit(r, e);
}
