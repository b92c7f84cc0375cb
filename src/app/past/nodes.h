#pragma once

#include "app/past/handle.h"

/* NULL: no command of that path has been reached. Lives with the handle. */
const struct past_name *past_name_find(struct run_handle *h, struct str path);

/* How often the command of a path was executed, and the number of the wanted execution, from 1 in
 * the order of their numbers; `wanted` 0: of the last. One that could not be started is among them
 * when it has left why. `number` 0: there is no such execution. -errno: the file cannot be read. */
struct executions {
	uint64_t count, number;
	bool has_out, has_err; /* it has ended, and has printed there */
};
int run_executions(struct run_handle *h, struct str path, uint64_t wanted, struct executions *ret);
