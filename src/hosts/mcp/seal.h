#pragma once

#include "hosts/mcp/server.h"

/* What is handed to a client and comes back, with a sum that only we can make. */

/* A place in a list. `list` is the name of the list. */
void seal_cursor(
	const struct mcp *m, const char *list, uint64_t at, uint64_t generation, struct buf *b);
/* False: it is not one of ours, or the list has changed since. */
bool seal_cursor_open(const struct mcp *m, const char *list, struct str text, uint64_t generation,
	uint64_t *ret_at);

/* A document for any server of the same user: the key is in the state root. False with an issue: it
 * cannot be read or made. */
bool seal_state(struct mcp *m, const json_t *payload, struct buf *b, struct report *r);
/* The document: a new reference. NULL: it is not one of ours, or with an issue as above. */
json_t *seal_state_open(struct mcp *m, struct str text, struct report *r);
