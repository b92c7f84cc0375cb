#pragma once

#include "base/buf.h"
#include "base/vec.h"

/* JSON as text, where the value is not wanted but its place: offsets go in, the offset behind what
 * was found comes out. Everything may be asked of any bytes; 0 says that no such thing begins at
 * `at`. Depth is not limited. */

bool json_scan_is_blank(char c);
/* Behind the white space at `at`, if any: never 0 unless `at` is. */
size_t json_scan_blank(struct str t, size_t at);
size_t json_scan_string(struct str t, size_t at);
size_t json_scan_number(struct str t, size_t at);
/* Any value, without white space before it. */
size_t json_scan_value(struct str t, size_t at);

/* One escape of a string, a pair of surrogates together; what it means is added to `ret`, unless
 * that is NULL. */
size_t json_scan_escape(struct str t, size_t at, struct buf *ret);
/* Reads \uXXXX as the number of its digits. */
bool json_scan_unit(struct str t, size_t at, uint32_t *ret);
/* Adds what the string at `at`, of which json_scan_string() knows the end, means. */
void json_scan_decode(struct str t, size_t at, struct buf *ret);

/* Levels of brackets outside strings, whether the text is JSON or not: a reader of JSON must not be
 * asked to go deeper than it can. */
size_t json_scan_depth(struct str t);

/* The next number at or after *at that is not part of a string; *at moves behind it. False: there
 * are no more, or what follows is not JSON. */
bool json_scan_next_number(struct str t, size_t *at, struct str *ret);

/* Finds objects and arrays of JSON in a text of anything.
 *
 * Trying every bracket for itself would take the square of the length. One try that fails settles
 * more than its own bracket: those still open where it fails fail there too, because what stands
 * inside a bracket does not depend on what is around it. Brackets that it took for parts of a
 * string are not settled, but while two tries run over the same bytes, one is in a string where the
 * other is not (a backslash ends the one that is not), so no byte is read more than twice. */
struct json_finder {
	struct str text;
	VEC(size_t) open;      /* brackets of the try that is running */
	unsigned char *failed; /* a bit for each byte: no value begins there */
};

void json_finder_init(struct json_finder *f, struct str text);
void json_finder_done(struct json_finder *f);

/* The next object or array at or after `from`: [*begin, *end). False when there are no more. */
bool json_finder_next(struct json_finder *f, size_t from, size_t *begin, size_t *end);
