#pragma once

#include <stdbool.h>
#include <stdint.h>

/* So many a second, and a few at once. */
struct rate {
	uint64_t filled_ms; /* when it was last looked at; 0: never */
	double left;
};

/* Takes one. False: too many. */
bool rate_take(struct rate *r, uint64_t now_ms, double per_second, double burst);

/* Wrong secrets of all clients: more than five within a minute are answered a second later. */
struct wrong_secrets {
	uint64_t at[5];
	unsigned next;
};

/* One more; how long its answer should wait. */
uint64_t wrong_secret_add(struct wrong_secrets *f, uint64_t now_ms);
