#pragma once

#include "data/json.h"

/* Whole numbers beyond 64 bits. jansson has none, and a YAML recipe must print them exactly, so one
 * is a string of its digits behind a mark that no UTF-8 text can have. json_write() writes it as
 * the number it is; code that asks json_is_string() asks json_is_big() first where it matters. */

/* A sign and decimal digits, as they are to be printed. The caller owns the result. */
json_t *json_big(struct str digits);
bool json_is_big(const json_t *value);
/* Borrowed from the value, which must be one. */
struct str json_big_digits(const json_t *value);

/* json_read() that keeps whole numbers beyond 64 bits as they are instead of making doubles of
 * them. The caller owns the result; NULL with issues added when the text is not JSON. */
json_t *json_read_big(const struct source *source, struct report *r);
/* `value` as json_read() would have read it: a double in place of each such number, at any depth,
 * and its digits as a text where it is too large for one. A new reference, to `value` itself where
 * there are none. */
json_t *json_big_rounded(json_t *value);
