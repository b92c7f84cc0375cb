#pragma once

#include "base/arena.h"
#include "base/report.h"

/* The directory of a run: where it is, which names it may have, and the lock that its supervisor
 * holds. All are below the state root (docs/reference.md, "Files") as runs/ID. */

/* The largest file of a run's directory that is read into memory: graph.json, run.json … */
enum { RUN_FILE_MAX = 512 << 20 };
/* In the place of a run that was archived. */
#define TOMBSTONE_FILE "archive-tombstone.json"

/* $ROUX_STATE_DIR, else AGENT_DIRECTORY/roux. */
struct str runs_root(struct arena *a, struct str agent_dir);
/* Makes ROOT and ROOT/runs, 0700, when they are not there. -errno. */
int runs_make(struct str root);
struct str run_directory(struct arena *a, struct str root, struct str id);
/* DIR/NAME as a C string in the arena. */
const char *run_file(struct arena *a, struct str dir, const char *name);

/* Whether `id` may name a run (docs/runs.md, "Names of runs"). False with an issue added. */
bool run_id_check(struct str id, struct report *r);
/* NAME-TIME-RANDOM, of the characters that an id may have. */
struct str run_id_make(struct arena *a, struct str name);
/* NAME alone, of those characters: for a detached start. */
struct str run_id_plain(struct arena *a, struct str name);
/* The id of a RUN operand: ID or run:ID. */
struct str run_id_of(struct str operand);

/* The supervisor's lock, DIR/.alive, held for its whole life: "is it alive?" is a lock test.
 * *ret_fd is closed on exec; it may be handed to the process that becomes the supervisor. -EAGAIN:
 * another process has it. -errno. */
int run_lock(const char *dir, int *ret_fd);
/* 1: a process holds it, 0: none does, and none does without a directory or a lock file. -errno: it
 * cannot be found out. */
int run_lock_state(const char *dir);
/* Whether a process holds it, or may hold it. */
bool run_locked(const char *dir);
/* A run may begin before the ledger knows of it: its lock file says so, in the run's own directory,
 * until it does. A process that finds the directory before may enter it. This takes the lock of a
 * directory that the caller has just made, and says so; *ret_dir is the directory. -errno: there is
 * no lock file. */
int run_lock_new(const char *dir, int *ret_dir, int *ret_lock);
bool run_is_unlisted(const char *dir);
/* The ledger knows of it now. */
void run_set_listed(int lock);
/* The same by a process that does not hold the lock, of an ended run. */
void run_listed(const char *dir);
/* Blocks until no process holds it, without using the processor. */
void run_unlocked_wait(const char *dir);
