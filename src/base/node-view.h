#pragma once

#include "base/shown-state.h"

/* One node of a run as views show it: plain data, so that the module that knows runs and the one
 * that draws them need not know each other. Times are milliseconds from the start of the run. */

/* One execution of a command. */
struct node_span {
	uint64_t start_ms, ms;
	enum shown_state state;
	int code, signal;
};

struct node_view {
	struct str path, label;
	struct str text;     /* a command as it was started, or as it is written; cut */
	const char *kind;    /* "command", "sequence", … as in events */
	bool group, at_once; /* its children run at once */
	enum shown_state state;
	bool tolerated; /* its author asked to continue behind a failure of it */
	bool coded;     /* `code` is known */
	bool timed;     /* the times are known */
	bool reached;   /* something happened in it */
	int code, signal;
	uint64_t attempts;
	uint64_t first_ms, ms;
	uint64_t real_ms; /* when it began, since 1970; 0: it has not */
	uint64_t changed; /* the number of the last event that changed it, or something in it */
	const struct node_span *spans; /* of a command, in order */
	size_t span_count;
	const uint64_t *counts; /* of a group: SHOWN_STATES numbers, of the commands in it */
	size_t children;        /* how many are known */
};
