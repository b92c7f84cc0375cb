#pragma once

#include "runs/ledger/ledger.h"

/* How many commands of a run ended as failures. This is the one place that answers; what a list, a
 * status, a report and a result say comes from a row that was filled here or by the run itself. */

/* Fills failed, tolerated and exit of a row that has its status, from the result document. One of a
 * version that did not count is counted as far as it lists its failures. */
void counts_of_result(const json_t *result, struct run_row *row);
/* The same of a run that left no result, from its events: commands whose last attempt failed before
 * the run's end was asked for, but for those that a resume has taken back. -errno: there may be
 * more of them. */
int counts_of_events(const char *dir, struct run_row *row);
/* How many have ended since the run was last taken up, from its events, or are recorded, when that
 * is more: what progress.json calls completed. 1; 0: it has no events. -errno. */
int counts_ended(const char *dir, uint64_t *ret);
/* Of a run that is under way, from progress.json, which lags a little behind. It has no exit yet.
 */
void counts_of_progress(const json_t *progress, struct run_row *row);
