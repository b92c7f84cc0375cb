#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "prompts/placeholders.h"

/* A command that needs no shell: assignments, then words. */
struct direct_word {
	struct str text;   /* in the arena; an assignment whole: NAME=value */
	size_t begin, end; /* in the command */
	bool assignment;
	size_t name_len;
};

struct direct {
	VEC(struct direct_word) words; /* assignments first */
};

/* False when the command says something that only a shell can do, or that a shell would do
 * otherwise. Its quotes are known to be closed. */
bool direct_read(struct arena *a, struct str command, unsigned kinds,
	const struct placeholder_values *v, struct str home, struct direct *ret);
void direct_done(struct direct *d);
