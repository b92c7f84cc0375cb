#pragma once

#include "data/json.h"
#include "render/terminal/stream.h"

/* How it failed, of an entry of `failures` of a result document: "ran out of time (code 1)". */
void failure_how(struct buf *b, const json_t *failure);
/* All of such an entry for people: what failed and how, and the last lines
 * of what it printed, or how many of them have been `shown` while it ran. `times`: how often it
 * failed, this time included. */
void failure_text(
	struct buf *b, const json_t *failure, uint64_t times, const struct stream_shown *shown);
