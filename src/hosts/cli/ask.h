#pragma once

#include "app/runs.h"
#include "hosts/cli/cli.h"

/* Questions on the terminal: at a gate that a run in the foreground has reached, and what to do
 * next. */

/* Whether a question can be asked: standard input and standard error are a terminal, which this
 * process has and is not in the background of. */
bool ask_possible(void);

/* Who answers, as the record keeps it: $ROUX_OWNER, or the name of the user. In the arena. */
struct str ask_answerer(struct cli *cli);

enum ask_answer {
	ASK_LATER,
	ASK_ANSWERED, /* there is an answer: given here, or elsewhere, or its time is over */
	ASK_CANCEL,   /* Ctrl-C */
};

/* Asks what the run waits for and keeps the answer with it. Another door may answer meanwhile. A
 * mistake is an issue, and then it is later. */
enum ask_answer ask_gate(struct cli *cli, struct str run);
/* A question that is answered with yes or no; Enter alone is no. */
bool ask_yes(const char *question);
