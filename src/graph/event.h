#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/str.h"
#include "graph/gate.h"

struct arena;
struct node;

/* Every change of state of a run, told once. The engine emits; record, live view, plain lines and
 * `--events` listen. Most kinds are also written as a line of JSON and can be read back from it. */
enum event_kind {
	EVENT_RUN_START,
	EVENT_NODE_START, /* a group begins: not written, for views */
	/* A group has ended, after all its attempts. Commands have COMMAND_DONE instead, skipped
	 * nodes NODE_SKIPPED, pauses and gates the events of their steps: a node that was entered
	 * has its end in exactly one of these, and a record grows by one line for each group. */
	EVENT_NODE_DONE,
	EVENT_COMMAND_START,
	EVENT_COMMAND_OUTPUT, /* bytes have come: not written, for views */
	EVENT_COMMAND_DONE,
	EVENT_NODE_SKIPPED,
	EVENT_NODE_REUSED, /* a command of a resumed run that had been executed before */
	EVENT_NODE_RETRY,
	EVENT_RUN_MESSAGE,  /* the run was sent a message */
	EVENT_RUN_ANSWERED, /* a person has answered at a gate */
	EVENT_RUN_CANCEL,
	EVENT_RUN_KILL,
	EVENT_RUN_DONE,
	EVENT_RUN_FAILED,
	/* Of a run whose commands go elsewhere: a worker was asked for, has begun, has left, is
	 * given up. */
	EVENT_WORKER_SUBMIT,
	EVENT_WORKER_START,
	EVENT_WORKER_END,
	EVENT_WORKERS,       /* how many there are now: not written, for views */
	EVENT_COMMAND_WAITS, /* … a command for a worker that begins it: not written, for views */
	/* Of a run that is continued: what became of a command that was under way elsewhere: not
	 * written, for views. */
	EVENT_COMMAND_LEFT,
	EVENT_WORKER_LOST,
	/* Of step recipes only. "recipe:…": a recipe, the one that was started or one that a step
	 * calls. */
	EVENT_RECIPE_START,
	EVENT_RECIPE_STEP,
	EVENT_RECIPE_COMPLETE,
	EVENT_RECIPE_ERROR,
	EVENT_RECIPE_CANCELLED,
	EVENT_RECIPE_APPROVAL,
	EVENT_LOOP_ITERATION,
	EVENT_LOOP_COMPLETE,
	EVENT_ITERATION_FAILED,
	EVENT_BASH_START,
	EVENT_BASH_COMPLETE,
	EVENT_BASH_ERROR,
	EVENT_AGENT_START,
	EVENT_AGENT_COMPLETE,
	EVENT_AGENT_ERROR,
	EVENT_WAIT_START,
	EVENT_WAIT_COMPLETE,
	EVENT_WAIT_ERROR,
	EVENT_STEP_RETRY,
	EVENT_STEP_SKIP,
};
enum { EVENT_KINDS = EVENT_STEP_SKIP + 1 };

/* How a group ended. */
enum node_end {
	NODE_END_DONE,
	NODE_END_TOLERATED, /* failed, and its author asked to continue */
	NODE_END_FAILED,
	NODE_END_TIMEOUT,   /* its own limit, not that of a node in it */
	NODE_END_CANCELLED, /* before its end: by a failure elsewhere, an order or a gate */
};
enum { NODE_ENDS = NODE_END_CANCELLED + 1 };

/* What became of a command that an earlier process of the run has left under way elsewhere. */
enum event_left {
	LEFT_RUNNING,
	LEFT_ENDED, /* meanwhile */
	LEFT_AGAIN, /* it is run again; `away.why` says why */
};

/* Where a command runs that is not started here, or what became of a worker. */
struct event_away {
	struct str on; /* the executor; empty: here */
	struct str host, job, why;
	uint64_t worker;
	uint64_t queued_ms;
};

/* Everything is borrowed until the listener returns. Members that an event does not have are 0;
 * of the union only the one that its kind names may be read. */
struct event {
	enum event_kind kind;
	uint64_t seq;            /* from 1 without gaps over the events that are written */
	uint64_t time_ms;        /* real time */
	uint64_t mono_ms;        /* monotonic, for durations; 0 when it was read from a record */
	struct str path;         /* of the node; empty for events of the run */
	const struct node *node; /* NULL when it was read from a record */
	struct str item;         /* what the round or copy is about that it is in; empty: none */
	struct str label;        /* of the node; of steps the id */
	uint64_t attempt;        /* from 1; of STEP_RETRY the one that comes */
	struct event_away away;  /* COMMAND_…, WORKER_… */
	union {
		struct {
			uint64_t running, queued; /* workers; `away.why` is why they are queued */
			uint64_t slots, busy;     /* of those that run */
			uint64_t waiting;         /* commands that no worker has */
		} workers;                        /* WORKERS */
		enum event_left left;             /* COMMAND_LEFT */
		struct {
			struct str id; /* empty: not recorded */
			int pid;
		} run;                   /* RUN_START */
		uint64_t count;          /* NODE_START: how many children there will be */
		const char *const *argv; /* COMMAND_START, COMMAND_WAITS, NULL-terminated */
		struct {
			struct str bytes; /* may be empty when they went past unseen */
			bool is_stderr;
			bool is_result; /* it is what the run prints */
			bool is_why;    /* not the command says it: why it was not started */
		} output;               /* COMMAND_OUTPUT */
		struct {
			bool ok;
			bool timeout;          /* not NODE_DONE */
			bool tolerated;        /* not NODE_DONE: failed, as its author allows */
			enum node_end outcome; /* NODE_DONE */
			int code, signal;
			uint64_t ms; /* of the last attempt */
			uint64_t stdout_bytes;
		} end; /* COMMAND_DONE, NODE_REUSED, NODE_DONE */
		struct {
			struct str id;
			uint64_t bytes;
		} message; /* RUN_MESSAGE */
		struct {
			struct str stage, who, digest; /* `who` and `digest` may be empty */
			enum gate_answer answer;
		} answered; /* RUN_ANSWERED */
		int signal; /* RUN_CANCEL, RUN_KILL; 0: asked for in another way */
		struct {
			struct str status, error;
			int code;
		} result; /* RUN_DONE, RUN_FAILED */
		struct {
			uint64_t number; /* index of the step, round, rounds or depth of calls */
			uint64_t ms; /* ends: how long it took; WAIT_START, STEP_RETRY: the pause */
			int code;
			bool truncated;          /* it printed more than is kept */
			enum gate_answer answer; /* RECIPE_APPROVAL */
			struct str env;          /* …_START: an object of JSON, or empty */
			struct str error;        /* of the end of a recipe; empty: none */
		} step;                          /* all kinds of step recipes */
	};
};

typedef void event_fn(void *data, const struct event *e);

static inline bool event_is_step(enum event_kind kind)
{
	return kind >= EVENT_RECIPE_START;
}

/* "command.start"; NULL for those that are not written. */
const char *event_name(enum event_kind kind);
/* One JSON object on one line, without the newline. Only for kinds that have a name. */
void event_json(const struct event *e, struct buf *b);
/* The event that an object of event_json() tells. Strings are borrowed from the object, the rest
 * is in the arena. False: it is not an event, or one that this version does not know. */
bool event_read(const json_t *object, struct arena *a, struct event *ret);
/* Whether it is about a command that gets the terminal for itself. */
bool event_of_terminal(const struct event *e);
