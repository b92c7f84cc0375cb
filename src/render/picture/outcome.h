#pragma once

#include <stdint.h>

#include "base/buf.h"

/* What became of a node in a run. All views use the same word and the same colours for it.
 */
enum outcome_kind {
	OUTCOME_NONE, /* the run ended before its turn came */
	OUTCOME_WAITING,
	OUTCOME_RUNNING,
	OUTCOME_DONE,
	OUTCOME_SKIPPED,
	OUTCOME_TOLERATED, /* failed, and its author asked to continue */
	OUTCOME_FAILED,
	OUTCOME_TIMEOUT,
	OUTCOME_CANCELLED,
	OUTCOME_INTERRUPTED, /* its supervisor vanished */
	OUTCOME_KINDS,
};

/* Colours of one ground: the line around, the ground and the words on it. */
struct outcome_colours {
	const char *line, *fill, *text;
};

struct outcome_look {
	const char *word;
	const char *name; /* the word as a name for style sheets */
	struct outcome_colours light, dark;
};

extern const struct outcome_look outcome_looks[OUTCOME_KINDS];

/* What a run with that status is drawn as. False: it is not a status that a run can be drawn with,
 * and *ret is as it was. */
bool outcome_of_status(struct str status, enum outcome_kind *ret);

/* One node, or all copies that one box stands for. Members that are not known are 0. */
struct picture_state {
	uint64_t counts[OUTCOME_KINDS]; /* of one node, one of them is 1 */
	uint64_t ms, attempts;
	int code;
	bool timed; /* `ms` is known */
	bool coded; /* `code` is known */
};

/* How many copies there are. */
uint64_t picture_state_total(const struct picture_state *s);
/* The one that deserves attention first: what a box that stands for several is coloured as. */
enum outcome_kind picture_state_worst(const struct picture_state *s);
/* Adds the counts of `more`; times overlap, so the longer counts. */
void picture_state_merge(struct picture_state *s, const struct picture_state *more);
/* "failed", "7 done, 1 failed". */
void picture_state_words(const struct picture_state *s, struct buf *b);
/* The same with what is known besides: "failed · 1.2 s · 2 attempts · exit 1". */
void picture_state_text(const struct picture_state *s, struct buf *b);
