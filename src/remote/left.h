#pragma once

#include "remote/table.h"

/* What can be told about the workers of a run without being its driver. */

/* Where the exchange of a run is, in the arena. */
struct str remote_exchange_path(const struct table *t, struct str run_dir, struct str run,
	struct str generation, struct arena *a);
/* In there: what its workers do, for those who look at the run. */
#define WORKERS_FILE "workers.json"
/* Whether the driver of an exchange lives: looks until it has beaten, or has not for a minute. For
 * where neither its process nor its lock can be seen. */
bool remote_beats(struct str exchange);
/* How many workers of a dead driver may still live; 0: there is no exchange. */
size_t remote_alive(struct str exchange);
