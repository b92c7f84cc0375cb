#pragma once

#include "data/json.h"

/* An entry of `failures` of a result document for people: what failed and how, and the last lines
 * of what it printed. */
void failure_text(struct buf *b, const json_t *failure);
