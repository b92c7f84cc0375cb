#include "hosts/cli/words.h"

/* %s is what the action is about: the id of a run, most often. */
static const char *const words[ACTION_COUNT] = {
	[ACTION_RESUME] = "`roux resume %s` continues it",
	[ACTION_RERUN] = "`roux rerun %s` does it again",
	[ACTION_APPROVE] = "`roux approve %s` lets it pass",
	[ACTION_DENY] = "`roux deny %s` ends it",
	[ACTION_WAIT] = "wait for it with `roux wait %s`",
	[ACTION_CANCEL] = "end it with `roux cancel %s`",
	[ACTION_KILL] = "`roux kill %s` works regardless",
	[ACTION_END_LEFT] = "`roux kill %s` ends them",
	[ACTION_PRUNE] = "`roux prune %s` deletes it",
	[ACTION_ARCHIVE] = "`roux archive %s` moves all its generations",
	[ACTION_STATUS] = "`roux status %s` says more",
	[ACTION_LOGS] = "`roux logs %s` shows what it printed",
	[ACTION_FOLLOW] = "`roux logs -f %s` shows what it prints",
	[ACTION_MESSAGES] = "`roux messages %s` lists them",
	[ACTION_NODES] = "`roux graph run:%s` shows the nodes",
	[ACTION_NAME_IT] = "or name this one with --as ID",
	[ACTION_OTHER_DIR] = "-C DIR names another directory",
	[ACTION_RERUN_IN_DOUBT] = "then `roux resume %s --in-doubt rerun`",
	[ACTION_NAME_NODE] = "--from NODE names one",
	[ACTION_WRITE_AS_RUN] = "a run writes to others with --from-run",
	[ACTION_LIST_RUNS] = "`roux runs` lists them",
	[ACTION_LIST_PRUNABLE] = "`roux prune` lists runs that could go",
	[ACTION_FORGET_GONE] = "`roux doctor --rebuild` makes a ledger without it",
	[ACTION_REBUILD] = "`roux doctor --rebuild` makes it anew from the run directories",
	[ACTION_LIST_RECIPES] = "`roux list` shows what there is",
	[ACTION_SHOW_ARGUMENTS] = "`roux help %s` lists its arguments",
	[ACTION_DOCTOR] = "`roux doctor` says what to do",
	[ACTION_CHECK] = "`roux check %s` shows the place",
	[ACTION_CHECK_ALL] = "`roux check` shows the place",
	[ACTION_AS_TEMPLATE] = "--template takes it as a template of one word",
	[ACTION_READ_PIPE] = "a template can be read from a pipe: `roux run -`",
	[ACTION_OLD_DIALECT] = "--dialect 0.9 reads the old form",
	[ACTION_STEP_KEYS] = "`roux schema steps` has all keys",
	[ACTION_SET_VARIABLE] = "--env NAME=VALUE sets a variable",
	[ACTION_GIVE_COLLECTION] = "--collection %s=DIR does it for one run",
	[ACTION_ADD_TOOL] = "use `roux tool add`",
	[ACTION_UPDATE_TOOL] = "use `roux tool update`",
	[ACTION_LIST_TOOLS] = "`roux tool list` shows them",
	[ACTION_TRUST] = "`roux trust %s` lets them",
	[ACTION_INIT_PROJECT] = "`roux init project` makes one",
	[ACTION_INIT] = "`roux init` writes a first configuration for the agents that it finds",
	[ACTION_LIST_AGENTS] = "`roux agents` lists those that there are",
	[ACTION_GIVE_AGENT] = "--agent '%s=COMMAND' gives one for a run",
	[ACTION_CHOOSE_AGENT] = "--agent NAME chooses another",
	[ACTION_GIVE_MODEL] = "--model NAME gives one",
	[ACTION_PLACEHOLDERS] = "`roux help prompt` lists the names",
};

void cli_action(struct buf *b, const struct issue_action *a)
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
