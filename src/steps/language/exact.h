#pragma once

#include "data/json.h"

/* json_read() that keeps whole numbers beyond 64 bits as they are (data/big.h) instead of making
 * doubles of them. */
json_t *exact_read(const struct source *source, struct report *r);
