#include "hosts/mcp/words.h"

/* %s is what the action is about. What a client cannot do, a person can. */
static const char *const words[ACTION_COUNT] = {
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

void mcp_action(struct buf *b, const struct issue_action *a)
{
	struct str text = str_of(words[a->what]);
	size_t at = 0;

	while (at + 1 < text.len && !(text.p[at] == '%' && text.p[at + 1] == 's'))
		at++;
	if (at + 1 >= text.len) {
		buf_add(b, text);
		return;
	}
	buf_add(b, str_sub(text, 0, at));
	buf_add(b, a->about);
	buf_add(b, str_from(text, at + 2));
}
