#pragma once

#include "hosts/mcp/server.h"

/* Messages about a call while it runs: `notifications/message`. A legacy client gets them after
 * `logging/setLevel`, a modern one when the request names a level. */

/* -1: that is not a level. */
int log_level(struct str name);
/* Whether the client of this request wants messages of that level; with -1: any at all. */
bool log_wanted(const struct exchange *x, int level);
/* A line of the events of a run: which command began, ended, failed or is tried again. `*labels` is
 * NULL at first and the caller's to end: ends of commands do not tell their labels. */
void log_event(
	struct exchange *x, struct str run, json_t **labels, const char *type, struct str json);
