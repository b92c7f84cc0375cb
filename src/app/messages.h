#pragma once

#include "app/app.h"
#include "data/json.h"

/* Messages to and from runs, as every host offers them (docs/runs.md, "Messages"). */

struct message_request {
	const char *run;        /* the operand that names it */
	struct str generation;  /* the one that is meant; empty: the current one */
	struct str type;        /* empty: that of the envelope, or run.message */
	struct str to, from;    /* empty: by default */
	const json_t *body;     /* NULL: none */
	const json_t *envelope; /* an object with other members; NULL: none */
};

struct message_answer {
	bool sent, queued;
	const char *transport; /* "fifo", "socket" or NULL */
	const char *waits_for; /* why it is only queued */
	struct buf id;
};

void message_answer_done(struct message_answer *a);

/* To a run that is running: into its inbox, and to its endpoint when it has one that is ready.
 * Warnings are in the report. False with an issue. */
bool messages_send(struct app *a, const struct message_request *q, struct message_answer *ret,
	struct report *r);
/* From a run that is running, by a program of it, whichever session started it: into its outbox,
 * without the secrets of the run. */
bool messages_emit(struct app *a, const struct message_request *q, struct message_answer *ret,
	struct report *r);

/* What the host does itself instead of giving it to the program: "kill", "archive" or "prune" for
 * the types control.kill, control.archive, control.prune; NULL for all others. */
const char *messages_host_order(struct str type);

/* All messages of a run, ended or not, without its secrets. */
struct messages_view {
	json_t *inbox; /* an array */
	json_t *outbox;
	size_t skipped_in, skipped_out; /* lines that are not messages */
	/* What they say is left out: a secret of the run is neither written down nor in the
	 * environment of this process. */
	bool hidden;
};

bool messages_read(struct app *a, const char *run, struct messages_view *ret, struct report *r);
void messages_view_done(struct messages_view *v);

/* Those from a run of another process as they come, from now on. Ends of commands are left out: its
 * events tell them. They are as they were written: the caller masks them (run_mask()). NULL: it is
 * in this process. */
struct message_follower;
struct run_handle;
struct message_follower *messages_follow(const struct run_handle *h);
void messages_follow_end(struct message_follower *f);
/* Calls `see` with each that has come since; borrowed. */
void messages_follow_read(
	struct message_follower *f, void (*see)(void *data, const json_t *message), void *data);

enum { MESSAGE_BODY_BYTES = 1 << 20 }; /* a longer one is refused */

/* What is worth showing of a body on one line. */
void message_body_preview(struct buf *b, const json_t *message);
/* How many characters of a summary a list shows. */
enum { MESSAGE_SUMMARY_SHOWN = 500 };
/* Whether a text is an address: coordinator, session:ID, run:ID … */
bool message_is_address(struct str text);
