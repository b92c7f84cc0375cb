#pragma once

#include "engine/run.h"

struct launch;
struct mask;

/* A run in this process, as those see it who write it down and tell how it ended. Everything is
 * borrowed from the handle that has it. */
struct execution {
	struct run *run;
	struct plan *plan;
	const struct launch *launch; /* of a recorded run; NULL: nothing is written down */
	struct mask *mask;           /* texts that are not shown; NULL: none */
	const json_t *artifacts;     /* name → path; NULL: none */
	const char *id;              /* NULL: it has none */
	bool input_cut; /* its end: what was cut short reads an input that is not kept */
};
