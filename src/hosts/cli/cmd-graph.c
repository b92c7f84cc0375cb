#include "app/pictures.h"
#include "app/recipes.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "render/picture/picture.h"

struct graph_opts {
	struct template_opts template;
	unsigned format;
	struct common_opts common;
};

static const char *const formats[] = {
	[PICTURE_SVG] = "svg", [PICTURE_DOT] = "dot", [PICTURE_MERMAID] = "mermaid", NULL
};

static const struct opt own_opts[] = {
	OPT_CHOICE(0, "format", formats, struct graph_opts, format,
		"how the picture is written (svg)"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	OPT_SET_IN(NULL, template_opts, struct graph_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct graph_opts, template),
	COMMON_SET(struct graph_opts),
};

static const struct command_example examples[] = {
	{ "roux graph @review.json > review.svg", "a picture for a browser" },
	{ "roux graph --format mermaid @review.json", "for a Markdown page" },
	{ "roux graph run:review-docs > run.svg", "a run, with states and times" },
};

static int draw_run(
	struct cli *cli, const struct graph_opts *o, const char *word, struct buf *picture)
{
	struct common_opts here = { .json = o->common.json }; /* -C has been followed */
	int status;
	AUTO_RUN *found = run_operand(cli, &here, word, &status);

	if (!found)
		return status;
	return run_picture(found, o->format, picture, &cli->report) ? 0
								    : cli_refuse(cli, here.json);
}

static int draw_recipe(
	struct cli *cli, const struct graph_opts *o, const char *word, struct buf *picture)
{
	struct recipe_ref *ref = cli_open_recipe(cli, word,
		&(struct recipe_open){ .as = o->template.template ? OPERAND_TEMPLATE : OPERAND_ANY,
			.dialect_0_9 = template_is_0_9(&o->template),
			.values = json_null() });

	if (!ref)
		return cli_refuse(cli, o->common.json);
	/* A template is called what the user called it. */
	recipe_picture(ref, o->format, str_of(word[0] == '@' ? word + 1 : word), picture);
	recipe_ref_free(ref);
	return 0;
}

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct graph_opts *o = call->opts;
	AUTO_BUF picture = BUF_INIT;
	AUTO_BUF document = BUF_INIT;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	int status = !o->template.template && runs_names(cli_app(cli), call->words[0])
			     ? draw_run(cli, o, call->words[0], &picture)
			     : draw_recipe(cli, o, call->words[0], &picture);
	if (status)
		return status;
	if (!o->common.json)
		return cli_print(buf_str(&picture));
	buf_printf(&document, "{\"ok\":true,\"format\":\"%s\",\"picture\":", formats[o->format]);
	json_write_str(&document, buf_str(&picture));
	buf_adds(&document, "}\n");
	return cli_print(buf_str(&document));
}

const struct command cmd_graph = {
	.name = "graph",
	.operands = "RECIPE|TEMPLATE|RUN",
	.summary = "draw a picture of a template or of a run",
	.details =
		"Writes SVG for a browser, DOT for Graphviz or Mermaid for Markdown, all of the "
		"same picture: groups, the order of execution, and the flags that change it. Of a "
		"run it also shows the state of every node, its time, attempts and exit "
		"code.\n\n"
		"A bare name is the recipe if there is one; run:ID is always the run.",
	EXAMPLES(examples),
	SETS(sets, struct graph_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
