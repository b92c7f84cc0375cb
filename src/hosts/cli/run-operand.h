#pragma once

#include "app/runs.h"
#include "hosts/cli/cli.h"

/* Commands about a run: the run is found, and whatever forbids the command is answered for. */
struct run_operand {
	struct runs runs;
	struct run_look look;
};

#define AUTO_RUN __attribute__((cleanup(run_operand_done))) struct run_operand

/* False: the answer has been given and *status is the exit status. */
bool run_operand_find(struct cli *cli, const struct common_opts *o, const char *word,
	struct run_operand *ret, int *status);
void run_operand_done(struct run_operand *run);

/* Answers that the state forbids it: of the last error of the report. */
int cli_forbid(struct cli *cli, bool json, struct str run, const char *reason);
/* Tells warnings on standard error; they stop nothing. */
void cli_warn(struct cli *cli);

/* The same in two steps, for a command that has entered its directory and whose operand may be
 * something else as well. *reason is for the second, which answers and returns the exit status. */
bool run_operand(struct cli *cli, const char *word, struct run_look *ret, const char **reason);
int run_operand_refuse(struct cli *cli, bool json, const char *word, const char *reason);

/* The output and the last word of an ended run, or its document. Returns 0, or an exit status when
 * it could not be told. */
int run_answer(struct cli *cli, const struct run_look *look, bool json, bool quiet);
