#pragma once

#include "base/map.h"
#include "hosts/mcp/server.h"

/* What a client hears while it waits: how many commands have ended, at most five times a second,
 * and something at least every ten seconds. */
struct progress {
	struct exchange *x; /* NULL, or without a token: nothing is reported */
	size_t total;       /* 0: not known */
	size_t done;
	double last; /* what was told last: it has to grow */
	uint64_t told_ms, began_ms;
	bool dirty;
	struct buf now; /* the name of what runs */
	struct timer timer;
};

void progress_start(struct progress *p, struct exchange *x, size_t total);
/* A line of the events of the run. */
void progress_event(struct progress *p, const char *type, struct str json);
/* Something else to say, at once: "queued". */
void progress_say(struct progress *p, const char *text);
void progress_stop(struct progress *p);
