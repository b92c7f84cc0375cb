#pragma once

#include "hosts/mcp/server.h"

/* One function for each row of builtins.c. `arguments` are checked, and borrowed for the call. */
void builtin_runs(struct exchange *x, const json_t *arguments);
void builtin_status(struct exchange *x, const json_t *arguments);
void builtin_wait(struct exchange *x, const json_t *arguments);
void builtin_log(struct exchange *x, const json_t *arguments);
void builtin_message(struct exchange *x, const json_t *arguments);
void builtin_cancel(struct exchange *x, const json_t *arguments);
void builtin_retry(struct exchange *x, const json_t *arguments);

struct run_handle;
/* Each answers, and leaves a line in the audit. A tool error from the issues: */
void builtin_refuse(struct exchange *x, struct report *r);
/* The run that the arguments name. NULL: a tool error has been answered. */
struct run_handle *builtin_open(struct exchange *x, const json_t *arguments);
/* Answers with the facts of a run and a text; takes `more`, members beside them, or NULL. The
 * handle is not closed. */
void builtin_answer(struct exchange *x, struct run_handle *h, struct str text, json_t *more);
