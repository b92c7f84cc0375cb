#pragma once

#include "app/runs.h"
#include "hosts/mcp/catalog.h"
#include "hosts/mcp/progress.h"

/* One call of a recipe, from its checked arguments to its answer. The run is a supervisor's: it
 * outlives this process, and the call only watches it. */
struct tool_call {
	struct list link; /* of mcp.calls or mcp.waiting */
	struct mcp *server;
	struct exchange *x;
	struct tool *tool;
	json_t *values; /* the arguments, and secrets from the environment */
	struct run_handle *run;
	struct timer budget;    /* after it the run continues without the call */
	struct deferred ending; /* the run has ended */
	struct progress progress;
	struct buf task;           /* its id as a task; empty: the client knows none */
	struct question *question; /* that the client has not answered; NULL: none */
	struct buf asked;          /* the key of the gate that it is about */
	json_t *labels;            /* of its commands, for messages; NULL: none yet */
	struct raw *raw;           /* of a recipe that prints its own result; else NULL */
	bool counted;              /* among those that run at once */
};

/* Checks the arguments and starts it, or answers what is wrong. */
void call_begin(struct exchange *x, struct tool *t);
/* Takes up a run that exists already: watches it and answers as if the call had started it. Takes
 * the handle. */
void call_adopt(struct exchange *x, struct tool *t, struct run_handle *run);
/* Answers with the present result of the run and ends the call. */
void call_answer(struct tool_call *c);
/* Answers with that; takes the result. */
void call_answer_with(struct tool_call *c, json_t *result);
/* Answers with what is wrong and ends the call. */
void call_refuse(struct tool_call *c, struct report *r);
/* Continues a run whose gate has been answered, and watches it. False with issues: the caller
 * answers. */
bool call_continue(struct tool_call *c, struct report *r);
/* Another door has continued its run: looks at it anew, and watches it until it ends or asks. False
 * with issues: the caller answers. */
bool call_follow(struct tool_call *c, struct report *r);
/* Answers after that time, if it has not been answered before. */
void call_wait_until(struct tool_call *c, uint64_t ms);
/* Runs the recipe once more in place of the run that it has. */
void call_repeat(struct tool_call *c);
void call_free(struct tool_call *c);
