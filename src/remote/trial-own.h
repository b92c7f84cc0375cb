#pragma once

#include "remote/trial.h"

/* What can be looked at without asking for an allocation. False: it makes no sense to ask. */
bool trial_look(const struct trial_options *o, trial_fn *tell, void *data);
