#include "hosts/cli/run-operand.h"

#include "runs/dir/run-dir.h"

void cli_warn(struct cli *cli)
{
	AUTO_BUF text = BUF_INIT;

	report_text(&cli->report, 1 << ISSUE_WARNING, &text);
	cli_say(buf_str(&text));
}

int cli_forbid(struct cli *cli, bool json, struct str run, const char *reason)
{
	AUTO_BUF text = BUF_INIT;

	if (!reason || report_has_system(&cli->report))
		return cli_refuse(cli, json);
	if (!json)
		return cli_refuse(cli, false);
	runs_refusal(run, reason, &cli->report, &text);
	(void)cli_print(buf_str(&text));
	return 2;
}

static bool find(struct cli *cli, struct runs *runs, const char *word, struct run_look *ret,
	const char **reason)
{
	runs_open(runs, &cli->arena, &cli->report);
	bool found = runs_find(runs, word, ret, reason, &cli->report);
	cli_warn(cli);
	return found;
}

bool run_operand(struct cli *cli, const char *word, struct run_look *ret, const char **reason)
{
	struct runs runs;
	bool found = find(cli, &runs, word, ret, reason);

	runs_close(&runs);
	return found;
}

int run_operand_refuse(struct cli *cli, bool json, const char *word, const char *reason)
{
	return cli_forbid(cli, json, run_id_of(str_of(word)), reason);
}

bool run_operand_find(struct cli *cli, const struct common_opts *o, const char *word,
	struct run_operand *ret, int *status)
{
	const char *reason = NULL;

	*ret = (struct run_operand){ 0 };
	if (cli_enter(cli, o) && find(cli, &ret->runs, word, &ret->look, &reason))
		return true;
	*status = run_operand_refuse(cli, o->json, word, reason);
	return false;
}

void run_operand_done(struct run_operand *run)
{
	look_done(&run->look);
	runs_close(&run->runs);
}
