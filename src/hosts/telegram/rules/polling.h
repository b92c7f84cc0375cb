#pragma once

#include "base/str.h"

/* Which updates are asked for next, and what becomes of one that cannot be handled. */

enum {
	POLL_LIMIT = 10,
	POLL_TIMEOUT_S = 30,
	POLL_PAUSE_MS = 3000,  /* after an error */
	POLL_FAILURES = 3,     /* of an update; then it is passed over */
	POLL_SILENCE_DAYS = 6, /* without an update: the service may count anew */
};

struct polling {
	bool synced; /* older traffic has been passed over, or an offset was stored */
	bool has_last;
	int64_t last;     /* the highest update that is in the journal */
	uint64_t last_ms; /* when it came; 0: not known */
};

/* What getUpdates is asked. */
struct poll_request {
	bool has_offset;
	int64_t offset;
	unsigned limit, timeout_s;
};

/* A stored offset is taken up; NULL: there is none, and the first request only finds out what is
 * the newest update, so that old traffic is not executed. */
void polling_init(struct polling *p, const int64_t *stored, uint64_t stored_ms);
struct poll_request polling_request(const struct polling *p, uint64_t now_ms);

/* The answer of the first request of a start without an offset: nothing of it is handled. `newest`
 * may be NULL: there was nothing. */
void polling_synced(struct polling *p, const int64_t *newest, uint64_t now_ms);
/* Whether an update that was received is new; it then counts as seen. */
bool polling_take(struct polling *p, int64_t id, uint64_t now_ms);

/* After so many failures of its handler: tried again, or passed over. */
bool polling_again(unsigned failures);
