#include "remote/lease.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "loop/tree.h"

enum { LOOK_MS = 1000, LOOKS = 50, AGAIN_MS = 20, TRIES = 250 };

struct guard {
	struct writer *writer;
	uint64_t lease_ms;
};

static void wait_ms(uint64_t ms)
{
	(void)nanosleep(
		&(struct timespec){ (time_t)(ms / 1000), (long)(ms % 1000) * 1000000 }, NULL);
}

/* What is started while it looks is found by the next look. One that cannot even be killed, because
 * it hangs in the same file system, is left. */
static void end_everything(void)
{
	for (int i = 0; i < TRIES; i++) {
		struct tree_scan *scan = tree_scan_new();
		size_t left = scan ? tree_kill(scan, NULL) : 0;

		tree_scan_free(scan);
		if (!left)
			return;
		wait_ms(AGAIN_MS);
	}
}

static void *watch_lease(void *data)
{
	struct guard *g = data;

	while (clock_since(clock_boot_ms(), writer_synced_ms(g->writer)) <= g->lease_ms)
		wait_ms(MAX(MIN(g->lease_ms / LOOKS, (uint64_t)LOOK_MS), (uint64_t)1));
	end_everything();
	_exit(1);
}

bool lease_guard(struct writer *w, uint64_t lease_ms)
{
	struct guard *g = mem_new(struct guard);
	pthread_attr_t attr;
	pthread_t thread;

	g->writer = w;
	g->lease_ms = lease_ms;
	(void)pthread_attr_init(&attr);
	(void)pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	return pthread_create(&thread, &attr, watch_lease, g) == 0;
}

const char *lease_rest(const struct rest *r)
{
	uint64_t silent = clock_since(r->now, r->beat_seen), waited = clock_since(r->now, r->ended);

	if (silent <= r->gone)
		return r->draining || waited > r->idle ? "idle" : NULL;
	return MIN(silent - r->gone, waited) > r->orphan ? "orphan" : NULL;
}
