#include <string.h>

#include "base/plain-text.h"
#include "data/json.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/recipe-text.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"

struct tool_opts {
	const char *description, *args;
	bool async, no_async, project;
	struct common_opts common;
};

static const struct opt own_opts[] = {
	OPT_TEXT(0, "description", "TEXT", struct tool_opts, description, "what the tool is for"),
	OPT_TEXT(0, "args", "LIST", struct tool_opts, args,
		"its arguments: name, name:type or name:type=default, separated by commas"),
	OPT_FLAG(0, "async", struct tool_opts, async, "it runs detached"),
	OPT_FLAG(0, "no-async", struct tool_opts, no_async, "it runs attached"),
	OPT_FLAG(0, "project", struct tool_opts, project,
		"in .roux/recipes of this project, not in your directory"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	COMMON_SET(struct tool_opts),
};

static const struct command_example examples[] = {
	{ "roux tool add greet 'echo hello {name=world}'", "then: roux run greet name=Ada" },
	{ "roux tool schema greet", "its JSON Schema, for agents" },
};

/* What was asked for, and the words behind it. */
struct asked {
	struct cli *cli;
	const struct tool_opts *o;
	size_t count;
	const char *const *words;
};

static int written(struct asked *q, const char *did, struct str path)
{
	AUTO_BUF text = BUF_INIT;
	struct str id = recipes_id_of(path);

	cli_warn(q->cli);
	if (q->o->common.json) {
		buf_adds(&text, "{\"ok\":true,\"id\":");
		json_write_str(&text, id);
		buf_adds(&text, ",\"path\":");
		json_write_str(&text, path);
		buf_adds(&text, "}\n");
	} else {
		AUTO_BUF line = BUF_INIT;

		buf_printf(&line, "%s %.*s (%.*s)", did, STR(id), STR(path));
		text_plain(&text, buf_str(&line));
		buf_addc(&text, '\n');
	}
	return cli_print(buf_str(&text));
}

static int remove_tool(struct asked *q)
{
	AUTO_BUF path = BUF_INIT;

	if (!recipes_remove_tool(
		    cli_app(q->cli), q->words[0], q->o->project, &path, &q->cli->report))
		return cli_refuse(q->cli, q->o->common.json);
	return written(q, "removed", buf_str(&path));
}

static int write_tool(struct asked *q, bool update)
{
	const struct recipe_tool tool = {
		.name = q->words[0],
		.template = q->count > 1 ? q->words[1] : NULL,
		.description = q->o->description,
		.args = q->o->args,
		.async = q->o->async      ? 1
			 : q->o->no_async ? 0
					  : -1,
		.project = q->o->project,
	};
	AUTO_BUF path = BUF_INIT;

	if (q->o->async && q->o->no_async) {
		report_error(&q->cli->report, (struct where){ 0 },
			"--async and --no-async contradict each other");
		return cli_refuse(q->cli, q->o->common.json);
	}
	/* An empty template takes the tool away. */
	if (tool.template && (!*tool.template || strcmp(tool.template, "null") == 0))
		return remove_tool(q);
	if (!(update ? recipes_update_tool : recipes_add_tool)(
		    cli_app(q->cli), &tool, &path, &q->cli->report))
		return cli_refuse(q->cli, q->o->common.json);
	return written(q, update ? "updated" : "added", buf_str(&path));
}

static int add_tool(struct asked *q)
{
	return write_tool(q, false);
}

static int update_tool(struct asked *q)
{
	return write_tool(q, true);
}

static int list_tools(struct asked *q)
{
	AUTO_BUF text = BUF_INIT;

	if (q->o->common.json)
		recipe_json_list(cli_app(q->cli), true, &text, &q->cli->report);
	else
		recipe_text_list(cli_app(q->cli), true, false, &text, &q->cli->report);
	int printed = cli_print(buf_str(&text));
	return printed || !q->cli->report.errors ? printed : cli_refuse(q->cli, false);
}

static int tool_schema(struct asked *q)
{
	struct recipe_ref *ref =
		cli_open_recipe(q->cli, q->words[0], &(struct recipe_open){ .as = OPERAND_RECIPE });
	AUTO_BUF text = BUF_INIT;

	if (!ref)
		return cli_refuse(q->cli, q->o->common.json);
	AUTO_JSON *schema = recipes_input_schema(ref);
	json_write_typed(&text, schema, q->o->common.json ? 0 : 2);
	buf_addc(&text, '\n');
	recipe_ref_free(ref);
	return cli_print(buf_str(&text));
}

static const struct {
	const char *name, *operands;
	size_t min, max;
	int (*run)(struct asked *q);
} actions[] = {
	{ "add", "NAME TEMPLATE", 2, 2, add_tool },
	{ "update", "NAME [TEMPLATE]", 1, 2, update_tool },
	{ "remove", "NAME", 1, 1, remove_tool },
	{ "list", "", 0, 0, list_tools },
	{ "schema", "RECIPE", 1, 1, tool_schema },
};

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct tool_opts *o = call->opts;
	struct asked q = { cli, o, call->count - 1, call->words + 1 };

	for (size_t i = 0; i < ARRAY_SIZE(actions); i++) {
		if (strcmp(call->words[0], actions[i].name) != 0)
			continue;
		if (q.count < actions[i].min || q.count > actions[i].max) {
			report_error(&cli->report, (struct where){ 0 }, "roux tool %s takes %s",
				actions[i].name,
				*actions[i].operands ? actions[i].operands : "no operands");
			if (actions[i].max > 1)
				report_hint(&cli->report, "quote a template whole: roux tool add "
							  "greet 'echo {name}'");
			else
				report_hint(&cli->report, "`roux help tool` says what each does");
			return cli_refuse(cli, o->common.json);
		}
		if (!cli_enter(cli, &o->common))
			return cli_refuse(cli, o->common.json);
		return actions[i].run(&q);
	}
	report_error(&cli->report, (struct where){ 0 }, "roux tool cannot '%s'", call->words[0]);
	report_hint(&cli->report, "it can add, update, remove, list and schema");
	return cli_refuse(cli, o->common.json);
}

const struct command cmd_tool = {
	.name = "tool",
	.operands = "add|update|remove|list|schema [NAME] [TEMPLATE]",
	.complete = COMPLETE_WORDS,
	.wants = "to know what to do: add, update, remove, list or schema",
	.summary = "register a template as a tool: a recipe in your directory",
	.details = "A tool is a recipe file in your recipe directory. It is checked before it is "
		   "written; a "
		   "tool with a mistake is never written. A template of one word that names a "
		   "recipe stands "
		   "for that recipe.\n\n"
		   "    add NAME TEMPLATE       write a new one\n"
		   "    update NAME [TEMPLATE]  change what is given and nothing else\n"
		   "    remove NAME             delete it\n"
		   "    list                    those that can be called\n"
		   "    schema RECIPE           its arguments as JSON Schema",
	EXAMPLES(examples),
	SETS(sets, struct tool_opts),
	.min_operands = 1,
	.max_operands = 3,
	.run = run,
};
