#pragma once

#include "app/logs.h"
#include "base/buf.h"
#include "hosts/telegram/text/jsonl.h"
#include "loop/loop.h"

struct bridge;

/* What the chat sees of a turn while it runs: that the agent is typing, and its answer so far.
 * Nothing that goes wrong here concerns the turn. */
struct live {
	bool on;
	struct timer typing, preview;
	uint64_t typing_noted_ms; /* when a failure of typing was last put into the ring */
	struct log_cursor cursor;
	bool jsonl; /* the agent writes objects */
	struct jsonl_stream stream;
	struct buf text;  /* what the agent has written so far, as much as a message can show */
	struct buf shown; /* what the message says */
	bool shown_html, busy, stale, waited;
	int64_t message; /* the preview; 0: there is none yet */
};

/* Of the turn that runs now. */
void live_begin(struct bridge *b);
/* While something else than a turn works for the chat. */
void live_type(struct bridge *b, bool on);
/* It waits at a gate: it does not type. */
void live_pause(struct bridge *b);
/* Its output may have grown. */
void live_changed(struct bridge *b);
/* False: a call is under way, and b->turns.ended is started again when it is over. */
bool live_quiet(struct bridge *b);
void live_end(struct bridge *b);
