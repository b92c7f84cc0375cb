#pragma once

#include "base/str.h"
#include "base/vec.h"

/* Finds objects and arrays of JSON in a text of anything.
 *
 * Trying every bracket for itself would take the square of the length. One try that fails settles
 * more than its own bracket: those still open where it fails fail there too, because what stands
 * inside a bracket does not depend on what is around it. Brackets that it took for parts of a
 * string are not settled, but while two tries run over the same bytes, one is in a string where the
 * other is not (a backslash ends the one that is not), so no byte is read more than twice. */
struct scan {
	struct str text;
	VEC(size_t) open;      /* brackets of the try that is running */
	unsigned char *failed; /* a bit for each byte: no value begins there */
};

void scan_init(struct scan *s, struct str text);
void scan_done(struct scan *s);

/* The object or array that begins exactly at `at`: [at, *end). */
bool scan_at(struct scan *s, size_t at, size_t *end);
/* The next object or array at or after `from`: [*begin, *end). False when there are no more. */
bool scan_next(struct scan *s, size_t from, size_t *begin, size_t *end);
