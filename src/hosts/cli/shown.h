#pragma once

#include "app/runs.h"

/* What a run came to, for people, and as an exit status. */

/* Failures, warnings and the last word: what `roux run` and `roux wait` print on standard error. */
void shown_result(struct run_handle *h, struct buf *b);
/* `strict` counts tolerated failures, `tolerate` forgives the others. */
int shown_exit(struct run_handle *h, bool strict, bool tolerate);
/* The status document as `roux status` prints it. */
void shown_status(const json_t *document, struct buf *b);
