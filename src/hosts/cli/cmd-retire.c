/* Commands that put ended runs away: archive, prune. */
#include "base/clock.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-filter.h"
#include "hosts/cli/run-operand.h"

struct retire_opts {
	bool preserve, yes;
	const char *older, *status;
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
	OPT_TEXT(0, "older-than", "AGE", struct retire_opts, older,
		"without RUN: those that ended so long ago, 30d for example"),
	OPT_TEXT(0, "status", "STATUS", struct retire_opts, status,
		"without RUN: those with one of these, with commas between them"),
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

static void tell_due(
	struct due *d, const struct runs_due *due, const struct retire_opts *o, bool selected)
{
	size_t count = json_array_size(d->runs);

	if (!due->limited)
		buf_printf(&d->text,
			"Nothing is deleted without a limit: set max_age_days or max_runs under "
			"[retention] in %.*s, or say --older-than or --status.\n",
			STR(due->settings_path));
	else if (!count)
		buf_adds(&d->text, selected ? "No matching run can be deleted.\n"
					    : "Nothing is past the limits.\n");
	else if (o->yes)
		buf_printf(&d->text, "%zu run%s deleted.\n", due->deleted,
			due->deleted == 1 ? "" : "s");
	else if (selected)
		buf_printf(&d->text, "%zu run%s; --yes deletes %s.\n", count, count == 1 ? "" : "s",
			count == 1 ? "it" : "them");
	else
		buf_printf(&d->text, "%zu run%s past the limits; `roux prune --yes` deletes %s.\n",
			count, count == 1 ? " is" : "s are", count == 1 ? "it" : "them");
}

/* What keeps one from being deleted comes when others are gone. */
static void tell_gone(struct cli *cli, size_t count)
{
	AUTO_BUF text = BUF_INIT;
	size_t issues = cli->report.issues.len;

	buf_printf(&text, "%zu run%s deleted", count, count == 1 ? " was" : "s were");
	if (count && issues)
		report_remark(&cli->report, issues - 1, buf_cstr(&text), ACTION_NONE);
}

static int prune_due(struct cli *cli, const struct retire_opts *o)
{
	struct due d = { .runs = json_array() };
	struct prune_selection which = { 0 };
	struct runs_due due = { 0 };
	int status;

	if (o->preserve) {
		report_error(&cli->report, (struct where){ 0 },
			"--preserve-artifacts needs the run that it is about");
		report_hint(&cli->report, "roux prune RUN --preserve-artifacts");
	}
	bool ok = cli_enter(cli, &o->common) && !o->preserve &&
		  filter_age(cli, "older-than", o->older, &which.older_ms) &&
		  filter_status(cli, o->status, &which.status) &&
		  runs_prune_due(cli_app(cli), &which, o->yes, add_due, &d, &due, &cli->report);
	cli_warn(cli);
	if (!ok) {
		tell_gone(cli, due.deleted);
		status = cli_refuse(cli, o->common.json);
	} else if (o->common.json) {
		status = cli_print_json(json_pack("{s:b, s:O, s:I}", "ok", 1, "runs", d.runs,
			"deleted", (json_int_t)due.deleted));
	} else {
		tell_due(&d, &due, o, o->older || o->status);
		status = cli_print(buf_str(&d.text));
	}
	json_decref(d.runs);
	buf_done(&d.text);
	return status;
}

/* -- the named ones ------------------------------------------------------------------------------
 */

/* The run that a word names, deleted: its document. NULL with issues. */
static json_t *prune_one(struct cli *cli, struct run_handle *run, bool preserve)
{
	AUTO_JSON *preserved = NULL;
	json_t *doc = answer_of(run_status_word(run), run_id(run));

	if (!run_prune(run, preserve, &preserved, &cli->report)) {
		json_decref(doc);
		return NULL;
	}
	json_object_set_new(doc, "preserved", preserved ? json_incref(preserved) : json_object());
	return doc;
}

static int prune_answer(json_t *all, bool json)
{
	AUTO_BUF text = BUF_INIT;
	const char *name;
	json_t *doc, *path;
	size_t i;

	if (json && json_array_size(all) == 1)
		return cli_print_json(json_incref(json_array_get(all, 0)));
	if (json)
		return cli_print_json(json_pack("{s:b, s:O}", "ok", 1, "runs", all));
	json_array_foreach(all, i, doc) json_object_foreach(json_object_get(doc, "preserved"), name,
		path) buf_printf(&text, "%s: %s\n", name, json_string_value(path));
	return cli_print(buf_str(&text));
}

static bool is_named_before(struct run_handle *const *runs, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (str_eq(run_id(runs[i]), run_id(runs[at])))
			return true;
	return false;
}

static bool is_earlier(const struct run_handle *run)
{
	return str_find(run_id(run), '~', 0) < run_id(run).len;
}

/* Earlier generations first: the files of one move when the one after it is deleted. */
static bool prune_all(
	struct cli *cli, struct run_handle *const *runs, size_t count, bool preserve, json_t *all)
{
	for (int current = 0; current < 2; current++)
		for (size_t i = 0; i < count; i++) {
			if (is_earlier(runs[i]) == current || is_named_before(runs, i))
				continue;
			json_t *doc = prune_one(cli, runs[i], preserve);

			if (!doc)
				return false;
			json_array_append_new(all, doc);
		}
	return true;
}

/* Every name is looked at before anything is deleted, so that what it means does not change. */
static int prune_named(struct cli *cli, const struct retire_opts *o, const struct call *call)
{
	struct run_handle **runs = arena_array(&cli->arena, struct run_handle *, call->count);
	AUTO_JSON *all = json_array();
	size_t count = 0;
	int status = 0;

	for (; !status && count < call->count; count += !status)
		runs[count] = run_operand(cli, &o->common, call->words[count], &status);
	if (!status && !prune_all(cli, runs, count, o->preserve, all))
		status = cli_refuse(cli, o->common.json);
	for (size_t i = 0; i < count; i++)
		run_close(runs[i]);
	if (status)
		return status;
	cli_warn(cli);
	return prune_answer(all, o->common.json);
}

static int run_prune_command(const struct call *call)
{
	struct cli *cli = call->host;
	const struct retire_opts *o = call->opts;

	if (!call->count)
		return prune_due(cli, o);
	if (!o->older && !o->status)
		return prune_named(cli, o, call);
	report_error(&cli->report, (struct where){ 0 },
		"--older-than and --status choose runs: no RUN is named beside them");
	return cli_refuse(cli, o->common.json);
}

static const struct command_example prune_examples[] = {
	{ "roux prune review --preserve-artifacts", "keep what it made, delete the rest" },
	{ "roux prune", "what the limits in [retention] would delete" },
	{ "roux prune --older-than 30d --yes", "delete old runs, except those that failed" },
};

const struct command cmd_prune = {
	.name = "prune",
	.operands = "[RUN]...",
	.summary = "delete ended runs: the named ones, or a selection",
	.details =
		"Named runs are deleted at once. Without RUN it lists a selection, and nothing is "
		"deleted before --yes: with --older-than or --status what these say, else what "
		"max_age_days and max_runs under [retention] in the settings would delete.\n\n"
		"Each generation counts as a run. A selection has runs that are done, partial or "
		"cancelled; one in which something failed goes only with --status failed.",
	EXAMPLES(prune_examples),
	SETS(prune_sets, struct retire_opts),
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RUN,
	.run = run_prune_command,
};
