#pragma once

#include "loop/loop.h"
#include "remote/exchange.h"

/* What a worker says, written by a thread of its own: a file system that hangs must not keep the
 * worker from ending its commands. What could not be written is tried again, for as long as the
 * process lives. */
struct writer;

/* `wrote` is called from the loop when lines have been written whose caller had asked for that. The
 * exchange outlives it. NULL: no thread can be had. */
struct writer *writer_new(struct loop *l, const struct exchange *x, const char *name,
	void (*wrote)(void *data), void *data);
/* Lines, together one write. `sync`: they are on the disk before the next ones are written.
 * `tell`: `wrote` is called. */
void writer_add(struct writer *w, struct str lines, bool sync, bool tell);
/* The time of clock_boot_ms() before which everything that was added is on the disk. */
uint64_t writer_synced_ms(struct writer *w);
/* How many bytes, of all that were added, have been written; and are on the disk, where that was
 * asked for. */
uint64_t writer_written(struct writer *w);
/* Waits until everything is written, at most so long. False: it is not. */
bool writer_flush(struct writer *w, uint64_t within_ms);
