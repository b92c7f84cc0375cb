#include "app/source.h"
#include "data/json.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/template.h"
#include "render/picture.h"

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
};

static int run(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct graph_opts *o = opts;
	enum dialect d = template_dialect(&o->template);
	AUTO_BUF picture = BUF_INIT;
	AUTO_BUF document = BUF_INIT;
	struct graph *g = NULL;

	(void)c;
	(void)count;
	if (cli_enter(cli, &o->common))
		g = o->template.template ? source_template(words[0], d, &cli->report)
					 : source_any(words[0], d, &cli->report);
	if (!g)
		return cli_refuse(cli, o->common.json);
	struct str title = str_of(words[0][0] == '@' ? words[0] + 1 : words[0]);
	picture_write(g, (enum picture_format)o->format,
		&(struct picture_options){ .title = title }, &picture);
	graph_unref(g);
	if (!o->common.json)
		return cli_print(buf_str(&picture));
	buf_printf(&document, "{\"ok\":true,\"format\":\"%s\",\"picture\":", formats[o->format]);
	json_write_str(&document, buf_str(&picture));
	buf_adds(&document, "}\n");
	return cli_print(buf_str(&document));
}

const struct command cmd_graph = {
	.name = "graph",
	.operands = "RECIPE|TEMPLATE",
	.summary = "draw a picture of a template",
	.details = "Writes SVG for a browser, DOT for Graphviz or Mermaid for Markdown, all of the "
		   "same picture: groups, the order of execution, and the flags that change it.",
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
