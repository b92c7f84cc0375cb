#pragma once

#include "data/json.h"

struct map;

/* Where a member of the recipe object, or a value below it, came from in the .md text. */
struct markdown_region {
	struct str key;        /* in the arena */
	size_t offset, length; /* bytes of the text: the scalar, the block, or the fence's text */
	size_t key_offset, key_length; /* of its key in the frontmatter; no length: it has none */
	bool json;   /* the bytes are JSON text of the value: a fence, or a {...} or [...] */
	bool exact;  /* the value is a text and equal to these bytes */
	bool member; /* the bytes are a whole JSON recipe; the value is its member `key` */
	const struct map
		*inner; /* of a block: its entries by key, its items by number; may be NULL */
};

struct markdown {
	json_t *object; /* owned by the caller */
	struct markdown_region *regions;
	size_t region_count; /* one for each member of the object, in its order */
};

/* Reads a Markdown recipe: the frontmatter and, laid over it, the first executable fence, as one
 * JSON object. False with every mistake that could be found in `r`. What is not a mistake but
 * surely not what the author meant goes to `warnings`, which may be the same report: lines that
 * cannot be placed, executable fences behind the first, a backslash before a line break in a
 * command. The arena must outlive the regions. */
bool markdown_read(const struct source *source, struct arena *a, struct markdown *ret,
	struct report *r, struct report *warnings);
