#pragma once

#include "loop/loop.h"

struct bridge;
struct api_call;

/* Fetches updates. Each is written to the journal together with the new offset before anything is
 * done for it; route.h then acts on the journal. */
struct poller {
	struct api_call *call;
	struct timer pause;
	bool has_last;    /* an update is known to be seen */
	bool synced;      /* older traffic has been passed over */
	bool told;        /* that it polls */
	int64_t last;     /* the highest update that is in the journal */
	uint64_t last_ms; /* when that was */
	unsigned conflicts;
	void (*ready)(void *data);
	void *data;
};

void poll_start(struct bridge *b);
void poll_stop(struct bridge *b);
/* On a clean stop: the offset goes back into telegram.json, for other programs. */
void poll_write_back(struct bridge *b);
