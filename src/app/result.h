#pragma once

#include "base/buf.h"
#include "roux/roux.h"

/* What an ended run came to, as every host tells it. */

/* The result document of product.md, with a newline. With `fd` >= 0 it is written there in pieces,
 * so that a hundred thousand branches need no memory; else into `b`. *status is the one it names:
 * failed when the output could not be kept. */
int result_document(struct roux_run *run, struct buf *b, int fd, enum roux_status *status);
/* The same for the run's directory, with the file that has the output in place of it. */
void result_record(struct roux_run *run, struct str stdout_path, uint64_t ended_ms, struct buf *b);
/* The primary output, byte for byte; nothing when the run failed. -errno. */
int result_write_output(struct roux_run *run, int fd);
/* Whether the primary output is empty or ends with a newline. */
bool result_ends_line(struct roux_run *run);
/* For people: every failure that was passed over or ended the run, warnings, and the last word. */
void result_text(struct roux_run *run, struct buf *b);

/* `strict` counts tolerated failures, `tolerate` forgives the others. */
int result_exit(const struct roux_run *run, bool strict, bool tolerate);
