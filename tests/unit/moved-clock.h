#pragma once

/* A clock that the test moves: the build wraps clock_mono_ms() for those that include this. */
#include "base/clock.h"

static uint64_t clock_moved;

uint64_t __real_clock_mono_ms(void);
uint64_t __wrap_clock_mono_ms(void);
uint64_t __wrap_clock_mono_ms(void)
{
	return __real_clock_mono_ms() + clock_moved;
}
