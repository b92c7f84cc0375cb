#pragma once

#include "data/json.h"

struct bridge;

/* What `status --json` prints: a new reference. Also for a bridge that this process is not. */
json_t *bridge_status(struct bridge *b);
/* The running bridge writes down how it is, for `status` of other processes. */
void bridge_status_write(struct bridge *b);
