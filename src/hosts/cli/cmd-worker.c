#include "app/worker.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"

static int worker(const struct call *call)
{
	return app_worker(call->words[0]);
}

const struct command cmd_worker = {
	.name = "worker",
	.summary = "run commands of a run in an allocation of a batch system",
	.details = "A batch system starts it on one of its nodes; DIR is its directory in the "
		   "exchange of "
		   "the run. It takes commands from the run until there are none or its time is "
		   "over.\n\n"
		   "Exit status: 0 when it could say that it leaves, 1 otherwise.",
	.hidden = true,
	.operands = "DIR",
	.min_operands = 1,
	.max_operands = 1,
	.run = worker,
};
