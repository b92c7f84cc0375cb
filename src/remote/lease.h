#pragma once

#include "remote/writer.h"

/* A thread that ends everything that this process has started, and then the process, once nothing
 * has been on the disk for `lease_ms`: the loop does that sooner, unless it hangs in a look at the
 * shared directory, or in writing why it leaves. False: no thread can be had. */
bool lease_guard(struct writer *w, uint64_t lease_ms);

/* What a worker with nothing to do knows, in milliseconds. */
struct rest {
	uint64_t now;
	uint64_t beat_seen; /* when the driver's file was last seen to have grown */
	uint64_t ended;     /* when the last command did */
	uint64_t gone;      /* a driver that does not beat for so long is not there */
	uint64_t orphan;    /* so long a new one is waited for */
	uint64_t idle;      /* … and for a command from one that is there */
	bool draining;      /* there will be none */
};

/* Why it leaves; NULL: it stays. */
const char *lease_rest(const struct rest *r);
