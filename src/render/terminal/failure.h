#pragma once

#include "data/json.h"
#include "render/terminal/stream.h"

/* An entry of `failures` of a result document for people: what failed and how, and the last lines
 * of what it printed, or how many of them have been `shown` while it ran. `times`: how often it
 * failed, this time included. */
void failure_text(
	struct buf *b, const json_t *failure, uint64_t times, const struct stream_shown *shown);
