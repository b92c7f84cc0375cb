#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/str.h"

/* One input; what libFuzzer calls, and replay.c where there is none. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Checked in every build: an invariant that does not hold is a crash to be found. */
#define HOLDS(what)              \
	do {                     \
		if (!(what))     \
			abort(); \
	} while (0)

static inline struct str fuzz_str(const uint8_t *data, size_t size)
{
	return (struct str){ (const char *)data, size };
}

/* The input up to the first byte 0x1e; what follows it stays in `rest`. */
static inline struct str fuzz_first(struct str *rest)
{
	size_t end = str_find(*rest, '\x1e', 0);
	struct str first = str_sub(*rest, 0, end);

	*rest = end < rest->len ? str_from(*rest, end + 1) : str_sub(*rest, end, 0);
	return first;
}
