#pragma once

#include "graph/graph.h"

/* Adds warnings for shapes that deserve a second look: shells, eval flags, removal and copying over
 * broad or computed paths, values pasted into code, retries that never happen. They inform and
 * never block. `whole`: nothing is missing from the graph because of a mistake in it. */
void risk_warn(struct graph *g, bool whole);
