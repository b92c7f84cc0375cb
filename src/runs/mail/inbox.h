#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "runs/dir/lines.h"
#include "runs/mail/message.h"

/* Messages to a run, DIR/inbox.jsonl: the truth, of which an endpoint is only a fast path. A line
 * is a message or says what became of one: {"id","status","ts"}. */
#define INBOX_FILE "inbox.jsonl"

enum { INBOX_WAITING_MAX = 64 }; /* undelivered messages; then the sender has to wait */

enum inbox_status {
	INBOX_QUEUED,
	INBOX_SENT,    /* an endpoint took it */
	INBOX_CLAIMED, /* a program works on it */
	INBOX_HANDLED,
	INBOX_FAILED,
};

/* What a line of the inbox says. */
enum inbox_line_kind { INBOX_LINE_MESSAGE, INBOX_LINE_STATUS, INBOX_LINE_MARKER, INBOX_LINE_NONE };
/* `line` is an object; the id and the status are set for the second kind, borrowed from it. */
enum inbox_line_kind inbox_line(
	const json_t *line, struct str *ret_id, enum inbox_status *ret_status);

/* All messages in order of arrival, each with the `status` that it has now, when it got there
 * (`sent_at` …), and what was said with it (`claimed_by`, `error`). */
struct inbox {
	VEC(json_t *) messages;
	size_t waiting; /* those that are still queued */
	size_t skipped; /* lines that are neither messages nor statuses */
	struct map by_id;
	struct arena arena;
	struct message_frame frame;
};

int inbox_read(const char *dir, const struct message_frame *f, struct inbox *ret);
void inbox_done(struct inbox *i);
enum inbox_status inbox_status_of(const json_t *message);

/* Locks the inbox for one send: the check for room, the append and the status line. A sender that
 * is stopped meanwhile must not block others, so the lock is waited for at most `wait_ms`. A
 * descriptor, to be closed; -1: the lock could not be had. */
int inbox_hold(const char *dir, unsigned wait_ms);

/* Appends a message as queued. Makes room first when the file has grown too long: what is
 * undelivered is kept. `limit` is LINES_MAX_BYTES. -errno. */
int inbox_post(const char *dir, const json_t *message, const struct inbox *now, size_t limit);

/* What else a status line says; NULL: nothing. */
struct inbox_mark {
	const char *transport, *claimed_by, *error;
};
int inbox_mark(
	const char *dir, struct str id, enum inbox_status status, const struct inbox_mark *m);
