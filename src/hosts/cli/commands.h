#pragma once

#include "cmdline/command.h"

/* One table a command, next to the code that means it. */
extern const struct command cmd_exec, cmd_plan, cmd_check, cmd_graph, cmd_schema, cmd_completion,
	cmd_version, cmd_help, cmd_debug, cmd_run, cmd_list, cmd_show, cmd_doctor, cmd_tool,
	cmd_complete, cmd_supervise, cmd_resume, cmd_rerun, cmd_approve, cmd_deny, cmd_message,
	cmd_messages, cmd_trust, cmd_worker;
extern const struct command cmd_start, cmd_prompt, cmd_task, cmd_agents, cmd_roles, cmd_contexts,
	cmd_tasks, cmd_init;
extern const struct command cmd_report;
extern const struct command cmd_runs, cmd_status, cmd_logs, cmd_wait, cmd_cancel, cmd_kill,
	cmd_archive, cmd_prune;
