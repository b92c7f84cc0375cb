/* Commands that tell about runs: runs, status. */
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct runs_opts {
	struct common_opts common;
};

static const struct opt_set sets[] = {
	COMMON_SET(struct runs_opts),
};

/* -- runs ----------------------------------------------------------------------------------------
 */

static int run_runs(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct runs_opts *o = opts;
	AUTO_BUF text = BUF_INIT;
	struct runs runs;

	(void)c;
	(void)count;
	(void)words;
	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	runs_open(&runs, &cli->arena, &cli->report);
	runs_list(&runs, o->common.json, &text, &cli->report);
	runs_close(&runs);
	cli_warn(cli);
	if (o->common.json && cli->report.errors)
		return cli_refuse(cli, true);
	int printed = cli_print(buf_str(&text));
	return printed || !cli->report.errors ? printed : cli_refuse(cli, false);
}

const struct command cmd_runs = {
	.name = "runs",
	.heading = "Runs",
	.summary = "list the runs, newest first",
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct runs_opts),
	.run = run_runs,
};

/* -- status --------------------------------------------------------------------------------------
 */

static int run_status(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct runs_opts *o = opts;
	AUTO_BUF text = BUF_INIT;
	AUTO_RUN run = { 0 };
	int status;

	(void)c;
	(void)count;
	if (!run_operand_find(cli, &o->common, words[0], &run, &status))
		return status;
	runs_status(&run.look, o->common.json, &text);
	return cli_print(buf_str(&text));
}

static const struct command_example status_examples[] = {
	{ "roux status review", "how far it is, what failed, where its files are" },
	{ "roux status review --json | jq -r .progress.phase", "for a script" },
};

const struct command cmd_status = {
	.name = "status",
	.operands = "RUN",
	.summary = "say how far a run is and what became of it",
	.details = "RUN is the id of a run; `roux runs` lists them. A run whose supervisor was "
		   "killed is told as exited; `roux resume RUN` goes on where it was.",
	.examples = status_examples,
	.example_count = ARRAY_SIZE(status_examples),
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct runs_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_status,
};
