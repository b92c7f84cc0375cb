#pragma once

#include "base/buf.h"
#include "base/str.h"

struct node;

/* Every change of state of a run, told once. The engine emits; ledger, live view, plain lines and
 * `--events` listen. */
enum event_kind {
	EVENT_RUN_START,
	EVENT_NODE_START, /* a group has begun: not written out, for views */
	EVENT_NODE_DONE,  /* … and ended */
	EVENT_COMMAND_START,
	EVENT_COMMAND_OUTPUT, /* some bytes came: not written out, for views */
	EVENT_COMMAND_DONE,
	EVENT_NODE_SKIPPED,
	EVENT_NODE_REUSED, /* a command of a resumed run that had been executed before */
	EVENT_NODE_RETRY,
	EVENT_STEP,        /* of a step recipe: `name` says what, `data` has more members */
	EVENT_RUN_MESSAGE, /* somebody sent the run a message */
	EVENT_RUN_CANCEL,
	EVENT_RUN_KILL,
	EVENT_RUN_DONE,
	EVENT_RUN_FAILED,
};

/* Everything is borrowed until the listener returns. Members that an event does not have are 0. */
struct event {
	enum event_kind kind;
	uint64_t seq;     /* from 1 without gaps over the events that are written out */
	uint64_t time_ms; /* real time */
	uint64_t mono_ms; /* monotonic, for durations */
	struct str path;  /* of the node; empty for run events */
	const struct node *node;
	struct str label;
	const char *const *argv; /* COMMAND_START, NULL-terminated */
	uint64_t attempt;
	uint64_t count; /* NODE_START: how many children there will be */
	int code, signal;
	bool timeout, ok; /* ok: COMMAND_DONE, NODE_DONE */
	uint64_t ms;
	uint64_t stdout_bytes;
	struct str data; /* COMMAND_OUTPUT; may be empty when the bytes went past unseen */
	bool is_stderr;
	struct str name;   /* STEP: "recipe:step" …; its step is `label` */
	struct str run;    /* RUN_START: its id, or empty */
	int pid;           /* RUN_START */
	struct str id;     /* RUN_MESSAGE */
	uint64_t bytes;    /* RUN_MESSAGE */
	struct str status; /* RUN_DONE, RUN_FAILED */
	struct str error;
};

typedef void event_fn(void *data, const struct event *e);

/* Whether it is the EVENT_STEP of that name. */
bool event_is(const struct event *e, const char *name);
/* A number among its members; 0: it has none. */
uint64_t event_number(const struct event *e, const char *member);

/* "command.start"; NULL for those that are not written out. */
const char *event_name(enum event_kind kind);
/* One JSON object on one line, without the newline. */
void event_json(const struct event *e, struct buf *b);
