#pragma once

#include "data/doc.h"

/* `{{a.b}}`: a variable of a step recipe, or something inside one. */
struct reference {
	size_t offset, length; /* in the text, braces included */
	struct str path;       /* a.b */
};

/* The next one at or after *at, which is moved behind it. What does not match is not a reference
 * and stands for itself. */
bool reference_next(struct str text, size_t *at, struct reference *ret);
/* The one that begins exactly at `at`. */
bool reference_at(struct str text, size_t at, struct reference *ret);
/* `text` is nothing but one, white space around it allowed. */
bool reference_only(struct str text, struct reference *ret);
/* The same as reference_next() for `{{ a.b }}`: text, but hardly meant so. */
bool reference_spaced(struct str text, size_t *at, struct reference *ret);

/* The first part of the path: the name of the variable. */
struct str reference_variable(const struct reference *ref);

/* The value that it stands for. Borrowed from `vars`, or from *made, which keeps what had to be
 * parsed because a dot met a text that is JSON; the caller gives NULL in it and releases it. NULL
 * with one issue added that names what there is. `place` is that of the text; NULL: it stands
 * nowhere. `vars` may be NULL. */
const json_t *reference_find(const struct reference *ref, const json_t *vars, json_t **made,
	const struct place *place, struct report *r);

/* `len` bytes at `offset` of the text at `place`, which may be NULL. */
struct where reference_where(const struct place *place, size_t offset, size_t len);
