#pragma once

#include <stdint.h>

/* Deletes what atomic_write() has left in a directory: partial files, whose writers were killed
 * before they could rename them. Only those that have not been written for `idle_ms`; 0 is for a
 * caller that holds the run's lock. */
void partial_files_remove(const char *dir, uint64_t idle_ms);
