#pragma once

#include "data/json.h"

struct bridge;

/* External handlers: programs that see every update before anything is done for it and may keep it
 * to themselves. */

/* Whether one wants to see this update. */
bool external_wanted(struct bridge *b, const json_t *update);
/* Shows it to them, in order; calls route_resume(). */
void external_start(struct bridge *b, const json_t *update);
