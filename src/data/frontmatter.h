#pragma once

#include "base/map.h"
#include "data/json.h"

/* One line of a text, as offsets. */
struct text_line {
	size_t begin, end; /* without the line break */
	size_t next;       /* where the following line begins; the length of the text at its end */
};

/* The line that begins at `begin`; a carriage return before the line feed belongs to the break. */
static inline struct text_line text_line_at(struct str text, size_t begin)
{
	size_t end = str_find(text, '\n', begin);
	size_t next = end < text.len ? end + 1 : end;

	if (next > end && end > begin && text.p[end - 1] == '\r')
		end--;
	return (struct text_line){ begin, end, next };
}

/* Reads the lines between the two `---`, which are the bytes from `begin` to `end` of the text.
 * Puts the members into `object` and a struct markdown_region for each into `regions`. Lines that
 * cannot be placed are warnings; false, with issues in `r`, when blocks are nested too deeply. */
bool frontmatter_read(const struct source *source, size_t begin, size_t end, struct arena *a,
	json_t *object, struct map *regions, struct report *r, struct report *warnings);
