#pragma once

#include "base/buf.h"
#include "base/environ.h"

/* What commands find in their environment: this process's own, what the run adds or replaces, and
 * the mark by which everything that a command starts is known as its own (loop/tree.h). */
struct environment {
	struct environ_list list; /* slot 0 is the mark of the command that is just being started */
	struct buf mark;          /* NAME=…, with the marks of the runs around this one */
	struct buf run_mark;      /* "/pid-time." */
	uint64_t started;         /* commands so far */
};

/* `own`: NAME=VALUE, ends with NULL; NULL: none. The strings must stay. */
void environment_init(struct environment *e, const char *const *own, bool bare);
void environment_done(struct environment *e);
/* What PATH says. */
struct str environment_path(const struct environment *e);

/* That of the next command, whose mark is added to *ret_mark. `own` is only its own, or NULL. Until
 * environment_taken(). */
struct command_environment {
	struct environ_list list;
	size_t outer; /* how much of the mark is not the command's */
};
const char *const *environment_take(struct environment *e, const char *const *own,
	struct buf *ret_mark, struct command_environment *ret);
void environment_taken(struct environment *e, struct command_environment *c);
