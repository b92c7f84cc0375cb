#pragma once

#include "data/json.h"

/* Messages to and from a run (docs/runs.md, "Messages"): JSON objects, one a line of inbox.jsonl
 * and outbox.jsonl. */

enum {
	MESSAGE_BODY_MAX = 1 << 20, /* larger data belongs into a file */
	MESSAGE_PREVIEW = 500,      /* bytes of a body that a list shows */
};

enum delivery {
	DELIVERY_LOG,      /* only on inspection */
	DELIVERY_NOTIFY,   /* shown */
	DELIVERY_FOLLOWUP, /* re-enters the agent's context */
};
const char *delivery_name(enum delivery d);

enum level { LEVEL_INFO, LEVEL_WARNING, LEVEL_ERROR };
const char *level_name(enum level l);

/* Letters, digits and _ . : - after a letter. */
bool message_type_valid(struct str type);
bool message_type_check(struct str type, struct report *r);

enum address_kind {
	ADDRESS_RUN,
	ADDRESS_BRANCH,
	ADDRESS_ROOM,
	ADDRESS_COORDINATOR,
	ADDRESS_SESSION,
	ADDRESS_TOOL,
};

struct address {
	enum address_kind kind;
	struct str name;   /* of the run, session or tool; empty: the coordinator */
	struct str branch; /* of a branch */
};

bool address_read(struct str text, struct address *ret);
/* The same with an issue and a hint; `what` is what the text stands for: "to". */
bool address_check(struct str text, const char *what, struct address *ret, struct report *r);

/* The box that a message lies in. */
enum message_box { OUTBOX, INBOX };
struct message_frame {
	enum message_box box;
	struct str run, owner; /* owner: empty when there is none */
};

/* What a line means: every member that it should have, in the order of the table, with defaults for
 * those that are missing or unusable, and whatever else the line had. `index` is the line's, for
 * an id. `line` is an object. */
json_t *message_complete(const json_t *line, const struct message_frame *f, size_t index);

/* A message that is to be written: `given` has the members that the sender chose (an object; it is
 * checked: what cannot be is an error, what will be ignored a warning), `type` when not empty and
 * `body` when not NULL are said apart from it. NULL with issues. It has an id, which no other
 * message has, and the time. */
json_t *message_compose(const json_t *given, struct str type, const json_t *body,
	const struct message_frame *f, struct report *r);

/* A new id. */
void message_id(struct buf *b);
/* How many bytes a body has: of a text its own, else those of its JSON. */
size_t message_body_bytes(const json_t *body);
/* The beginning of the body on one line, at most MESSAGE_PREVIEW bytes. */
void message_preview(struct buf *b, const json_t *message);

/* What is given to the program: the text of a run.message, anything else as one line of JSON,
 * without the line's end. */
void message_program_line(struct buf *b, const json_t *message);
/* Whether it is a run.message with one of the bare words stop, cancel, quit, exit. */
bool message_is_stop(const json_t *message);
