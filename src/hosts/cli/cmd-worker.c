#include "app/worker.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"

struct worker_opts {
	bool start, end;
};

static const struct opt own_opts[] = {
	OPT_FLAG(0, "start", struct worker_opts, start,
		"start it on this machine, in a session of its own, and print HOST:PID"),
	OPT_FLAG(0, "end", struct worker_opts, end,
		"end the one that was started for DIR, and all that it has started here"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
};

static int worker(const struct call *call)
{
	struct cli *cli = call->host;
	const struct worker_opts *o = call->opts;

	if ((o->start && o->end) || call->count != (o->start ? 2 : 1)) {
		report_error(&cli->report, (struct where){ 0 }, "roux worker takes %s",
			o->start ? "--start HOST DIR" : "DIR");
		report_hint(&cli->report, "executors call it: see docs/cluster.md");
		return cli_refuse(cli, false);
	}
	if (o->start)
		return app_worker_start(call->words[0], call->words[1]);
	return o->end ? app_worker_end(call->words[0]) : app_worker(call->words[0]);
}

const struct command cmd_worker = {
	.name = "worker",
	.summary = "run commands of a run in an allocation of a batch system",
	.details = "A batch system starts it on one of its nodes; DIR is its directory in the "
		   "exchange of "
		   "the run. It takes commands from the run until there are none or its time is "
		   "over.\n\n"
		   "On machines without a batch system ssh executes it with --start and --end.\n\n"
		   "Exit status: 0 when it could say that it leaves, 1 otherwise.",
	.hidden = true,
	.operands = "[HOST] DIR",
	SETS(sets, struct worker_opts),
	.min_operands = 1,
	.max_operands = 2,
	.run = worker,
};
