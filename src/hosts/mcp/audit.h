#pragma once

#include "hosts/mcp/server.h"

/* One line for each call, each order to a task and each answer to a gate in <state
 * root>/audit.jsonl, with the members of the dashboard's: who asked for what, which run came of it,
 * and how it ended. */
struct audited_call {
	struct str action; /* empty: "call" */
	struct str tool, run, outcome;
	struct str decision; /* about a gate; empty: none */
	int exit;            /* -1: none */
};

void audit_call(struct exchange *x, const struct audited_call *call);
