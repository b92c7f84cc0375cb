#pragma once

#include "base/buf.h"

/* Durations come from the monotonic clock, times that people read from the real one. */
uint64_t clock_mono_us(void);
uint64_t clock_mono_ms(void);
uint64_t clock_real_ms(void);
/* Since the machine was started, sleep included: the clock of a process's start and of leases. */
uint64_t clock_boot_ms(void);

/* How long ago: 0 for what another thread, or a look that took its time, has seen since `now` was
 * asked for. */
static inline uint64_t clock_since(uint64_t now, uint64_t then)
{
	return now > then ? now - then : 0;
}

/* RFC 3339, UTC, with milliseconds: 2026-11-15T18:42:10.123Z. */
void clock_rfc3339(struct buf *b, uint64_t real_ms);
/* … and back, fractions beyond milliseconds cut off; 0: it is not such a time. */
uint64_t clock_read_rfc3339(struct str s);
/* The time as a part of a name, UTC: 20261115-184210. */
void clock_stamp(struct buf *b, uint64_t real_ms);

/* A duration as people write it: one number and a unit of ms, s, m, h, d: "500ms", "1.5h", "30d".
 * False: it is not one, or longer than a thousand years. */
bool clock_read_duration(struct str s, uint64_t *ret_ms);

/* A duration for people: "8 ms", "3.2 s", "1 min 05 s", "2 h 03 min". */
void clock_duration(struct buf *b, uint64_t ms);
