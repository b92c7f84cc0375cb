#pragma once

#include "remote/table.h"
#include "runs/look/look.h"

/* Jobs of a batch system that the dead driver of a run has left. */

/* A run may have two executors: the one that it has, and the one that it had before. */
enum { LEFT_EXECUTORS = 2 };
/* One of them; NULL: there is none, or with issues. table_free(). */
struct table *left_table(const struct run_look *look, size_t which, struct report *r);
/* How many workers of it may still live. */
size_t left_jobs_of(const struct run_look *look, size_t which);
/* Whether the driver of a run of another host, whose lock is not seen here, beats there: that takes
 * up to a minute. False: it does not, or the run is of this host. */
bool left_driver_beats(const struct run_look *look);
/* How many workers may still live; 0: its driver is not dead, or its commands ran here. */
size_t left_jobs(const struct run_look *look);
/* Deletes the exchanges of a run that is deleted where they are outside its directory. */
void left_delete_outside(const struct run_look *look, struct report *r);
