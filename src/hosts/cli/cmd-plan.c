#include <unistd.h>

#include "app/catalog/plan.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct plan_opts {
	struct template_opts template;
	struct launch_opts launch; /* its agents and collections */
	struct common_opts common;
};

static const struct opt_set sets[] = {
	OPT_SET_IN("Options", values_opts, struct plan_opts, template),
	OPT_SET_IN(NULL, agent_opts, struct plan_opts, launch),
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
	AUTO_JSON *agents = NULL;
	AUTO_JSON *collections = NULL;
	bool ok = cli_enter(cli, &o->common) &&
		  launch_pairs(cli, "agent", &o->launch.agents, &agents) &&
		  launch_pairs(cli, "collection", &o->launch.collections, &collections);
	struct plan *p =
		ok ? template_plan(cli, &o->template, true, count, words, &stdin_used) : NULL;
	if (!p)
		return cli_refuse(cli, o->common.json);
	struct planned_host where = { getcwd(cwd, sizeof(cwd)) ? cwd : ".", agents, collections };
	if (o->common.json)
		planned_json(p, &where, &text);
	else
		planned_text(p, &where, &text);
	if (!o->common.json)
		values_warn(p->graph);
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
		   "shell would need them quoted. Skipped nodes and recoveries are left out. What "
		   "depends on the output of earlier steps stays as it is written, and a remark "
		   "behind # says what it hangs on.",
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
