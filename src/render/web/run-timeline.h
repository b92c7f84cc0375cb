#pragma once

#include "render/web/run-tree.h"

/* When the nodes of a run ran. One row an item, label and bars in the same element; stretches in
 * which nothing ran are folded to a mark with their length, so that bursts of milliseconds between
 * long waits can be told apart. */

/* A stretch of time with a reason why nothing ran: "waiting for approval". */
struct timeline_pause {
	uint64_t start_ms, end_ms;
	const char *why;
};

struct timeline {
	const struct tree_item *rows;
	size_t row_count;
	const struct node_span *spans; /* of all commands of the run, in no order */
	size_t span_count;
	const struct timeline_pause *pauses;
	size_t pause_count;
	uint64_t total_ms; /* of the run, until now when it has not ended */
	bool live;
	bool real;               /* do not fold */
	bool no_groups;          /* rows of commands only */
	uint64_t from_ms, to_ms; /* the part that is shown; to_ms 0: to the end */
	struct tree_links links;
};

/* With more spans than this they are also drawn together, each state as one path. */
enum { TIMELINE_SPANS = 500 };

void timeline_html(struct buf *b, const struct timeline *t);

/* -- the scale, for tests ------------------------------------------------------------------------
 */

/* A piece of the time that is shown, from `start_ms` to `end_ms`, and where it is: 0 to 1000. */
struct timeline_piece {
	uint64_t start_ms, end_ms;
	double x, width;
	bool folded;
	const char *why; /* of a folded one; NULL: not known */
};

enum { TIMELINE_PIECES = 64 };
/* Returns how many there are, at most TIMELINE_PIECES. They are in order and cover all of it. */
size_t timeline_scale(const struct timeline *t, struct timeline_piece pieces[TIMELINE_PIECES]);
double timeline_x(const struct timeline_piece *pieces, size_t count, uint64_t ms);
