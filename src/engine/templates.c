#include "engine/frame.h"
#include "graph/settings.h"

/* Nodes of templates: values are placeholders, data flows from output to input. */

static void enter(struct frame *f, const struct scope *up)
{
	const struct node *n = f->node;
	struct report *r = &f->run->issues;
	uint64_t delay_ms;
	bool runs;

	f->scope = f->role == FRAME_COPY ? plan_enter_copy(n, up, (int64_t)f->index,
						   (int64_t)f->up->count, &f->room)
					 : plan_enter(n, up, &f->room);
	bool ok = plan_guard(n, f->scope, &runs, r);
	if (ok && !runs) {
		frame_skip(f);
		return;
	}
	if (ok && frame_settings(f, &delay_ms) &&
		(n->kind != NODE_EACH || count_resolve(&n->count, f->scope, &f->count, r))) {
		frame_delay(f, delay_ms);
		return;
	}
	run_fail(f->run, RUN_INVALID);
	frame_end_halted(f);
}

const struct frame_dialect frame_templates = {
	.enter = enter,
	.limit_code = 1,
	.prints = true,
};
