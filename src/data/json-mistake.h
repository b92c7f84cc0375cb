#pragma once

#include "base/buf.h"

/* What is wrong with a text that is not JSON, told better than a parser that has to be fast can. */
struct json_mistake {
	size_t offset, length;
	struct buf message, hint; /* the hint may be empty */
};

/* Walks the text. False when the grammar finds nothing: the reader has limits of its own. */
bool json_mistake_find(struct str text, struct json_mistake *ret);
void json_mistake_done(struct json_mistake *m);
