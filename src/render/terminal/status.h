#pragma once

#include "data/json.h"

/* What the host says about a run; empty: nothing. */
struct status_words {
	struct str headline;         /* what became of it */
	struct str see, again, next; /* commands that it recommends */
};

/* The status document of a run for people, a line a fact. */
void status_text(const json_t *document, const struct status_words *words, struct buf *b);
