#pragma once

#include "app/past/find.h"

/* Ended runs, answered for from their directory as if they had just been run. */

/* The result document with the output as far as a document can hold it, with a newline. -errno when
 * the output cannot be read. */
int told_result(const struct run_look *look, struct buf *b);
/* The sentence about the denial of a run that was denied, without its secrets: a new reference. */
json_t *told_denial(const struct run_look *look);
/* Sets "failed", "tolerated" and "exit" (null: it has not ended) in a document about the run. */
void told_counts(const struct run_look *look, json_t *document);
/* run_summary() of runs.h. */
json_t *told_summary(const struct run_look *look);
/* The status as the enum has it; ROUX_EXITED when the word is not known. */
enum roux_status told_status(const struct run_look *look);

/* The failures of a run that has no result, without the text of its secrets: a new reference, an
 * array. *ret_total counts all of them. */
json_t *told_failures(const struct run_look *look, uint64_t *ret_total);
