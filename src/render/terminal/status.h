#pragma once

#include "data/json.h"

/* The status document of a run (product.md) for people, a line a fact. `next` is the command that
 * the host recommends; NULL: none. */
void status_text(const json_t *document, const char *next, struct buf *b);
