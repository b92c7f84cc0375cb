/* Commands that tell about roux itself. */
#include <string.h>
#include <unistd.h>

#include "app/worker.h"
#include "base/file.h"
#include "cmdline/completion.h"
#include "cmdline/help.h"
#include "cmdline/man.h"
#include "cmdline/suggest.h"
#include "data/json-out.h"
#include "data/toml.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/recipe-text.h"
#include "hosts/cli/template.h"
#include "roux/roux.h"

struct about_opts {
	struct common_opts common;
};

/* -- version -------------------------------------------------------------------------------------
 */

static int run_version(const struct call *call)
{
	const struct about_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	if (o->common.json) {
		struct json_out out = { .b = &text };

		json_out_object(&out, NULL);
		json_out_bool(&out, "ok", true);
		json_out_str(&out, "version", str_of(roux_version()));
		if (app_time_scale(false))
			json_out_bool(&out, "time_scale", true);
		json_out_int(&out, "api", ROUX_API);
		json_out_object_end(&out);
		buf_addc(&text, '\n');
	} else {
		buf_printf(&text, "roux %s\n", roux_version());
	}
	return cli_print(buf_str(&text));
}

const struct command cmd_version = {
	.name = "version",
	.summary = "print the version",
	ONLY_COMMON(struct about_opts),
	.run = run_version,
};

/* -- help ----------------------------------------------------------------------------------------
 */

static void help_json(const struct cli *cli, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_bool(&o, "ok", true);
	json_out_array(&o, "commands");
	for (size_t i = 0; i < cli->command_count; i++) {
		const struct command *c = cli->commands[i];

		if (c->hidden)
			continue;
		json_out_object(&o, NULL);
		json_out_str(&o, "name", str_of(c->name));
		json_out_str_or_null(&o, "operands", str_of(c->operands));
		json_out_str(&o, "summary", str_of(c->summary));
		json_out_object_end(&o);
	}
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

static void option_json(const struct opt *opt, struct json_out *o)
{
	AUTO_BUF text = BUF_INIT;

	json_out_object(o, NULL);
	(void)opt_spelling(opt, OPT_FORM_NAME, &text);
	json_out_str_or_null(o, "name", buf_str(&text));
	(void)opt_spelling(opt, OPT_FORM_LETTER, &text);
	json_out_str_or_null(o, "letter", buf_str(&text));
	buf_reset(&text);
	opt_value_name(opt, &text);
	json_out_str_or_null(o, "value", buf_str(&text));
	json_out_str(o, "help", str_of(opt->help));
	json_out_object_end(o);
}

static void command_json(const struct command *c, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	json_out_bool(&o, "ok", true);
	json_out_str(&o, "name", str_of(c->name));
	json_out_str_or_null(&o, "operands", str_of(c->operands));
	json_out_str(&o, "summary", str_of(c->summary));
	json_out_str_or_null(&o, "details", str_of(c->details));
	json_out_array(&o, "options");
	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			option_json(&set->opts[i], &o);
	json_out_array_end(&o);
	json_out_object_end(&o);
	buf_addc(b, '\n');
}

int cli_help_command(const struct command *c, bool json)
{
	AUTO_BUF text = BUF_INIT;

	if (json)
		command_json(c, &text);
	else
		help_command(c, &text);
	return cli_print(buf_str(&text));
}

int cli_help_recipe(struct cli *cli, const char *word, bool json)
{
	struct recipe_ref *ref =
		cli_open_recipe(cli, word, &(struct recipe_open){ .as = OPERAND_RECIPE });
	AUTO_BUF text = BUF_INIT;

	if (!ref) {
		/* Neither a recipe nor a command: a mistyped command is the likelier slip. */
		if (!strchr(word, '/') && !recipes_has(cli_app(cli), word)) {
			report_reset(&cli->report);
			(void)cli_unknown_command(cli, word);
		}
		return cli_refuse(cli, json);
	}
	if (json)
		recipe_json_show(ref, &text);
	else
		recipe_text_help(ref, &text);
	recipe_ref_free(ref);
	return cli_print(buf_str(&text));
}

/* About a word that is not a command of this program. */
static int help_other(struct cli *cli, const char *word, bool json)
{
	if (!json && !recipes_has(cli_app(cli), word))
		cli_help_external(word);
	return cli_help_recipe(cli, word, json);
}

static int run_help(const struct call *call)
{
	struct cli *cli = call->host;
	const struct about_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	const struct command *about = call->count ? command_find(cli->commands, cli->command_count,
							    str_of(call->words[0]))
						  : NULL;
	if (call->count && !about)
		return help_other(cli, call->words[0], o->common.json);
	if (about)
		return cli_help_command(about, o->common.json);
	if (o->common.json)
		help_json(cli, &text);
	else
		help_overview(cli->commands, cli->command_count, &text);
	return cli_print(buf_str(&text));
}

const struct command cmd_help = {
	.name = "help",
	.operands = "[COMMAND|RECIPE]",
	.summary = "explain roux, one command, or one recipe",
	ONLY_COMMON(struct about_opts),
	.max_operands = 1,
	.complete = COMPLETE_COMMAND,
	.run = run_help,
};

/* -- schema --------------------------------------------------------------------------------------
 */

static const char *const schemas[] = {
	[SCHEMA_TEMPLATE] = "template", [SCHEMA_RECIPE] = "recipe", [SCHEMA_STEPS] = "steps", NULL
};

static int run_schema(const struct call *call)
{
	struct cli *cli = call->host;
	const struct about_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	size_t which = 0;
	while (call->count && schemas[which] && strcmp(schemas[which], call->words[0]) != 0)
		which++;
	if (!schemas[which]) {
		report_error(&cli->report, (struct where){ 0 }, "there is no schema of '%s'",
			call->words[0]);
		report_hint(&cli->report, "there is one of: template, recipe, steps");
		suggest_word(schemas, str_of(call->words[0]), &cli->report);
		return cli_refuse(cli, o->common.json);
	}
	schema_write((enum schema_kind)which, &text);
	return cli_print(buf_str(&text));
}

const struct command cmd_schema = {
	.name = "schema",
	.operands = "[template|recipe|steps]",
	.complete = COMPLETE_WORDS,
	.summary = "print the JSON Schema of templates, recipes or step recipes, for editors",
	ONLY_COMMON(struct about_opts),
	.max_operands = 1,
	.run = run_schema,
};

/* -- completion ----------------------------------------------------------------------------------
 */

static int run_completion(const struct call *call)
{
	struct cli *cli = call->host;
	const struct about_opts *o = call->opts;
	AUTO_BUF text = BUF_INIT;

	if (!completion_script(
		    str_of(call->words[0]), cli->commands, cli->command_count, &text, &cli->report))
		return cli_refuse(cli, o->common.json);
	if (!o->common.json)
		return cli_print(buf_str(&text));
	AUTO_BUF document = BUF_INIT;
	struct json_out out = { .b = &document };
	json_out_object(&out, NULL);
	json_out_bool(&out, "ok", true);
	json_out_str(&out, "shell", str_of(call->words[0]));
	json_out_str(&out, "script", buf_str(&text));
	json_out_object_end(&out);
	buf_addc(&document, '\n');
	return cli_print(buf_str(&document));
}

static const struct command_example completion_examples[] = {
	{ "source <(roux completion bash)", "in ~/.bashrc" },
	{ "source <(roux completion zsh)", "in ~/.zshrc, after compinit" },
	{ "roux completion fish | source", "in ~/.config/fish/config.fish" },
};

const struct command cmd_completion = {
	.name = "completion",
	.heading = "About roux",
	.operands = "bash|zsh|fish",
	.wants = "a shell: bash, zsh or fish",
	.summary = "print a completion script for a shell",
	EXAMPLES(completion_examples),
	ONLY_COMMON(struct about_opts),
	.min_operands = 1,
	.max_operands = 1,
	.complete = COMPLETE_WORDS,
	.run = run_completion,
};

/* -- debug: for the build and for tests ----------------------------------------------------------
 */

static int debug_man(struct cli *cli, size_t count UNUSED, const char *const *words UNUSED)
{
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "# COMMANDS\n\n");
	man_commands(cli->commands, cli->command_count, &text);
	buf_adds(&text, "\n# OPTIONS\n\n");
	for (size_t i = 0; i < cli->command_count; i++)
		if (!cli->commands[i]->hidden)
			man_options(cli->commands[i], &text);
	return cli_print(buf_str(&text));
}

