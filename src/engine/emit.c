#include "base/clock.h"
#include "base/node-path.h"
#include "engine/frame.h"

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

	if (!r->options.listen)
		return;
	frame_path(f, &path);
	e->path = buf_str(&path);
	e->node = f->node;
	e->label = f->node->label;
	run_emit(r, e);
}
