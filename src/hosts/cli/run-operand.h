#pragma once

#include "app/runs.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/ending.h"

/* Commands about a run. */

static inline void close_run(struct run_handle **h)
{
	run_close(*h);
}
#define AUTO_RUN __attribute__((cleanup(close_run))) struct run_handle

/* The run that a word names, after -C was followed. NULL: the answer has been given and *status is
 * the exit status. */
struct run_handle *run_operand(
	struct cli *cli, const struct common_opts *o, const char *word, int *status);

/* Tells warnings on standard error; they stop nothing. */
void cli_warn(struct cli *cli);
/* A document with a newline; takes the reference. Returns the exit status. */
int cli_print_json(json_t *document);
/* The output and the last word of an ended run, or its document. Returns 0, or an exit status when
 * it could not be told. */
int run_answer(struct cli *cli, struct run_handle *h, const struct ending_options *o, bool json,
	bool silent);
/* The same of a run that a resume has found complete: its failures are not told as if they were
 * new. */
int run_answer_again(struct cli *cli, struct run_handle *h, bool json, bool silent);
/* The output to standard output; on a terminal it ends with a line end. -errno. */
int run_output_show(struct run_handle *h);
