#pragma once

#include "engine/executor.h"
#include "loop/loop.h"

/*
 * What a run does next, in this order: calls that frames have put off, commands that have a slot,
 * further children of parallel groups. The last are made only while a slot is free, so that a
 * hundred thousand copies need as many frames as there are slots.
 *
 * Only a command takes a slot, and only when it could start; what holds one ends without needing
 * another. So however deep groups nest, one slot is enough.
 */
struct frame;

/* One executor and its slots. */
struct pool {
	struct executor *executor;
	unsigned limit, running;
	uint64_t cpus;       /* that commands which run have declared */
	struct list waiting; /* commands without a slot, first come first served */
};

struct schedule {
	struct loop *loop;
	struct list calls;    /* frames that have put off a call */
	struct list unfilled; /* parallel groups with children to start, innermost first */
	struct pool *pools;
	size_t pool_count;
	unsigned limit, running; /* of all pools together; no limit: 0 */
	uint64_t processors;     /* of this machine */
	struct deferred turn;
	bool turning;
	/* Called after each turn. May free the schedule. */
	void (*turned)(struct schedule *s);
};

#define pools_each(p, s) for (struct pool *p = (s)->pools; p < (s)->pools + (s)->pool_count; p++)

/* Takes the executors over. `limit`: commands at once in the first; the others know their room.
 * With `together` it holds for all of them. */
void schedule_init(struct schedule *s, struct loop *l, struct executor *const *executors,
	size_t count, unsigned limit, bool together);
/* Closes the executors. */
void schedule_done(struct schedule *s);
/* The next turn comes even if nothing is put into the schedule meanwhile. */
void schedule_wake(struct schedule *s);

/* Calls `call` with the frame from the loop; a second one before that replaces the first. */
void schedule_call(struct frame *f, void (*call)(struct frame *f));
/* It runs there: it was started, or is under way. */
void schedule_take(struct schedule *s, const struct frame *f);
/* The command is started (frame_ops.start) when its pool has a slot for it. */
void schedule_command(struct frame *f);
/* A parallel group has children to start: it is fed (frame_ops.feed) while any pool has a slot. */
void schedule_children(struct frame *f);
/* The command that had a slot has ended, or was not started. */
void schedule_release(struct schedule *s, const struct frame *f);
