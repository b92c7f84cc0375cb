#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How many allocations a run asks for, and how much a worker is given ahead: numbers in, numbers
 * out. */

/* What commands take of an allocation, or what it has. */
struct load {
	uint64_t cpus, mem_mb, gpus;
};

void load_add(struct load *l, const struct load *more);
void load_remove(struct load *l, const struct load *less);
/* Whether `more` fits beside `used` into `has`; memory and gpus that are 0 there are not known, and
 * not counted. */
bool load_fits(const struct load *used, const struct load *more, const struct load *has);

/* What is known of one shape. */
struct sizing {
	uint64_t cpus;       /* of the next allocation */
	uint64_t ready_cpus; /* of commands that wait for a worker of it */
	uint64_t has_cpus;   /* of workers that have begun */
	uint64_t free_cpus;  /* … of these, with nothing to do */
	uint64_t queued;     /* workers that are asked for and have not begun */
	uint64_t queued_cpus;
	uint64_t ended;   /* commands of the executor, so far */
	uint64_t mean_ms; /* that one took, of the latest */
	uint64_t all;     /* workers of all shapes, queued ones included */
	uint64_t most;    /* that may be at once */
	bool more_come;   /* behind `ready_cpus`, and nothing tells how many */
};

enum {
	SIZING_ENDED = 16, /* ends after which it is known how long what is left will take */
	SIZING_SOON_MS = 60000,
	AHEAD_ENDED = 8,
	AHEAD_SLOT_MAX = 32,
	AHEAD_WORKER_MAX = 256,
	QUEUED_MAX = 4,
};

/* How many allocations more the shape should have now. */
uint64_t sizing_more(const struct sizing *s);
/* How many of those that are queued it could do without. */
uint64_t sizing_spare(const struct sizing *s);
/* How many commands are given to each slot beside the one that it runs. */
uint64_t sizing_ahead(uint64_t ended, uint64_t turn_ms, uint64_t mean_us, uint64_t queued);

/* How often files are looked at, all together: 500 times a second, and a few at once. */
enum { LOOK_EVERY_MS = 2, LOOKS_AT_ONCE = 25 };
struct looks {
	uint64_t spent;   /* of those at once */
	uint64_t from_ms; /* up to when they have come back, one by one */
};

/* Takes one; false: not now. */
bool looks_take(struct looks *l, uint64_t now);

/* The latest ends: how long commands take, and how long an answer does. */
enum { SIZING_KEPT = 64 };
struct sizing_mean {
	uint64_t at[SIZING_KEPT];
	uint64_t sum;
	unsigned count, next;
};

void sizing_add(struct sizing_mean *m, uint64_t value);
/* 0: nothing is known. */
uint64_t sizing_mean(const struct sizing_mean *m);
