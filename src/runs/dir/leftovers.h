#pragma once

#include <sys/types.h>

#include "base/str.h"
#include "base/vec.h"
#include "runs/dir/identity.h"

/* Processes of a run whose supervisor was killed: those that carry its name in their environment
 * and began after it. */
typedef VEC(struct identity) identity_list;

/* Whether the environment of a process names the run. `generation` may be empty: any. */
bool process_carries(pid_t pid, struct str id, struct str generation);
/* `generation` may be empty: any. `since` is the start time of the supervisor, as struct identity
 * has it: what an earlier supervisor left behind on purpose stays, and clocks that were set do not
 * matter. */
void leftovers_find(struct str id, struct str generation, uint64_t since, identity_list *ret);
/* Ends them, and what they leave behind, with SIGKILL; waits until they are gone. Returns how many
 * there were. */
size_t leftovers_end(struct str id, struct str generation, uint64_t since);
/* The same of what one worker of the run has started on this machine. */
size_t leftovers_end_of_worker(struct str id, struct str generation, uint64_t worker);
