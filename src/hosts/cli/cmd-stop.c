/* Commands that end a run: cancel, kill. */
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct stop_opts {
	uint64_t grace_ms;
	bool graceful;
	struct common_opts common;
};

enum { GRACE_OF_RUN = UINT32_MAX, GRACE_MAX = 86400000 };

static const struct stop_opts defaults = { .grace_ms = GRACE_OF_RUN };

static int stop(struct cli *cli, const struct stop_opts *o, const char *word, enum run_order order)
{
	int grace = o->grace_ms == GRACE_OF_RUN ? -1 : (int)o->grace_ms;
	AUTO_BUF text = BUF_INIT;
	int status;
	AUTO_RUN *run = run_operand(cli, &o->common, word, &status);

	if (!run)
		return status;
	if (!run_end(run, order, grace, &cli->report))
		return cli_refuse(cli, o->common.json);
	struct str now = run_status_word(run);
	if (o->common.json)
		return cli_print_json(json_pack("{s:b, s:o, s:o}", "ok", 1, "status",
			json_from_str(now), "run", json_from_str(run_id(run))));
	buf_printf(&text, "run '%.*s': %.*s\n", STR(run_id(run)), STR(now));
	cli_say(buf_str(&text));
	return 0;
}

/* -- cancel --------------------------------------------------------------------------------------
 */

static const struct opt cancel_opts[] = {
	OPT_NUMBER(0, "grace", "MS", struct stop_opts, grace_ms, 0, GRACE_MAX,
		"time between TERM and KILL (default: that of the run, 5000)"),
	OPT_FLAG(0, "graceful", struct stop_opts, graceful,
		"let running commands finish, start no more"),
};

static const struct opt_set cancel_sets[] = {
	OPT_SET("Options", cancel_opts),
	COMMON_SET(struct stop_opts),
};

static int run_cancel(const struct call *call)
{
	const struct stop_opts *o = call->opts;

	return stop(call->host, o, call->words[0], o->graceful ? RUN_FINISH : RUN_CANCEL);
}

static const struct command_example cancel_examples[] = {
	{ "roux cancel review", "TERM, and KILL after five seconds" },
	{ "roux cancel --graceful review", "after the commands that run now" },
};

const struct command cmd_cancel = {
	.name = "cancel",
	.operands = "RUN",
	.summary = "end a run and everything it started",
	.details =
		"Returns when nothing of it is left, on the nodes of a batch system too, where a "
		"driver that was killed leaves jobs. `roux resume RUN` continues where it was.",
	EXAMPLES(cancel_examples),
	SETS(cancel_sets, struct stop_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_cancel,
};

/* -- kill ----------------------------------------------------------------------------------------
 */

static int run_kill(const struct call *call)
{

	return stop(call->host, call->opts, call->words[0], RUN_KILL);
}

static const struct command_example kill_examples[] = {
	{ "roux kill review", "without any time to clean up" },
};

const struct command cmd_kill = {
	.name = "kill",
	.operands = "RUN",
	.summary = "kill a run and everything it started, immediately",
	.details =
		"Its commands get no time to clean up: `roux cancel RUN` is kinder. Returns when "
		"nothing of it is left.",
	EXAMPLES(kill_examples),
	ONLY_COMMON(struct stop_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_kill,
};
