#pragma once

#include <stddef.h>

#include "base/str.h"

/*
 * A line that roux has written itself, read into a struct by a table of its members and without a
 * tree: records are read as often as commands end, and a tree of each was a third of what that
 * cost. Members without spaces between them, known names, strings of plain ASCII or null, numbers
 * that are not negative, flags that are true. Anything else is refused and left to a reader of
 * JSON, so that both always agree.
 */
enum plain_type { PLAIN_STRING, PLAIN_NUMBER, PLAIN_FLAG, PLAIN_OBJECT };

struct plain_object;

struct plain_member {
	struct str name;
	enum plain_type type;
	size_t at;                         /* in the struct: a struct str, a uint64_t, or a bool */
	const struct plain_object *object; /* … that tells whether it is there; its members too */
};

struct plain_object {
	const struct plain_member *members;
	size_t count;
};

#define PLAIN_MEMBER(struct_type, text, type, of)                                 \
	{                                                                         \
		{ text, sizeof(text) - 1 }, type, offsetof(struct_type, of), NULL \
	}
#define PLAIN_INNER(struct_type, text, of, inner)                                          \
	{                                                                                  \
		{ text, sizeof(text) - 1 }, PLAIN_OBJECT, offsetof(struct_type, of), inner \
	}

/* Takes one object from `rest`. Texts are borrowed. On failure part of `to` may have been set. */
bool json_plain_take(struct str *rest, const struct plain_object *object, void *to);
