#pragma once

#include "hosts/mcp/server.h"

/* One line for each call in <state root>/audit.jsonl (mcp.md section 11.9, the line of serve.md
 * section 9): who asked for what, which run came of it, and how it ended. */
struct audit_line {
	struct str tool, run, outcome;
	int exit; /* -1: none */
};

void audit_write(struct exchange *x, const struct audit_line *line);
