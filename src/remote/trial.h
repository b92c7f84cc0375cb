#pragma once

#include "remote/table.h"

struct loop;

/* Tries an executor, hop by hop: what of it works, and which hop does not. */

struct trial_options {
	struct loop *loop;
	struct table *table;  /* taken */
	struct str state_dir; /* where runs and the copy of this program are */
	struct str cwd;
	bool submits; /* one worker of a minute is asked for, used and ended */
};

/* One hop: its name, whether it works, and what was found, for people. */
typedef void trial_fn(void *data, const char *hop, bool ok, struct str text);

/* Returns when nothing is left of it. Hops behind one that does not work are not tried when they
 * need it. */
void trial_run(const struct trial_options *o, trial_fn *tell, void *data);
