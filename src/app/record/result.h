#pragma once

#include "app/record/execution.h"
#include "base/buf.h"

/* What a run in this process came to. */

/* The result document (docs/reference.md, "The result document"), with a newline. With `fd` >= 0 it
 * is written there in pieces, so that a hundred thousand branches need no memory; else into `b`.
 * *status is the one it names: failed when the output could not be kept. */
int result_document(const struct execution *x, struct buf *b, int fd, enum roux_status *status);
/* The same for the run's directory, with the file that has the output in place of it. */
struct result_end {
	struct str stdout_path; /* the file that has the output */
	uint64_t ended_ms;
	enum roux_status
		status; /* another than the run's own when something could not be written */
	struct str why; /* … and what; empty: all was */
};
void result_record(const struct execution *x, const struct result_end *end, struct buf *b);
/* The same without lists that can be long, for a disk that has room for little. */
void result_short(const struct execution *x, const struct result_end *end, struct buf *b);
/* What of it a person is shown: run_summary() of runs.h. */
json_t *result_summary(const struct execution *x);
/* What a command that waits for it ends with, as far as its options say nothing else. */
int result_exit(const struct run_result *res);
/* The primary output, byte for byte. -errno. */
int result_write_output(const struct execution *x, int fd);
/* Whether the primary output is empty or ends with a newline. */
bool result_ends_line(const struct execution *x);
