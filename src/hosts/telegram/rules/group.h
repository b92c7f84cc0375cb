#pragma once

#include "data/json.h"

/* Messages that belong together: the pictures of an album, and the parts into which a client has
 * cut a long text. Messages are the Bot API's objects. */

enum {
	TEXT_GROUP_UNITS = 3600, /* a shorter text opens no group */
	TEXT_GROUP_MS = 700,
	TEXT_GROUP_STEP = 2, /* how much higher the number of the next part may be */
	ALBUM_MS = 1200,
};

/* Whether it opens a group; *ms is how long that waits for more. */
bool group_opens(const json_t *message, uint64_t *ms);
/* Whether it belongs to the open group whose last message is `last`. One that does not flushes that
 * group first, so that the order of arrival is kept. */
bool group_joins(const json_t *last, const json_t *message, uint64_t *ms);
