#include <unistd.h>

#include "app/planned.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/template.h"

struct plan_opts {
	struct template_opts template;
	struct common_opts common;
};

static const struct opt_set sets[] = {
	OPT_SET_IN("Options", values_opts, struct plan_opts, template),
	OPT_SET_IN(NULL, template_opts, struct plan_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct plan_opts, template),
	COMMON_SET(struct plan_opts),
};

static const struct command_example examples[] = {
	{ "roux plan 'cp {from} {to}' from='a b' to=c",
		"the arguments exactly as the program gets them" },
	{ "roux plan --json @build.json", "for scripts" },
};

static int run(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct plan_opts *o = opts;
	AUTO_BUF text = BUF_INIT;
	char cwd[4096];
	bool stdin_used;

	(void)c;
	struct plan *p = cli_enter(cli, &o->common)
				 ? template_plan(cli, &o->template, true, count, words, &stdin_used)
				 : NULL;
	if (!p)
		return cli_refuse(cli, o->common.json);
	if (o->common.json)
		planned_json(p, getcwd(cwd, sizeof(cwd)) ? cwd : ".", &text);
	else
		planned_text(p, &text);
	plan_unref(p);
	if (!text.len)
		cli_say(S("nothing would run: every node is skipped\n"));
	return cli_print(buf_str(&text));
}

const struct command cmd_plan = {
	.name = "plan",
	.operands = "RECIPE|TEMPLATE [name=value]...",
	.summary = "show exactly what would run; execute nothing",
	.details = "Prints one line for each command: its path in the tree and its arguments as a "
		   "shell would need them quoted. Skipped nodes and recoveries are left out.",
	.examples = examples,
	.example_count = ARRAY_SIZE(examples),
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct plan_opts),
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