/* What the TOML reader read, as toml-test wants it. */
static int debug_toml(struct cli *cli, size_t count, const char *const *words)
{
	AUTO_BUF text = BUF_INIT;
	const char *file = count ? words[0] : "-";
	bool standard_input = strcmp(file, "-") == 0;
	int n = standard_input ? fd_read_all(STDIN_FILENO, TOML_MAX_BYTES, &text)
			       : file_read(file, TOML_MAX_BYTES, &text);

	if (n < 0) {
		report_errno(&cli->report, -n, "cannot read '%s'", file);
		return cli_refuse(cli, false);
	}
	struct source source = { standard_input ? S("<stdin>") : str_of(file), buf_str(&text) };
	AUTO_JSON *value = toml_read(&source, TOML_TAGGED, &cli->report);
	if (!value)
		return cli_refuse(cli, false);
	buf_reset(&text);
	json_write(&text, value, 2);
	buf_addc(&text, '\n');
	return cli_print(buf_str(&text));
}

static const struct {
	const char *name;
	int (*run)(struct cli *cli, size_t count, const char *const *words);
} debuggers[] = {
	{ "man", debug_man },
	{ "toml", debug_toml },
};

static int run_debug(const struct call *call)
{
	struct cli *cli = call->host;
	const struct about_opts *o = call->opts;

	for (size_t i = 0; i < ARRAY_SIZE(debuggers); i++)
		if (strcmp(call->words[0], debuggers[i].name) == 0)
			return debuggers[i].run(cli, call->count - 1, call->words + 1);
	report_error(
		&cli->report, (struct where){ 0 }, "nothing to debug called '%s'", call->words[0]);
	return cli_refuse(cli, o->common.json);
}

const struct command cmd_debug = {
	.name = "debug",
	.operands = "WHAT [FILE]",
	.summary = "print what the build and the tests need",
	ONLY_COMMON(struct about_opts),
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.hidden = true,
	.run = run_debug,
};
