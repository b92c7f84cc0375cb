#include "app/recipes.h"
#include "app/settings.h"
#include "base/plain-text.h"
#include "base/shell-words.h"
#include "data/json-out.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/plan-run.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct plan_opts {
	struct template_opts template;
	struct launch_opts launch; /* its agents and collections */
	struct plan_run_opts again;
	struct common_opts common;
};

static const struct opt_set sets[] = {
	OPT_SET_IN("Options", values_opts, struct plan_opts, template),
	OPT_SET_IN(NULL, plan_run_opts, struct plan_opts, again),
	OPT_SET_IN(NULL, lines_opts, struct plan_opts, template),
	OPT_SET_IN(NULL, on_opts, struct plan_opts, launch),
	OPT_SET_IN(NULL, agent_opts, struct plan_opts, launch),
	OPT_SET_IN(NULL, template_opts, struct plan_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct plan_opts, template),
	COMMON_SET(struct plan_opts),
};

static const struct command_example examples[] = {
	{ "roux plan 'cp {from} {to}' from='a b' to=c",
		"the arguments exactly as the program gets them" },
	{ "roux plan --json @build.json", "for scripts" },
	{ "roux plan --on slurm align", "and the words that ask the batch system for nodes" },
	{ "roux plan run:nightly", "what `roux rerun nightly` would run, and what it would reuse" },
};

enum { LINES_MAX = 100000 }; /* that are shown: more cannot be read */

struct lines {
	struct buf text;
	size_t count;
	bool asks; /* for allocations */
	struct buf notes;
};

/* What stands behind #. */
static void add_remark(struct buf *b, const struct planned_command *command)
{
	if (!command->note.len && !command->on.len)
		return;
	buf_adds(b, command->argc ? "  # " : "# ");
	if (command->argc && command->on.len)
		buf_printf(b, "%.*s%s%.*s%s%s", STR(command->on), command->shape.len ? " (" : "",
			STR(command->shape), command->shape.len ? ")" : "",
			command->note.len ? "; " : "");
	text_plain(b, command->note);
}

static bool add_line(void *data, const struct planned_command *command)
{
	struct lines *lines = data;
	struct buf *b = &lines->text;

	if (lines->count++ == LINES_MAX) {
		buf_printf(b, "… and more: the first %d are shown\n", LINES_MAX);
		return false;
	}
	buf_printf(b, "%.*s  ", STR(command->path));
	command_display(b, command->argv, command->argc);
	add_remark(b, command);
	buf_addc(b, '\n');
	return true;
}

static void add_submit(void *data, const struct planned_submit *submit)
{
	struct lines *lines = data;
	struct buf *b = &lines->text;

	buf_printf(b, "%s%.*s, %.*s:\n  ", lines->asks ? "" : "\n", STR(submit->on),
		STR(submit->shape));
	lines->asks = true;
	command_display(b, submit->argv, submit->argc);
	buf_addc(b, '\n');
}

static void add_note(void *data, struct str text)
{
	struct lines *lines = data;

	buf_adds(&lines->notes, "note: ");
	text_plain(&lines->notes, text);
	buf_addc(&lines->notes, '\n');
}

static bool print_plan(struct cli *cli, struct recipe_ref *ref,
	const struct recipe_surroundings *with, bool json, struct buf *b)
{
	struct lines lines = { .text = BUF_INIT, .notes = BUF_INIT };

	if (json) {
		struct json_out o = { .b = b };

		if (!recipes_plan(ref, with, &o, &cli->report))
			return false;
		buf_addc(b, '\n');
		return true;
	}
	bool ok = recipes_plan_each(ref, with, add_line, &lines, &cli->report);
	if (ok) {
		values_warn(cli, recipe_ref_warnings(ref));
		cli_say(buf_str(&lines.notes));
	}
	buf_swap(b, &lines.text);
	buf_done(&lines.text);
	buf_done(&lines.notes);
	return ok;
}

/* Of a run that is there, not of a recipe. */
static int run_again(const struct call *call)
{
	struct cli *cli = call->host;
	const struct plan_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	if (!cli_enter(cli, &o->common) || !plan_run(cli, &o->again, &o->common, &o->template,
						   call->count, call->words, &text))
		return cli_refuse(cli, o->common.json);
	cli_warn(cli);
	return cli_print(buf_str(&text));
}

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct plan_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;
	AUTO_JSON *agents = NULL;
	AUTO_JSON *collections = NULL;
	struct template_given given = { .cli = cli };

	if (str_starts(str_of(call->words[0]), S("run:")) && !o->template.template) {
		if (!o->launch.on)
			return run_again(call);
		report_error(&cli->report, (struct where){ 0 },
			"--on is about a recipe, and %s is a run", call->words[0]);
		return cli_refuse(cli, o->common.json);
	}
	if (plan_run_asked(&o->again)) {
		report_error(&cli->report, (struct where){ 0 },
			"--from, --failed, --all and --resume are about a run: roux plan run:RUN");
		return cli_refuse(cli, o->common.json);
	}
	bool ok = cli_enter(cli, &o->common) &&
		  launch_pairs(cli, "agent", &o->launch.agents, &agents) &&
		  launch_pairs(cli, "collection", &o->launch.collections, &collections);
	const struct settings *s = ok && !o->launch.on ? cli_settings(cli) : NULL;
	const struct recipe_surroundings with = { .agents = agents,
		.collections = collections,
		.on = o->launch.on     ? o->launch.on
		      : s && s->on.len ? s->on.p
				       : NULL,
		.submit = add_submit,
		.note = add_note };
	ok = ok && (s || o->launch.on) &&
	     template_open(&given, &o->template, true, call->count, call->words) &&
	     print_plan(cli, given.ref, &with, o->common.json, &text);
	template_close(&given);
	if (!ok)
		return cli_refuse(cli, o->common.json);
	if (!text.len)
		cli_say(S("nothing would run: every node is skipped\n"));
	return cli_print(buf_str(&text));
}

const struct command cmd_plan = {
	.name = "plan",
	.operands = "RECIPE|TEMPLATE|run:RUN [name=value]...",
	.summary = "show exactly what would run; execute nothing",
	.details = "Prints one line for each command: its path in the tree and its arguments as a "
		   "shell would need them quoted. Skipped nodes and recoveries are left out. What "
		   "depends on the output of earlier steps stays as it is written, and a remark "
		   "behind # says what it hangs on.\n\n"
		   "With --on the remark says where the command would run and in what allocation; "
		   "the words that ask for each allocation follow. <run>, <generation>, <id> and "
		   "<dir> in them stand for what only a run has.\n\n"
		   "Of run:RUN it says what `roux rerun RUN` would run and why, and what would be "
		   "reused; with --resume, what `roux resume RUN` would.",
	EXAMPLES(examples),
	SETS(sets, struct plan_opts),
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
