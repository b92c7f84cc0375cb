#pragma once

#include <stdint.h>

struct bridge;

/* /compact: runs agent.compact, and nothing is dispatched meanwhile. Called while an update is
 * handled. */
void compact_start(struct bridge *b, int64_t chat, int64_t reply);
