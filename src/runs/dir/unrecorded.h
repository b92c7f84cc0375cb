#pragma once

#include "runs/dir/leaves.h"

/* leaves_read() of a run's own file, for those who decide by it what runs again. The file may have
 * been damaged or lost; then the events may know of commands that have run. Executions of which
 * they tell and the file does not are `unrecorded`. NULL with an issue. */
struct leaves *leaves_of_run(const char *dir, struct report *r);
