#pragma once

#include "app/logs.h"
#include "hosts/serve/site/site.h"

/* A search in a log that lets the loop serve others in between: 8 ms at once, and at most 512 MiB
 * or 2 s in all. */

struct found_hit {
	uint64_t offset;
	struct str before, match, after; /* in `arena` */
};

struct finding {
	struct http_request *q;
	struct run_model *m; /* only while `done` is called, when it is looked up again */
	struct arena arena;
	VEC(struct found_hit) hits;
	size_t limit;
	uint64_t from, scanned, next; /* next 0: all was looked at */
	void (*done)(struct finding *f);
	void *data;
	/* Its own: */
	struct log_find *find;
	struct deferred more;
	uint64_t until_ms;
	bool enough;
};

/* Calls `done` from the loop, or at once; the finding is freed when that returns. -errno: there is
 * no such log, and nothing was begun. */
int finding_start(struct http_request *q, struct run_model *m, const struct log_at *at,
	struct str text, uint64_t from, size_t limit, void (*done)(struct finding *f), void *data);
