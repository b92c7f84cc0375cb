#pragma once

#include "app/runs.h"
#include "hosts/mcp/catalog.h"

/* What a call answers: a CallToolResult. Every function returns a new reference. */

/* A mistake that the model can repair. */
json_t *result_error(struct str text);
/* Answers with them: a fault of ours is an error of the protocol. */
void answer_issues(struct exchange *x, struct report *r);

/* Of a run that has ended or waits for an approval. `t` may be NULL: the tool is not known any
 * more. */
json_t *result_of_run(struct mcp *m, const struct tool *t, struct run_handle *h);
/* Of one that continues without the call. */
json_t *result_running(struct mcp *m, struct run_handle *h);

/* The facts: `dev.roux/run`. */
json_t *run_facts(struct mcp *m, struct run_handle *h);
/* The exit status that a run stands for in the facts; -1: it has not ended. */
int run_exit_code(struct run_handle *h);
/* The text of a result, with its mark; *ret_cut: something was left out. */
void run_text(struct mcp *m, struct run_handle *h, struct buf *b, bool *ret_cut);
/* "STAGE': PROMPT" of a question, for a person to read. */
void gate_words(struct buf *b, const json_t *gate);
/* roux://runs/ID */
void run_uri(struct buf *b, struct str id, const char *below);
