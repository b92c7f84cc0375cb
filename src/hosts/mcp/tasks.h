#pragma once

#include "app/runs.h"
#include "hosts/mcp/server.h"

/* Runs as tasks of the extension. The id of a task is recorded in its run, and in the ledger before
 * a client hears of it, so that every server of the user knows it. */

/* 128 random bits. */
void task_id_make(struct buf *b);
/* From now on the id leads this principal to the run. False with an issue. */
bool task_register(struct session *who, struct str id, struct str run, struct report *r);
/* Adds the id of the run. False: the principal has no such task. */
bool task_run(const struct session *who, struct str id, struct buf *run);

/* The answer to a call that becomes a task. */
json_t *task_created(struct mcp *m, struct str id, struct run_handle *h);
/* Its full state now: a new reference. NULL: there is no such task. */
json_t *task_document(const struct session *who, struct str id);
/* Whether the request declares the extension; answers what is missing otherwise. */
bool tasks_offered(struct exchange *x);
