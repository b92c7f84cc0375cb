#include "http/rate.h"

#include "base/lang.h"

bool rate_take(struct rate *r, uint64_t now_ms, double per_second, double burst)
{
	if (!r->filled_ms)
		r->left = burst;
	else
		r->left += (double)(now_ms - r->filled_ms) * per_second / 1000;
	r->left = MIN(r->left, burst);
	r->filled_ms = now_ms;
	if (r->left < 1)
		return false;
	r->left -= 1;
	return true;
}

enum { MINUTE_MS = 60000, DELAY_MS = 1000 };

uint64_t wrong_secret_add(struct wrong_secrets *f, uint64_t now_ms)
{
	uint64_t oldest = f->at[f->next];

	f->at[f->next] = now_ms;
	f->next = (f->next + 1) % ARRAY_SIZE(f->at);
	return oldest && now_ms - oldest < MINUTE_MS ? DELAY_MS : 0;
}
