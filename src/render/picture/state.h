#pragma once

#include <stdint.h>

#include "base/buf.h"
#include "base/shown-state.h"

/* Colours of one ground: the line around, the ground and the words on it. */
struct state_colours {
	const char *line, *fill, *text;
};

struct state_look {
	struct state_colours light, dark;
};

extern const struct state_look state_looks[SHOWN_STATES];

/* One node, or all copies that one box stands for. Members that are not known are 0. */
struct picture_state {
	uint64_t counts[SHOWN_STATES]; /* of one node, one of them is 1 */
	uint64_t ms, attempts;
	int code;
	bool timed; /* `ms` is known */
	bool coded; /* `code` is known */
};

/* How many copies there are. */
uint64_t picture_state_total(const struct picture_state *s);
/* The one that deserves attention first: what a box that stands for several is coloured as. */
enum shown_state picture_state_worst(const struct picture_state *s);
/* Adds the counts of `more`; times overlap, so the longer counts. */
void picture_state_merge(struct picture_state *s, const struct picture_state *more);
/* "failed", "7 done, 1 failed". */
void picture_state_words(const struct picture_state *s, struct buf *b);
/* The same with what is known besides: "failed · 1.2 s · 2 attempts · exit 1". */
void picture_state_text(const struct picture_state *s, struct buf *b);
