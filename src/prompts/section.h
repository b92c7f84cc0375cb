#pragma once

#include "prompts/resolve.h"

/* Adds the text of one section. False with an issue added when it is invalid. */
bool section_resolve(const struct resolve_input *in, const struct section *s, struct buf *ret,
	struct report *r, struct report *warnings);
/* "role", "context" or "task". */
const char *section_kind_name(const struct section *s);
/* Where the section, or one of its fields, stands. */
struct where section_where(struct config *c, const struct section *s, const char *field);
