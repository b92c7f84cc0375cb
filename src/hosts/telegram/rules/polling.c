#include "hosts/telegram/rules/polling.h"

void polling_init(struct polling *p, const int64_t *stored, uint64_t stored_ms)
{
	*p = (struct polling){ .synced = stored, .has_last = stored };
	if (stored) {
		p->last = *stored;
		p->last_ms = stored_ms;
	}
}

/* The service keeps updates for a day and may begin to count anew after a week without any. */
static bool silent(const struct polling *p, uint64_t now_ms)
{
	static const uint64_t day_ms = 24u * 60 * 60 * 1000;

	return p->last_ms && now_ms > p->last_ms &&
	       now_ms - p->last_ms > POLL_SILENCE_DAYS * day_ms;
}

struct poll_request polling_request(const struct polling *p, uint64_t now_ms)
{
	if (!p->synced)
		return (struct poll_request){ true, -1, 1, 0 };
	bool offset = p->has_last && !silent(p, now_ms);
	return (struct poll_request){ offset, offset ? p->last + 1 : 0, POLL_LIMIT,
		POLL_TIMEOUT_S };
}

void polling_synced(struct polling *p, const int64_t *newest, uint64_t now_ms)
{
	p->synced = true;
	if (newest) {
		p->has_last = true;
		p->last = *newest;
		p->last_ms = now_ms;
	}
}

bool polling_take(struct polling *p, int64_t id, uint64_t now_ms)
{
	if (p->has_last && id <= p->last && !silent(p, now_ms))
		return false;
	p->has_last = true;
	p->last = id;
	p->last_ms = now_ms;
	return true;
}

bool polling_again(unsigned failures)
{
	return failures < POLL_FAILURES;
}
