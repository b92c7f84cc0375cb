/* Commands that put ended runs away: archive, prune. */
#include "app/retire.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct retire_opts {
	bool preserve, yes;
	struct common_opts common;
};

static void add_answer(struct buf *b, const struct run_look *look)
{
	buf_adds(b, "{\"ok\":true,\"status\":");
	json_write_str(b, look->status);
	buf_adds(b, ",\"run\":");
	json_write_str(b, look->id);
}

/* -- archive -------------------------------------------------------------------------------------
 */

static const struct opt_set archive_sets[] = {
	COMMON_SET(struct retire_opts),
};

static int run_archive(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct retire_opts *o = opts;
	AUTO_RUN run = { 0 };
	AUTO_BUF text = BUF_INIT;
	const char *reason;
	struct str path;
	int status;

	(void)c;
	(void)count;
	if (!run_operand_find(cli, &o->common, words[0], &run, &status))
		return status;
	if (!retire_archive(&run.runs, &run.look, &path, &reason, &cli->report))
		return cli_forbid(cli, o->common.json, run.look.id, reason);
	cli_warn(cli);
	if (!o->common.json) {
		buf_printf(&text, "%.*s\n", STR(path));
		return cli_print(buf_str(&text));
	}
	add_answer(&text, &run.look);
	buf_adds(&text, ",\"path\":");
	json_write_str(&text, path);
	buf_adds(&text, "}\n");
	return cli_print(buf_str(&text));
}

static const struct command_example archive_examples[] = {
	{ "roux archive review", "out of the list, not out of the world" },
};

const struct command cmd_archive = {
	.name = "archive",
	.operands = "RUN",
	.summary = "move an ended run out of the list",
	.details = "Its directory moves to archived/ beside the run directories, and the new place "
		   "is printed. The id is free again.",
	.examples = archive_examples,
	.example_count = ARRAY_SIZE(archive_examples),
	.sets = archive_sets,
	.set_count = ARRAY_SIZE(archive_sets),
	.options_size = sizeof(struct retire_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_archive,
};

/* -- prune ---------------------------------------------------------------------------------------
 */

static const struct opt prune_opts[] = {
	OPT_FLAG(0, "preserve-artifacts", struct retire_opts, preserve,
		"first copy its artifacts to preserved-artifacts/"),
	OPT_FLAG(0, "yes", struct retire_opts, yes, "without RUN: delete what is listed"),
};

static const struct opt_set prune_sets[] = {
	OPT_SET("Options", prune_opts),
	COMMON_SET(struct retire_opts),
};

static int prune_due(struct cli *cli, const struct retire_opts *o)
{
	AUTO_BUF text = BUF_INIT;
	struct runs runs;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	if (o->preserve) {
		report_error(&cli->report, (struct where){ 0 },
			"--preserve-artifacts needs the run that it is about");
		report_hint(&cli->report, "roux prune RUN --preserve-artifacts");
		return cli_refuse(cli, o->common.json);
	}
	runs_open(&runs, &cli->arena, &cli->report);
	bool ok = retire_due(&runs, o->yes, o->common.json, &text, &cli->report);
	runs_close(&runs);
	cli_warn(cli);
	if (!ok)
		return cli_refuse(cli, o->common.json);
	return cli_print(buf_str(&text));
}

static int prune_answer(const struct run_look *look, const json_t *preserved, bool json)
{
	AUTO_BUF text = BUF_INIT;
	const char *name;
	json_t *path;

	if (json) {
		add_answer(&text, look);
		buf_adds(&text, ",\"preserved\":");
		if (preserved)
			json_write(&text, preserved, 0);
		else
			buf_adds(&text, "{}");
		buf_adds(&text, "}\n");
		return cli_print(buf_str(&text));
	}
	json_object_foreach((json_t *)preserved, name, path)
		buf_printf(&text, "%s: %s\n", name, json_string_value(path));
	return cli_print(buf_str(&text));
}

static int run_prune(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct retire_opts *o = opts;
	AUTO_RUN run = { 0 };
	json_t *preserved = NULL;
	const char *reason;
	int status;

	(void)c;
	if (!count)
		return prune_due(cli, o);
	if (!run_operand_find(cli, &o->common, words[0], &run, &status))
		return status;
	if (!retire_prune(&run.runs, &run.look, o->preserve, &preserved, &reason, &cli->report))
		return cli_forbid(cli, o->common.json, run.look.id, reason);
	status = prune_answer(&run.look, preserved, o->common.json);
	json_decref(preserved);
	return status;
}

static const struct command_example prune_examples[] = {
	{ "roux prune review --preserve-artifacts", "keep what it made, delete the rest" },
	{ "roux prune", "what the limits in [retention] would delete" },
	{ "roux prune --yes", "delete that" },
};

const struct command cmd_prune = {
	.name = "prune",
	.operands = "[RUN]",
	.summary = "delete an ended run, or those past the limits",
	.details = "Without RUN it lists what max_age_days and max_runs under [retention] in the "
		   "settings would delete: runs that are done, partial or cancelled. Nothing is "
		   "deleted "
		   "before --yes.",
	.examples = prune_examples,
	.example_count = ARRAY_SIZE(prune_examples),
	.sets = prune_sets,
	.set_count = ARRAY_SIZE(prune_sets),
	.options_size = sizeof(struct retire_opts),
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_prune,
};
