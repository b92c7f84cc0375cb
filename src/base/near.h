#pragma once

#include "base/str.h"

/* "Did you mean …?": offer every candidate, then ask for the best. */
struct near {
	struct str wanted, best;
	size_t distance; /* SIZE_MAX: none yet */
};

struct near near_to(struct str wanted);
void near_offer(struct near *n, struct str candidate);
/* The nearest candidate, or empty when none is near enough to be a slip of the fingers. */
struct str near_best(const struct near *n);
