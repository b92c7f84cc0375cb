#include <sys/stat.h>

#include "app/catalog/source.h"
#include "app/report.h"
#include "data/json.h"
#include "graph/step.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "recipe/discover.h"
#include "runs/dir/run-dir.h"

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

/* A bare name is the recipe if there is one. */
static bool names_run(struct cli *cli, const struct graph_opts *o, const char *word)
{
	struct recipe_dirs dirs = recipe_dirs_find(&cli->arena, NULL, NULL);
	AUTO_REPORT ignored = REPORT_INIT;
	struct str id = run_id_of(str_of(word));
	struct recipe_location at;
	struct stat st;

	if (o->template.template || source_is_template(word))
		return false;
	if (str_starts(str_of(word), S("run:")))
		return true;
	if (!run_id_check(word, &ignored) ||
		recipe_locate(&cli->arena, &dirs, str_of(word), &at, &ignored))
		return false;
	struct str dir = run_directory(&cli->arena, runs_root(&cli->arena, dirs.agent), id);
	return stat(arena_cstr(&cli->arena, dir), &st) == 0;
}

static int draw_run(
	struct cli *cli, const struct graph_opts *o, const char *word, struct buf *picture)
{
	struct common_opts here = { .json = o->common.json }; /* -C has been followed */
	AUTO_RUN found = { 0 };
	int status;

	if (!run_operand_find(cli, &here, word, &found, &status))
		return status;
	if (!run_picture(&found.look, (enum picture_format)o->format, picture, &cli->report))
		return cli_refuse(cli, o->common.json);
	return 0;
}

static int draw_graph(
	struct cli *cli, const struct graph_opts *o, const char *word, struct buf *picture)
{
	enum dialect d = template_dialect(&o->template);
	struct graph *g = o->template.template ? source_template(word, d, &cli->report)
					       : source_any(word, d, &cli->report);

	if (!g)
		return cli_refuse(cli, o->common.json);
	/* A step recipe has a name; a template is called what the user called it. */
	struct str title = g->steps ? json_str(json_object_get(g->steps->metadata, "name"))
				    : str_of(word[0] == '@' ? word + 1 : word);
	picture_write(g, (enum picture_format)o->format,
		&(struct picture_options){ .title = title }, picture);
	graph_unref(g);
	return 0;
}

static int run(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct graph_opts *o = opts;
	AUTO_BUF picture = BUF_INIT;
	AUTO_BUF document = BUF_INIT;

	(void)c;
	(void)count;
	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	int status = names_run(cli, o, words[0]) ? draw_run(cli, o, words[0], &picture)
						 : draw_graph(cli, o, words[0], &picture);
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
	.examples = examples,
	.example_count = ARRAY_SIZE(examples),
	.sets = sets,
	.set_count = ARRAY_SIZE(sets),
	.options_size = sizeof(struct graph_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_RECIPE,
	.unknown_option = template_unknown_option,
	.run = run,
};
