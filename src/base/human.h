#pragma once

#include "base/buf.h"

/* Numbers, sizes and the axes of time as people read them. Durations are in clock.h. */

/* "999", "1,234,567". */
void human_number(struct buf *b, uint64_t n);
/* "812 B", "1.4 MiB". */
void human_bytes(struct buf *b, uint64_t n);

/* A round step that gives an axis of so many milliseconds at most `ticks` of them. */
uint64_t human_step(uint64_t total_ms, unsigned ticks);
/* The label of a tick: "0", "20 ms", "1.5 s", "2 min", "2 min 30 s", "3 h", "2 days". */
void human_tick(struct buf *b, uint64_t ms);
