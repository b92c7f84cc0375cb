#include <string.h>
#include <unistd.h>

#include "app/recipes.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/follow.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/resume.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct cmd_run_opts {
	struct template_opts template;
	struct run_opts run;
	struct common_opts common;
	struct launch_opts launch;
	struct opt_list artifacts;
	bool foreground;
	unsigned in_doubt;
};

static const struct opt own_opts[] = {
	OPT_CHOICE(0, "in-doubt", doubt_words, struct cmd_run_opts, in_doubt,
		"what becomes of a command that was lost with the machine that ran it"),
	OPT_LIST(0, "artifact", "NAME=PATH", struct cmd_run_opts, artifacts,
		"an artifact of this run; given once or more, they replace the recipe's"),
	OPT_FLAG(0, "foreground", struct cmd_run_opts, foreground,
		"stay attached to an async recipe; wins over --detach"),
};

static const struct opt_set sets[] = {
	OPT_SET_IN("Options", values_opts, struct cmd_run_opts, template),
	OPT_SET_IN(NULL, lines_opts, struct cmd_run_opts, template),
	OPT_SET_IN(NULL, name_opts, struct cmd_run_opts, launch),
	OPT_SET_IN(NULL, launch_opts, struct cmd_run_opts, launch),
	OPT_SET_IN(NULL, on_opts, struct cmd_run_opts, launch),
	OPT_SET_IN(NULL, secret_opts, struct cmd_run_opts, launch.secrets),
	OPT_SET_IN(NULL, agent_opts, struct cmd_run_opts, launch),
	OPT_SET_IN(NULL, step_opts, struct cmd_run_opts, launch),
	OPT_SET(NULL, own_opts),
	OPT_SET_IN(NULL, run_opts, struct cmd_run_opts, run),
	OPT_SET_IN(NULL, template_opts, struct cmd_run_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct cmd_run_opts, template),
	COMMON_SET(struct cmd_run_opts),
};

static const struct command_example examples[] = {
	{ "roux run repo-health", "a packaged recipe" },
	{ "roux run ./release.md version=1.2", "a file, with a value" },
	{ "roux run --detach nightly", "in the background; `roux status nightly` looks at it" },
};

struct starting {
	struct cli *cli;
	struct recipe_ref *ref;
};

static struct run_handle *start(void *data, const struct request *q, struct report *r)
{
	struct starting *s = data;

	struct run_handle *h = runs_start(cli_app(s->cli), s->ref, q, r);
	if (h && r->warnings)
		cli_warn(s->cli);
	return h;
}

/* What was asked for, and what runs; *ret_values are the caller's. NULL with issues. */
static struct recipe_ref *open_subject(struct cli *cli, const struct cmd_run_opts *o, size_t count,
	const char *const *words, struct request *q, json_t **ret_values)
{
	bool stdin_used = false;

	if (!values_claim_stdin(cli, words[0], &stdin_used))
		return NULL;
	struct opt_list positions = { 0 };
	json_t *values = *ret_values = values_read(cli, &o->template, count - 1, words + 1,
		o->template.template ? NULL : &positions, &stdin_used);
	if (!values || !launch_request(cli, &o->launch, &o->run, values, q))
		return NULL;
	if (!launch_pairs(cli, "artifact", &o->artifacts, &q->artifacts))
		return NULL;
	q->careful = o->in_doubt == DOUBT_STOP;
	if (o->foreground)
		q->detach = DETACH_NEVER;
	else if (!o->launch.detach)
		q->detach = DETACH_AS_RECIPE;
	struct recipe_ref *ref = values_open(cli, words[0],
		&(struct recipe_open){ .as = o->template.template ? OPERAND_TEMPLATE : OPERAND_ANY,
			.dialect_0_9 = template_is_0_9(&o->template),
			.launch = true,
			.values = values },
		&positions);
	if (ref && q->detach == DETACH_AS_RECIPE)
		q->detach = recipe_ref_async(ref) ? DETACH_ALWAYS : DETACH_NEVER;
	q->stdin_fd = stdin_used || isatty(STDIN_FILENO) ? -1 : STDIN_FILENO;
	return ref;
}

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct cmd_run_opts *o = call->opts;
	struct request q = { 0 };
	AUTO_JSON *values = NULL;
	int status;

	if (o->run.silent)
		cli_hush();
	struct recipe_ref *ref = cli_enter(cli, &o->common) ? open_subject(cli, o, call->count,
								      call->words, &q, &values)
							    : NULL;
	if (ref) {
		if (!o->common.json && !o->run.silent)
			values_warn(cli, recipe_ref_warnings(ref));
		status = follow(cli, &q, &o->run, o->common.json,
			&(struct follow_start){ .start = start,
				.data = &(struct starting){ cli, ref },
				.values = values,
				.steps = recipe_ref_is_steps(ref) });
	} else {
		status = cli_refuse(cli, o->common.json);
	}
	recipe_ref_free(ref);
	launch_request_done(&q);
	return status;
}

static const struct cmd_run_opts defaults = { .run = RUN_OPTS_DEFAULTS };

const struct command cmd_run = {
	.name = "run",
	.heading = "Run",
	.operands = "RECIPE|TEMPLATE [VALUE|name=value]...",
	.summary = "run a recipe",
	.details =
		"RECIPE is the id of a recipe (`roux list` shows them) or a path to one. "
		"Recipes are found "
		"in your own directory first, then in .roux/recipes of the project, then among the "
		"packaged ones. `roux help RECIPE` says which "
		"arguments it takes; those that its `args` declares can be given without "
		"their names, in order.\n\n"
		"Every run is recorded in a directory of its own; a recipe can use its id and "
		"directory as {run_id} and {state_dir}. `roux runs` lists them, `roux resume` "
		"continues one that was cut short.\n\n"
		"Exit status: 0 done, 1 failed, 2 wrong request, 3 finished but commands "
		"failed, 4 waiting for an approval, 124 the recipe's own time limit, 128+n "
		"ended by signal n.",
	EXAMPLES(examples),
	SETS(sets, struct cmd_run_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
