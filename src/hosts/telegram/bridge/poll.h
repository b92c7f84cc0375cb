#pragma once

#include "hosts/telegram/rules/polling.h"
#include "loop/loop.h"

struct bridge;
struct api_call;

/* Fetches updates. Each is written to the journal together with the new offset before anything is
 * done for it; route.h then acts on the journal. */
struct poller {
	struct api_call *call;
	struct timer pause;
	struct polling at; /* how far it is */
	bool told;         /* that it polls */
	unsigned conflicts;
	void (*ready)(void *data);
	void *data;
};

void poll_start(struct bridge *b);
void poll_stop(struct bridge *b);
/* On a clean stop: the offset goes back into telegram.json, for other programs. */
void poll_write_back(struct bridge *b);
