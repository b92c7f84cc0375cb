#include "app/runs.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"

/* What a detached start executes. */
static int supervise(const struct call *call)
{

	return app_supervise(
		cli_app(call->host), call->words[0], call->count > 1 ? call->words[1] : NULL);
}

const struct command cmd_supervise = {
	.name = "supervise",
	.summary = "run what a detached start has prepared",
	.hidden = true,
	.operands = "DIR [resume|apart]",
	.min_operands = 1,
	.max_operands = 2,
	.run = supervise,
};
