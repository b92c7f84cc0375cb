#include "base/near.h"

#include "base/lang.h"

enum { NEAR_MAX = 64 };

/* Edit distance where swapping neighbours counts as one slip. */
static size_t distance(struct str a, struct str b)
{
	size_t rows[3][NEAR_MAX + 1];
	size_t *before = rows[0], *last = rows[1], *now = rows[2];

	for (size_t j = 0; j <= b.len; j++)
		last[j] = j;
	for (size_t i = 1; i <= a.len; i++) {
		now[0] = i;
		for (size_t j = 1; j <= b.len; j++) {
			size_t change = last[j - 1] + (a.p[i - 1] != b.p[j - 1]);

			now[j] = MIN(change, MIN(last[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a.p[i - 1] == b.p[j - 2] && a.p[i - 2] == b.p[j - 1])
				now[j] = MIN(now[j], before[j - 2] + 1);
		}
		size_t *t = before;
		before = last;
		last = now;
		now = t;
	}
	return last[b.len];
}

/* How many slips are still of the fingers: a short word is near to too many others. */
static size_t allowed(const struct near *n)
{
	return n->wanted.len < 6 ? 1 : n->wanted.len < 7 ? 2 : 3;
}

struct near near_to(struct str wanted)
{
	return (struct near){ .wanted = wanted, .distance = SIZE_MAX };
}

void near_offer(struct near *n, struct str candidate)
{
	if (n->wanted.len > NEAR_MAX || candidate.len > NEAR_MAX || !candidate.len)
		return;
	size_t d = distance(n->wanted, candidate);
	/* Something typed whole at the beginning is just near enough. */
	if (n->wanted.len > 3 && str_starts(candidate, n->wanted))
		d = MIN(d, allowed(n));
	if (str_eq_nocase(candidate, n->wanted))
		d = MIN(d, 1);
	if (d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}

struct str near_best(const struct near *n)
{
	return n->distance <= allowed(n) && n->distance < n->wanted.len ? n->best : S("");
}
