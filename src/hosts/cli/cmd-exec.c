#include <string.h>
#include <unistd.h>

#include "app/recipes.h"
#include "base/plain-text.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/follow.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"

struct exec_opts {
	struct template_opts template;
	struct run_opts run;
	struct common_opts common;
};

static const struct opt_set sets[] = {
	OPT_SET_IN("Options", values_opts, struct exec_opts, template),
	OPT_SET_IN(NULL, lines_opts, struct exec_opts, template),
	OPT_SET_IN(NULL, secret_opts, struct exec_opts, template.secrets),
	OPT_SET_IN(NULL, run_opts, struct exec_opts, run),
	OPT_SET_IN(NULL, template_opts, struct exec_opts, template),
	OPT_SET_IN(NULL, dialect_opts, struct exec_opts, template),
	COMMON_SET(struct exec_opts),
};

static const struct command_example examples[] = {
	{ "roux exec 'echo hello {name=world}'", "one command with a value and its default" },
	{ "roux exec 'grep -c {what} {file}' what='two words' file=notes.txt",
		"values stay one argument each, whatever is in them" },
	{ "roux exec '[\"ls\", \"sort -r\", \"head -3\"]'", "a sequence: output to input" },
	{ "roux exec '{\"parallel\":true,\"template\":[\"./lint\",\"./test\"]}'",
		"at once, outputs joined" },
	{ "roux exec --json @build.json jobs:=4", "from a file, with a number, answer as JSON" },
};

/* One word that is not the name of a program: a file of the working directory, or a recipe. */
static void hint_at_word(struct cli *cli, const char *word)
{
	const char *dot = strrchr(word, '.');
	AUTO_BUF shown = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	text_plain(&shown, str_of(word));
	if (dot && !strcmp(dot, ".json") && access(word, R_OK) == 0 && access(word, X_OK) < 0)
		buf_printf(&text, "     hint: @%s reads a template from that file\n",
			buf_cstr(&shown));
	else if (!recipes_is_template(cli_app(cli), word) && recipes_has(cli_app(cli), word))
		buf_printf(&text, "     hint: it is a recipe: roux run %s\n", buf_cstr(&shown));
	cli_say(buf_str(&text));
}

/* What continues elsewhere when this process is gone has to be found again by its record. */
static bool unknown_option(struct str name, struct report *r)
{
	if (!str_eq(name, S("on")))
		return template_unknown_option(name, r);
	report_hint(r, "exec runs commands here and keeps no record; `roux run --on NAME` runs "
		       "them on the nodes of a batch system");
	return true;
}

static struct run_handle *start(void *data, const struct request *q, struct report *r)
{
	struct template_given *given = data;

	return runs_start(cli_app(given->cli), given->ref, q, r);
}

static int run(const struct call *call)
{
	struct cli *cli = call->host;
	const struct exec_opts *o = call->opts;
	struct template_given given = { .cli = cli };
	struct request q = REQUEST_INIT;
	bool tell = !o->common.json && !o->run.silent;
	int status;

	if (o->run.silent)
		cli_hush();
	if (cli_enter(cli, &o->common) &&
		template_open(&given, &o->template, false, call->count, call->words) &&
		follow_request(cli, &o->run, &q)) {
		if (tell)
			values_warn(cli, recipe_ref_warnings(given.ref));
		q.detach = DETACH_NEVER;
		q.secrets = given.secrets;
		q.secret_env = given.secret_env;
		q.stdin_fd = given.stdin_used || isatty(STDIN_FILENO) ? -1 : STDIN_FILENO;
		status = follow(cli, &q, &o->run, o->common.json,
			&(struct follow_start){ .start = start, .data = &given });
		if (tell && status == 1)
			hint_at_word(cli, call->words[0]);
	} else {
		status = cli_refuse(cli, o->common.json);
	}
	json_decref(q.env);
	template_close(&given);
	return status;
}

static const struct exec_opts defaults = { .run = RUN_OPTS_DEFAULTS };

const struct command cmd_exec = {
	.name = "exec",
	.operands = "TEMPLATE [name=value]...",
	.summary = "run one command template and keep no record of it",
	.details =
		"TEMPLATE is a command line, JSON text, @FILE, or - for standard input. Commands "
		"are "
		"started directly, without a shell; {name} in a word is replaced by a value, which "
		"stays one argument whatever it holds.\n\n"
		"name=value gives a string, name:=JSON any JSON value. Standard input goes to the "
		"first "
		"command when it is not a terminal.\n\n"
		"Exit status: 0 done, 1 failed, 2 wrong request, 3 finished but commands failed, "
		"124 "
		"the template's own time limit, 128+n ended by signal n.",
	EXAMPLES(examples),
	SETS(sets, struct exec_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_TEMPLATE,
	.unknown_option = unknown_option,
	.run = run,
};
