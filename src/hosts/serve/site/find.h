#pragma once

#include "app/logs.h"
#include "hosts/serve/site/aside.h"

/* A search in a log, on a thread: at most 512 MiB, or 2 s. */

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
	struct job job;
	bool enough;
};

/* Calls `done` from the loop; the finding is freed when that returns. -errno: there is
 * no such log, and nothing was begun. */
int finding_start(struct http_request *q, struct run_model *m, const struct log_at *at,
	struct str text, uint64_t from, size_t limit, void (*done)(struct finding *f), void *data);
