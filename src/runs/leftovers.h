#pragma once

#include "base/str.h"
#include "base/vec.h"
#include "runs/identity.h"

/* Processes of a run whose supervisor was killed: those that carry its name in their environment
 * and began after it (async-runs.md section 13). */
typedef VEC(struct identity) identity_list;

/* `generation` may be empty: any. `since_ms` is when the run started. */
void leftovers_find(struct str id, struct str generation, uint64_t since_ms, identity_list *ret);
/* Ends them, and what they leave behind, with SIGKILL; waits until they are gone. Returns how many
 * there were. */
size_t leftovers_end(struct str id, struct str generation, uint64_t since_ms);
