#pragma once

#include "base/str.h"
#include "loop/loop.h"

/*
 * DIR/control.sock: programs of a run connect to it and are given messages, one a line, whatever
 * their size. Every program that is connected gets every message. They may answer with lines of
 * their own, which say what became of a message: {"id","status"}.
 *
 *   control_push() ─> in the queue of each reader ─write─> in the kernel ─read─> forgotten
 *                                │                            │
 *                                └──── it went away ──────────┴─ no other reader has it ─>
 * returned()
 *
 * A reader that went away without having read everything gives its last messages back, and they can
 * be pushed to the next one: perhaps a second time, but never lost.
 */
struct control;

struct control_calls {
	/* A reader has connected, or has read and can take more: time to push. */
	void (*ready)(void *data);
	/* A first reader's socket has taken the whole message. */
	void (*delivered)(void *data, struct str id);
	/* All readers that had it are gone without having read it. */
	void (*returned)(void *data, struct str id);
	/* A reader has read it: it will not come back. */
	void (*finished)(void *data, struct str id);
	/* A reader said something. */
	void (*said)(void *data, struct str line);
	void *data;
};

/* -errno, and *ret unchanged. An old socket of that name is replaced, nothing else is. `calls` is
 * copied; the caller ends *ret with control_stop(). */
int control_start(
	struct loop *l, const char *dir, const struct control_calls *calls, struct control **ret);
/* Disconnects all readers, removes the socket and frees `c`. Makes none of the calls. */
void control_stop(struct control *c);

size_t control_readers(const struct control *c);
/* Queues a line (its end is added) for all readers that can take it. False: none can. */
bool control_push(struct control *c, struct str id, struct str line);
