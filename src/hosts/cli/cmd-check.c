#include "app/answers.h"
#include "app/recipes.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct check_opts {
	struct template_opts template;
	struct launch_opts launch; /* its agents and collections */
	bool strict, portable;
	struct common_opts common;
};

static const struct opt own_opts[] = {
	OPT_FLAG(0, "strict", struct check_opts, strict, "count warnings and notes as errors"),
	OPT_FLAG(0, "portable", struct check_opts, portable,
		"note every use of an extension of roux to the portable standard"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	OPT_SET_IN(NULL, values_opts, struct check_opts, template),
	OPT_SET_IN(NULL, agent_opts, struct check_opts, launch),
	OPT_SET_IN(NULL, template_opts, struct check_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct check_opts, template),
	COMMON_SET(struct check_opts),
};

static const struct command_example examples[] = {
	{ "roux check @build.json", "every mistake of a file in one go" },
	{ "roux check --strict 'sh -c {text}'", "warnings count too" },
	{ "roux check ~/.config/start/agents.toml", "a file of the prompts configuration" },
};

static void check_one(
	struct cli *cli, const struct check_request *all, const char *word, bool *stdin_used)
{
	struct check_request one = *all;

	one.operand = word;
	cli_note_project(cli, word);
	if (values_claim_stdin(cli, word, stdin_used))
		recipes_check(cli_app(cli), &one, NULL, &cli->report);
}

static void check_all(struct cli *cli, const struct check_request *all, bool json)
{
	bool local;

	cli_note_project(cli, NULL);
	recipes_check(cli_app(cli), all, &local, &cli->report);
	if (local && !json)
		cli_say(S("note: the configuration in ./.start counts here, and it can run "
			  "commands\n"));
}

static void count_line(const struct report *r, bool strict, struct buf *b)
{
	if (!r->errors && !r->warnings && !(strict && r->notes))
		buf_adds(b, "no mistakes found");
	else
		buf_printf(b, "%zu error%s, %zu warning%s", r->errors, r->errors == 1 ? "" : "s",
			r->warnings, r->warnings == 1 ? "" : "s");
	if (r->notes)
		buf_printf(b, ", %zu note%s%s", r->notes, r->notes == 1 ? "" : "s",
			strict ? ", which --strict counts as well" : "");
	buf_addc(b, '\n');
}

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct check_opts *o = call->opts;
	struct report *r = &cli->report;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF last = BUF_INIT;
	AUTO_JSON *agents = NULL;
	AUTO_JSON *collections = NULL;
	bool stdin_used = false;

	if (!cli_enter(cli, &o->common) || !launch_pairs(cli, "agent", &o->launch.agents, &agents))
		return cli_refuse(cli, o->common.json);
	/* A mistake in the settings is one finding more. */
	(void)launch_collections(cli, &o->launch, &collections);
	AUTO_JSON *values = values_read(cli, &o->template, 0, NULL, NULL, &stdin_used);
	const struct check_request request = {
		.open = { .as = o->template.template ? OPERAND_TEMPLATE : OPERAND_ANY,
			.dialect_0_9 = template_is_0_9(&o->template),
			.values = values },
		.plan = o->template.values.len > 0,
		.portable = o->portable,
		.with = { agents, collections },
	};
	for (size_t i = 0; values && i < call->count; i++)
		check_one(cli, &request, call->words[i], &stdin_used);
	if (values && !call->count)
		check_all(cli, &request, o->common.json);
	cli_word(cli);
	report_sort(r);
	bool ok = !r->errors && !(o->strict && (r->warnings || r->notes));
	if (o->common.json) {
		buf_printf(&text, "{\"ok\":%s,\"errors\":", ok ? "true" : "false");
		issues_json(r, REPORT_ERRORS, &text);
		buf_adds(&text, ",\"warnings\":");
		issues_json(r, 1 << ISSUE_WARNING, &text);
		if (o->portable) {
			buf_adds(&text, ",\"notes\":");
			issues_json(r, 1 << ISSUE_NOTE, &text);
		}
		buf_adds(&text, "}\n");
	} else {
		report_text(r, REPORT_ALL, &text);
		count_line(r, o->strict, &last);
	}
	int printed = cli_print(buf_str(&text));
	cli_say(buf_str(&last));
	return printed ? printed : ok ? 0 : report_has_system(r) ? 1 : 2;
}

const struct command cmd_check = {
	.name = "check",
	.heading = "Look before running",
	.operands = "[RECIPE|TEMPLATE|PATH]...",
	.summary = "find every mistake without running anything",
	.details =
		"Prints each finding with file, line, column, the place underlined, and what to do "
		"about it. Without operands every recipe, the settings and the prompts "
		"configuration are checked. With --values the values are checked as well.",
	EXAMPLES(examples),
	SETS(sets, struct check_opts),
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
