#pragma once

#include "render/picture/state.h"

struct graph;

/* A run as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.
 * Everything here is borrowed; texts may hold any bytes, and what is not known is empty or 0. */

/* One execution of a command. Times count from the start of the run. */
struct report_span {
	uint64_t start_ms, ms;
	enum shown_state state;
	int code, signal;
	struct str host;    /* the node of a batch system that ran it; empty: here */
	uint64_t queued_ms; /* before its start: it waited for one */
};

/* A command with a path of its own; each copy of a repeated one is one. */
struct report_leaf {
	struct str path, label, command;
	const struct report_span *spans; /* at least one, in order */
	size_t span_count;
	uint64_t executions; /* all of them, also those that are not among the spans */
};

struct report_failure {
	struct str path, label, command;
	struct str err; /* the end of its standard error */
	int code, signal;
	uint64_t attempt;
	bool timeout, tolerated;
};

/* The beginning and the end of something that was printed. When all of it is in `head`, `tail` is
 * empty. */
struct report_output {
	struct str path, label; /* of the command; without a path it is the run's own */
	struct str head, tail;
	uint64_t bytes; /* all of it */
};

struct report_pair {
	struct str name, value;
};

struct report_message {
	struct str time, direction, type, text;
};

#define REPORT_LIST(T)        \
	struct {              \
		const T *at;  \
		size_t len;   \
		uint64_t all; \
	}

struct run_report {
	struct str run, recipe, status, error;
	struct str started, ended, owner, cwd, command;
	uint64_t ms;
	int exit;                   /* what `run` ended with */
	uint64_t failed, tolerated; /* commands that ended as failures */
	bool live;                  /* it has not ended */
	bool timed;                 /* `ms` is known */
	bool exited;                /* `exit` is known */

	const struct graph *graph; /* NULL: not known */
	/* As in struct picture_options. */
	bool (*state)(const void *data, struct str path, struct picture_state *ret);
	const void *state_data;
	struct mask *mask; /* of the picture; the other texts are masked */

	/* `all`: how many there are, with those that are not listed. */
	REPORT_LIST(struct report_leaf) leaves; /* in order of path */
	REPORT_LIST(struct report_failure) failures;
	REPORT_LIST(struct report_output) outputs;
	REPORT_LIST(struct report_pair) values, artifacts;
	REPORT_LIST(struct str) warnings;
	REPORT_LIST(struct report_message) messages;
	uint64_t command_messages; /* not among them: each says that a command has ended */
};

/* Appends the page. Cannot fail; of bounded size, and says where something was left out. */
void report_html(const struct run_report *facts, struct buf *b);
