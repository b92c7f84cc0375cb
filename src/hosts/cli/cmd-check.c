#include "app/issues.h"
#include "app/recipes.h"
#include "app/source.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct check_opts {
	struct template_opts template;
	bool strict;
	struct common_opts common;
};

static const struct opt own_opts[] = {
	OPT_FLAG(0, "strict", struct check_opts, strict, "count warnings as errors"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	OPT_SET_IN(NULL, values_opts, struct check_opts, template),
	OPT_SET_IN(NULL, template_opts, struct check_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct check_opts, template),
	COMMON_SET(struct check_opts),
};

static const struct command_example examples[] = {
	{ "roux check @build.json", "every mistake of a file in one go" },
	{ "roux check --strict 'sh -c {text}'", "warnings count too" },
};

static void check_one(struct cli *cli, const struct check_opts *o, const char *word,
	const json_t *values, bool *stdin_used)
{
	enum dialect d = template_dialect(&o->template);

	if (!values_claim_stdin(cli, word, stdin_used))
		return;
	struct graph *g = o->template.template ? source_template(word, d, &cli->report)
					       : source_any(word, d, &cli->report);
	if (!g)
		return;
	report_move(&cli->report, &g->warnings);
	/* Without values only what can be known without them is checked. */
	if (o->template.values.len)
		plan_unref(plan_new(g, values, &cli->report));
	graph_unref(g);
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
	bool stdin_used = false;

	(void)c;
	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	AUTO_JSON *values = values_read(cli, &o->template.values, 0, NULL, &stdin_used);
	for (size_t i = 0; values && i < count; i++)
		check_one(cli, o, words[i], values, &stdin_used);
	if (!count) {
		struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);

		recipes_check(&dirs, r);
	}
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
		"about it. Without operands every recipe is checked. With --values the values are "
		"checked as well.",
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
