#pragma once

#include "data/json.h"

/* Adds the one spelling of a value, whatever its author's was, so that equal values have equal
 * bytes: members sorted by UTF-16 code units, no spaces, strings and numbers as ECMAScript's
 * JSON.stringify writes them. Whole numbers are rounded as ECMAScript, which has doubles only,
 * would have read them. */
void json_canonical(struct buf *b, const json_t *value);
