#pragma once

#include "cmdline/command.h"

/* One table a command, next to the code that means it. */
extern const struct command cmd_exec, cmd_plan, cmd_check, cmd_graph, cmd_schema, cmd_completion,
	cmd_version, cmd_help, cmd_debug, cmd_run, cmd_list, cmd_show, cmd_doctor, cmd_tool,
	cmd_complete, cmd_supervise;
