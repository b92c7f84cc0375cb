#include "hosts/mcp/words.h"

const action_words mcp_words = {
	[ACTION_RESUME] = "call roux_run_retry with run %s",
	[ACTION_RERUN] = "call roux_run_retry with run %s",
	[ACTION_APPROVE] = "a person approves it: `roux approve %s`",
	[ACTION_DENY] = "a person denies it: `roux deny %s`",
	[ACTION_WAIT] = "call roux_run_wait with run %s",
	[ACTION_CANCEL] = "call roux_run_cancel with run %s",
	[ACTION_STATUS] = "call roux_run_status with run %s",
	[ACTION_LOGS] = "call roux_run_log with run %s",
	[ACTION_FOLLOW] = "call roux_run_log with run %s",
	[ACTION_NODES] = "call roux_run_status with run %s: it lists the steps",
	[ACTION_NAME_NODE] = "name one in `from`",
	[ACTION_LIST_RUNS] = "call roux_runs",
	[ACTION_LIST_RECIPES] = "tools/list has the recipes",
	[ACTION_DOCTOR] = "read the resource roux://doctor",
	[ACTION_SHOW_ARGUMENTS] = "the schema of the tool lists its arguments",
};
