#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"

/* The table of commands, in the order in which help shows them. */
static const struct command *const commands[] = {
	&cmd_run,
	&cmd_exec,
	&cmd_check,
	&cmd_plan,
	&cmd_graph,
	&cmd_list,
	&cmd_show,
	&cmd_tool,
	&cmd_doctor,
	&cmd_completion,
	&cmd_schema,
	&cmd_version,
	&cmd_help,
	&cmd_complete,
	&cmd_supervise,
	&cmd_debug,
};

int main(int argc, char **argv)
{
	return cli_main(commands, ARRAY_SIZE(commands), argc, argv);
}
