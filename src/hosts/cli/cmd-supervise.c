#include "app/runs.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"

/* What a detached start executes. */
static int supervise(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	(void)c;
	(void)opts;
	return app_supervise(cli_app(host), words[0], count > 1 ? words[1] : NULL);
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
