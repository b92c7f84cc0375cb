#pragma once

#include "base/audit-file.h"
#include "base/list.h"
#include "data/json.h"

/* serve/audit.jsonl: one line for each change, login and refusal for cause. The line of a change is
 * written before it happens and completed in its place afterwards, so that a server that is killed
 * leaves whole lines. */

struct audit {
	struct audit_file file;
	struct list refused; /* those of the last second, not written yet */
};

/* What is known of one request. Texts are copied when a line is made. */
struct audit_line {
	struct list link;
	uint64_t since_ms;        /* of the monotonic clock */
	uint64_t ts;              /* real */
	struct audit_place place; /* spaces at the end included */
	bool written;
	unsigned count; /* of equal refusals */
	struct buf who, session, action;
	json_t *notes; /* NULL: none */
	const char *via;
};

/* `path` is borrowed; empty: there is no file. */
void audit_init(struct audit *a, struct str path);
void audit_done(struct audit *a);

struct audit_line *audit_line_new(
	struct str who, const char *via, struct str session, struct str action);
void audit_line_free(struct audit_line *l);
/* One more member, as a string; one of that name is replaced. */
void audit_line_note(struct audit_line *l, const char *name, struct str value);

/* Before it happens. -errno: the file cannot be written. */
int audit_begin(struct audit *a, struct audit_line *l);
/* What came of it. When the file cannot be written the line is put into `ret_lost`. */
void audit_end(struct audit *a, struct audit_line *l, struct str outcome, struct buf *ret_lost);

/* A refusal: equal ones within a second are one line, with their number. Takes the line. True: it
 * waits, and audit_flush() is due in a second. */
bool audit_refused(struct audit *a, struct audit_line *l, struct str outcome);
void audit_flush(struct audit *a);
