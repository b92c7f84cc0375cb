#pragma once

#include "base/arena.h"
#include "base/report.h"

/* Where runs live: the state root (product.md, "Where things live") and below it runs/ID. */

/* $ROUX_STATE_DIR, else AGENT_DIRECTORY/roux. */
struct str runs_root(struct arena *a, struct str agent_dir);
struct str run_directory(struct arena *a, struct str root, struct str id);
/* DIR/NAME as a C string in the arena. */
const char *run_file(struct arena *a, struct str dir, const char *name);

/* Whether `id` may name a run (async-runs.md section 2). False with an issue added. */
bool run_id_check(const char *id, struct report *r);
/* NAME-TIME-RANDOM, of the characters that an id may have. */
struct str run_id_make(struct arena *a, struct str name);
/* NAME alone, of those characters: for a detached start. */
struct str run_id_plain(struct arena *a, struct str name);
/* The id of a RUN operand: ID or run:ID. */
struct str run_id_of(struct str operand);

/* The supervisor's lock, DIR/.alive, held for its whole life: "is it alive?" is a lock test.
 * *ret_fd is closed on exec; it may be handed to the process that becomes the supervisor. -EAGAIN:
 * somebody has it. -errno. */
int run_lock(const char *dir, int *ret_fd);
/* Whether somebody holds it. No directory, no lock file: nobody. */
bool run_locked(const char *dir);
/* Blocks until nobody holds it, without using the processor. */
void run_unlocked_wait(const char *dir);
