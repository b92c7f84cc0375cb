#pragma once

#include "base/buf.h"

/* The files that have what a run's commands printed: out/PATH.out and out/PATH.err of the run's
 * directory, for the second execution of a path out/PATH.a2.out. A path that is too long for the
 * name of a file stands there as its SHA-256. */
#define OUTPUTS_DIR "out"

/* The name below out/. `number` is the number of the execution: `a` of leaves.jsonl. */
void output_name(struct buf *b, struct str path, uint64_t number, bool err);
/* The same below the run's directory, "out/1.0.a2.err", for a path that was read from a file of the
 * run: false, and nothing is added, when it is not made of what paths are made of. */
bool output_file(struct buf *b, struct str path, uint64_t number, bool err);
