#pragma once

#include <stdatomic.h>

#include "base/map.h"
#include "base/report.h"
#include "base/vec.h"
#include "graph/event.h"
#include "graph/graph.h"
#include "render/page/report.h"
#include "runs/dir/events.h"

/* What the events of a run say about its nodes: how each command was executed and how each group
 * ended. Memory is a small constant for each command. */

/* A node that something happened to: one copy, when it is repeated. */
struct past_node {
	struct str path, label, command; /* command: as it was started, cut */
	const struct node *node;         /* NULL: not found in the graph */
	struct past_node *up;
	VEC(struct past_node *) below; /* in order once all is read */
	uint64_t order;                /* among its siblings */

	VEC(struct report_span) spans; /* of a command; the first and the last ones */
	uint64_t executions;
	uint64_t number; /* of the last one in leaves.jsonl, which names its files; 0: none */
	bool open;       /* the last span has not ended */
	struct event_place start; /* of the last one, when the events are followed */
	bool skipped;
	bool reached;     /* something happened in it */
	bool retrying;    /* another attempt comes, and has not begun */
	bool told;        /* a pause or a gate: `told_as` is what was told of it */
	bool is_gate;     /* … and that it is a gate */
	uint64_t changed; /* the number of the last event that touched it, or something in it */
	enum shown_state told_as;
	bool ended; /* a group: `end` and `code` are what was told of it */
	enum node_end end;
	uint64_t retries; /* of a group: attempts that were told */

	/* Found out afterwards: */
	enum shown_state state;
	bool tolerated; /* by its author, or that of a group around it */
	int code;
	bool coded, timed;
	uint64_t first_ms, last_ms; /* from the start of the run */
	uint64_t shown;             /* what the model has shown of it: see model.c */
	uint64_t *counts;           /* of model.c */
};

struct history {
	struct arena arena;
	struct arena line; /* of the event that is just read */
	struct event_follower events;
	uint64_t seq;          /* of the last event that was folded in */
	bool whole;            /* nodes that nothing has happened to are there too */
	struct graph *graph;   /* a reference; may be NULL */
	struct past_node *top; /* the root */
	struct map nodes;      /* path → struct past_node */
	struct map states;     /* path with `*` → struct past_state */
	struct map hosts;      /* nodes of a batch system: name → its text */
	struct str status;     /* how the run ended */
	bool live;             /* it has not */
	uint64_t began_ms;     /* real time of the first event; 0: there is none */
	uint64_t now_ms;       /* of the last one, or of now when it is live; from the start */
	struct str stopped;    /* the last run.cancel or run.kill; empty: none */
	uint64_t commands;     /* all that were started, also those beyond the limit */
	bool tells_groups;     /* it has node.done, which older records do not have */
	size_t kept;
	const atomic_bool *stop; /* reading ends early when this is set; NULL: never */
};

/* Reads events.jsonl of the directory; no file is an empty one. The graph may be NULL. NULL with an
 * issue added when it cannot be read. */
struct history *history_read(const char *dir, struct graph *g, struct report *r);
/* The same of a run that may still be running: `whole` says that nodes that were not reached are
 * told too. */
struct history *history_open(const char *dir, struct graph *g, bool whole);
/* Folds in what has been written since the last call. -errno. */
int history_feed(struct history *h);
void history_free(struct history *h);

/* Finds out what became of every node. `status` is the run's, "running" when it has not ended. May
 * be called again when more events have been folded in. */
void history_conclude(struct history *h, struct str status);

/* For struct picture_options and struct run_report; `history` is a struct history. */
bool history_state(const void *history, struct str path, struct picture_state *ret);

/* The commands in order of path, in the arena. */
const struct report_leaf *history_leaves(struct history *h, size_t *ret_count);
