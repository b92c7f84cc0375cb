/* Commands that put ended runs away: archive, prune. */
#include "base/clock.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"

struct retire_opts {
	bool preserve, yes;
	struct common_opts common;
};

/* {"ok","status","run"} of a run that is gone from the list. */
static json_t *answer_of(struct str status, struct str id)
{
	return json_pack("{s:b, s:o, s:o}", "ok", 1, "status", json_from_str(status), "run",
		json_from_str(id));
}

/* -- archive -------------------------------------------------------------------------------------
 */

static int run_archive_command(const struct call *call)
{
	struct cli *cli = call->host;
	const struct retire_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;
	struct str path;
	int status;
	AUTO_RUN *run = run_operand(cli, &o->common, call->words[0], &status);

	if (!run)
		return status;
	if (!run_archive(run, &path, &cli->report))
		return cli_refuse(cli, o->common.json);
	cli_warn(cli);
	if (!o->common.json) {
		buf_printf(&text, "%.*s\n", STR(path));
		return cli_print(buf_str(&text));
	}
	json_t *doc = answer_of(run_status_word(run), run_id(run));
	json_object_set_new(doc, "path", json_from_str(path));
	return cli_print_json(doc);
}

static const struct command_example archive_examples[] = {
	{ "roux archive review", "out of the list; its files are kept" },
};

const struct command cmd_archive = {
	.name = "archive",
	.operands = "RUN",
	.summary = "move an ended run out of the list",
	.details = "Its directory moves to archived/ beside the run directories, and the new place "
		   "is printed. The id is free again.",
	EXAMPLES(archive_examples),
	ONLY_COMMON(struct retire_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_archive_command,
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

struct due {
	json_t *runs;
	struct buf text;
};

static bool add_due(void *data, const struct run_entry *e)
{
	struct due *d = data;
	AUTO_BUF ended = BUF_INIT;

	clock_rfc3339(&ended, e->ended);
	json_array_append_new(d->runs,
		json_pack("{s:o, s:o, s:o}", "run", json_from_str(e->id), "status",
			json_from_str(e->status), "ended", json_from_str(buf_str(&ended))));
	buf_printf(&d->text, "%.*s  %.*s  %s\n", STR(e->id), STR(e->status), buf_cstr(&ended));
	return true;
}

static void tell_due(struct due *d, const struct runs_due *due, bool yes)
{
	size_t count = json_array_size(d->runs);

	if (!due->limited)
		buf_printf(&d->text,
			"Nothing is deleted without a limit: set max_age_days or max_runs under "
			"[retention] in %.*s.\n",
			STR(due->settings_path));
	else if (!count)
		buf_adds(&d->text, "Nothing is past the limits.\n");
	else if (yes)
		buf_printf(&d->text, "%zu run%s deleted.\n", due->deleted,
			due->deleted == 1 ? "" : "s");
	else
		buf_printf(&d->text, "%zu run%s past the limits; `roux prune --yes` deletes %s.\n",
			count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
}

static int prune_due(struct cli *cli, const struct retire_opts *o)
{
	struct due d = { .runs = json_array() };
	struct runs_due due;
	int status;

	if (o->preserve) {
		report_error(&cli->report, (struct where){ 0 },
			"--preserve-artifacts needs the run that it is about");
		report_hint(&cli->report, "roux prune RUN --preserve-artifacts");
	}
	bool ok = cli_enter(cli, &o->common) && !o->preserve &&
		  runs_prune_due(cli_app(cli), o->yes, add_due, &d, &due, &cli->report);
	cli_warn(cli);
	if (!ok) {
		status = cli_refuse(cli, o->common.json);
	} else if (o->common.json) {
		status = cli_print_json(json_pack("{s:b, s:O, s:I}", "ok", 1, "runs", d.runs,
			"deleted", (json_int_t)due.deleted));
	} else {
		tell_due(&d, &due, o->yes);
		status = cli_print(buf_str(&d.text));
	}
	json_decref(d.runs);
	buf_done(&d.text);
	return status;
}

static int prune_answer(json_t *doc, json_t *preserved, bool json)
{
	AUTO_BUF text = BUF_INIT;
	const char *name;
	json_t *path;

	if (json) {
		json_object_set_new(
			doc, "preserved", preserved ? json_incref(preserved) : json_object());
		return cli_print_json(json_incref(doc));
	}
	json_object_foreach(preserved, name, path)
		buf_printf(&text, "%s: %s\n", name, json_string_value(path));
	return cli_print(buf_str(&text));
}

static int run_prune_command(const struct call *call)
{
	struct cli *cli = call->host;
	const struct retire_opts *o = call->opts;
	AUTO_JSON *preserved = NULL;
	int status;

	if (!call->count)
		return prune_due(cli, o);
	AUTO_RUN *run = run_operand(cli, &o->common, call->words[0], &status);
	if (!run)
		return status;
	AUTO_JSON *doc = answer_of(run_status_word(run), run_id(run));
	if (!run_prune(run, o->preserve, &preserved, &cli->report))
		return cli_refuse(cli, o->common.json);
	return prune_answer(doc, preserved, o->common.json);
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
	EXAMPLES(prune_examples),
	SETS(prune_sets, struct retire_opts),
	.max_operands = 1,
	.complete = COMPLETE_RUN,
	.run = run_prune_command,
};
