#include <errno.h>
#include <unistd.h>

#include "app/agents/compose.h"
#include "app/catalog/check-steps.h"
#include "app/catalog/list.h"
#include "app/catalog/source.h"
#include "app/issues.h"
#include "app/settings.h"
#include "graph/certain.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct check_opts {
	struct template_opts template;
	struct launch_opts launch; /* its agents and collections */
	bool strict;
	struct common_opts common;
};

static const struct opt own_opts[] = {
	OPT_FLAG(0, "strict", struct check_opts, strict, "count warnings as errors"),
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

/* What all operands are checked with. */
struct checking {
	struct cli *cli;
	const struct check_opts *o;
	const json_t *values;
	struct steps_check steps;
	bool stdin_used;
};

static void check_graph(struct checking *c, struct graph *g)
{
	struct report *r = &c->cli->report;

	report_move(r, &g->warnings);
	/* Without values only what can be known without them is checked. */
	if (c->o->template.values.len)
		plan_unref(plan_new(g, c->values, r));
	else
		certain_check(g, r);
}

static void check_recipe(struct checking *c, const char *word)
{
	struct cli *cli = c->cli;
	struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
	struct recipe *recipe = recipe_open(&dirs, str_of(word), false, c->values, &cli->report);

	if (recipe) {
		check_graph(c, recipe->graph);
		if (recipe->steps)
			steps_check(recipe->steps, &c->steps, &cli->report);
	}
	recipe_free(recipe);
}

/* A file of the settings or of the prompts configuration. False: it is neither. */
static bool check_configuration(struct checking *c, const char *word)
{
	struct report *r = &c->cli->report;

	if (!str_ends(str_of(word), S(".toml")))
		return false;
	if (access(word, F_OK) < 0) {
		report_errno(r, errno, "cannot read '%s'", word);
	} else if (settings_names(str_of(word))) {
		settings_check(word, str_of(word), r, r);
	} else if (!prompts_check_file(word, c->steps.cwd, r)) {
		report_error(r, (struct where){ 0 }, "nobody reads a file called '%s'", word);
		report_hint(r, "the files are called config.toml, agents.toml, roles.toml, "
			       "contexts.toml and tasks.toml");
	}
	return true;
}

static void check_one(struct checking *c, const char *word)
{
	struct cli *cli = c->cli;
	enum dialect d = template_dialect(&c->o->template);

	if (!values_claim_stdin(cli, word, &c->stdin_used))
		return;
	if (!c->o->template.template && !source_is_template(word)) {
		if (!check_configuration(c, word))
			check_recipe(c, word);
		return;
	}
	struct graph *g = source_template(word, d, &cli->report);
	if (g)
		check_graph(c, g);
	graph_unref(g);
}

/* Every recipe, the settings, and the configuration of prompts. */
static void check_all(struct checking *c)
{
	struct cli *cli = c->cli;
	struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
	struct settings settings;
	AUTO_REPORT ignored = REPORT_INIT;
	struct prompts_files files = { 0 };

	recipes_check(&dirs, &c->steps, &cli->report);
	/* Its mistakes have been told; who else reads it cares for nothing but those. */
	(void)settings_read(&settings, &ignored, &cli->report);
	settings_done(&settings);
	prompts_check(c->steps.cwd, &cli->report, &files);
	if (files.local && !c->o->common.json)
		cli_say(S("note: the configuration in ./.start counts here, and it can run "
			  "commands\n"));
}

static void count_line(const struct report *r, struct buf *b)
{
	if (!r->errors && !r->warnings)
		buf_adds(b, "no mistakes found\n");
	else
		buf_printf(b, "%zu error%s, %zu warning%s\n", r->errors, r->errors == 1 ? "" : "s",
			r->warnings, r->warnings == 1 ? "" : "s");
}

static int run(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct check_opts *o = opts;
	struct report *r = &cli->report;
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF last = BUF_INIT;
	AUTO_JSON *agents = NULL;
	AUTO_JSON *collections = NULL;
	char cwd[4096];
	struct checking check = { .cli = cli, .o = o };

	(void)c;
	if (!cli_enter(cli, &o->common) || !launch_pairs(cli, "agent", &o->launch.agents, &agents))
		return cli_refuse(cli, o->common.json);
	/* A mistake in the settings is one finding more. */
	(void)launch_collections(cli, &o->launch, &collections);
	check.steps = (struct steps_check){ agents, collections,
		str_of(getcwd(cwd, sizeof(cwd)) ? cwd : ".") };
	AUTO_JSON *values = values_read(cli, &o->template.values, 0, NULL, &check.stdin_used);
	check.values = values;
	for (size_t i = 0; values && i < count; i++)
		check_one(&check, words[i]);
	if (values && !count)
		check_all(&check);
	report_sort(r);
	bool ok = !r->errors && !(o->strict && r->warnings);
	if (o->common.json) {
		buf_printf(&text, "{\"ok\":%s,\"errors\":", ok ? "true" : "false");
		issues_json(r, REPORT_ERRORS, &text);
		buf_adds(&text, ",\"warnings\":");
		issues_json(r, 1 << ISSUE_WARNING, &text);
		buf_adds(&text, "}\n");
	} else {
		report_text(r, REPORT_ALL, &text);
		count_line(r, &last);
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
	.examples = examples,
	.example_count = ARRAY_SIZE(examples),
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct check_opts),
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
