#pragma once

#include "data/doc.h"
#include "unit.h"

/* A way through a document: "a", "#2" for the third element. Ends with NULL. */
static inline const struct place *way(
	struct arena *a, const struct doc *d, const char *const *steps)
{
	struct place *root = arena_new(a, struct place);

	root->doc = d;
	const struct place *p = root;
	for (; *steps; steps++) {
		if (**steps == '#')
			p = place_element(a, p, (size_t)(*steps)[1] - '0');
		else
			p = place_member(a, p, str_of(*steps));
	}
	return p;
}

#define WAY(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* The text that stands there. */
static inline struct str cut(struct where w)
{
	assert_true(w.offset + w.length <= w.source->text.len);
	return str_sub(w.source->text, w.offset, w.length);
}
