#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/lang.h"

/* A set of characters as sorted borders: it begins at the first, is left at the second, begins
 * again at the third … So a character is inside when an odd number of borders is at or before it.
 */
static inline bool borders_hold(const uint32_t *borders, size_t count, uint32_t c)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (borders[middle] <= c)
			low = middle + 1;
		else
			high = middle;
	}
	return low % 2 == 1;
}

#define BORDERS_HOLD(set, c) borders_hold(set, ARRAY_SIZE(set), c)
