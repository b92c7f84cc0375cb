#pragma once

#include "roux/roux.h"
#include "runs/look/look.h"

/* What can be asked about runs, as documents and as text. */

/* The runs of one state root, as a caller sees them. */
struct runs {
	struct arena *arena;
	struct str root;
	struct ledger *ledger; /* NULL: there is none, or it cannot be used */
	struct str caller;     /* its session, of $ROUX_OWNER; empty: the operator */
};

/* Finds the state root and opens its ledger, if there is one. A ledger that cannot be used is a
 * warning: directories tell enough. */
void runs_open(struct runs *s, struct arena *a, struct report *r);
/* The same of a state root that is known. */
void runs_open_at(struct runs *s, struct arena *a, struct str root, struct report *r);
void runs_close(struct runs *s);

/* The run that an operand names, looked at now, when the caller may. False with an issue; *reason
 * is then the few words of a refusal, or NULL when the request itself was wrong. */
bool runs_find(struct runs *s, const char *operand, struct run_look *ret, const char **reason,
	struct report *r);
/* The document of a refusal: of the last error in `r`. `run` may be empty. */
void runs_refusal(struct str run, const char *reason, const struct report *r, struct buf *b);

/* All runs, newest first. */
void runs_list(struct runs *s, bool json, struct buf *b, struct report *r);
/* Their ids, one a line, for completion. */
void runs_ids(struct runs *s, struct buf *b);

/* Makes the ledger anew from the run directories and says what it found. */
bool runs_rebuild(struct arena *a, bool json, struct buf *b, struct report *r);

/* One run: everything that product.md lists, or the same for people. */
void runs_status(const struct run_look *look, bool json, struct buf *b);

/* -- ended runs ----------------------------------------------------------------------------------
 */

/* The result document of an ended run, with its output as far as a document can hold it. -errno
 * when the output cannot be read. */
int runs_result(const struct run_look *look, struct buf *b);
/* Its failures and its last word for people, as `roux run` says them. */
void runs_result_text(const struct run_look *look, struct buf *b);
/* The exit status of a command that ends as the run did. */
int runs_exit(const struct run_look *look, bool strict, bool tolerate);
/* The status of that name; ROUX_EXITED when nobody knows it. */
enum roux_status runs_status_of(struct str name);

/* -- orders --------------------------------------------------------------------------------------
 */

enum run_order { RUN_CANCEL, RUN_FINISH, RUN_KILL };

/* Tells the supervisor to end the run and waits until it has, then looks again into `ret`.
 * `grace_ms` < 0: as the run was started. False with an issue and *reason. */
bool runs_order(struct runs *s, struct run_look *look, enum run_order order, int grace_ms,
	struct run_look *ret, const char **reason, struct report *r);
/* Tells it and returns. False: it is gone, or it could not be told (with an issue). */
bool runs_tell(const struct run_look *look, enum run_order order, int grace_ms, struct report *r);
/* Whether its process is a host's own: it is told through orders.h and not by signals. */
bool runs_embedded(const struct run_look *look);
