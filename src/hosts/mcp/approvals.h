#pragma once

#include "hosts/mcp/call.h"

/* Questions of runs, asked through the client. Only a person's explicit answer counts: silence,
 * errors, a client that is gone and defaults never approve. */

/* What a client's answer to a question means. */
enum decision {
	DECISION_APPROVE,
	DECISION_REJECT,
	DECISION_LATER, /* the question stays open */
	DECISION_NONE,  /* it is not an answer: the question is asked again */
};

/* A run of the call waits. True: the client is asked, and the call is not over or has been answered
 * with the question. False: the caller answers that the run waits. */
bool approvals_ask(struct tool_call *c);
/* A call that brings answers to an earlier question (`requestState`): it has been dealt with. */
void approvals_retry(struct exchange *x, struct tool *t);
/* Whether the call may begin: false when the recipe needs a client that can ask and this one
 * cannot; that has been answered then. */
bool approvals_possible(struct exchange *x, const struct tool *t);

/* The open questions of a run as `inputRequests`: a new reference, an empty object when there are
 * none. */
json_t *approvals_requests(struct mcp *m, const char *run);
/* Applies `responses` to the open questions. True: one was answered, so that the run can be
 * continued. */
bool approvals_apply(
	struct exchange *x, const char *run, const json_t *responses, struct report *r);
