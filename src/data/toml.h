#pragma once

#include "data/json.h"

struct locator;

/* TOML 1.0. */

enum { TOML_MAX_BYTES = 16 << 20 };

enum toml_style {
	/* Tables are objects in the order of the file, integers exact, dates and times text with a
	 * capital T and Z, and so are inf, -inf and nan, which JSON has no number for. */
	TOML_PLAIN,
	/* As the suite toml-test has it: every leaf is {"type", "value"}, the value a text. */
	TOML_TAGGED,
};

/* NULL with one issue added when it is not TOML. A byte order mark is skipped. The caller owns the
 * result. Plain objects have C strings as names, so a key with a NUL character in it is refused
 * there. */
json_t *toml_read(const struct source *source, enum toml_style style, struct report *r);

/* Where the values of a text stand that toml_read() has read. A table stands at its header, one
 * that has none at its name. */
extern const struct locator toml_locator;
/* The same with a memory, in an arena that lives as long as the document: the text is read again
 * for the first place that is asked for, not for each. */
const struct locator *toml_locator_new(struct arena *a);
