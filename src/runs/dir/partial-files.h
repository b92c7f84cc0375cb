#pragma once

#include <stdint.h>

/* Deletes what atomic_write() has left in a directory: the halves of files whose writer was killed.
 * Only those that nobody has touched for `idle_ms`; 0 is for those who hold the run's lock. */
void partial_files_remove(const char *dir, uint64_t idle_ms);
