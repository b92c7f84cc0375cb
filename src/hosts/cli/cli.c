#include "hosts/cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/answers.h"
#include "app/app.h"
#include "app/recipes.h"
#include "base/file.h"
#include "base/path.h"
#include "base/shell-words.h"
#include "cmdline/help.h"
#include "cmdline/parse.h"
#include "cmdline/suggest.h"
#include "data/json.h"
#include "data/mask.h"
#include "hosts/cli/words.h"

const struct opt common_opts[2] = {
	OPT_TEXT('C', "directory", "DIR", struct common_opts, dir, "go to DIR first"),
	OPT_FLAG(0, "json", struct common_opts, json, "answer with one JSON document"),
};

int cli_print(struct str text)
{
	int r = fd_write_all(STDOUT_FILENO, text);

	if (r == 0 || r == -EPIPE)
		return r == 0 ? 0 : 128 + SIGPIPE;
	AUTO_BUF line = BUF_INIT;
	buf_printf(&line, "roux: error: cannot write standard output: %s\n", strerror(-r));
	cli_say(buf_str(&line));
	return 1;
}

static bool hushed;

void cli_hush(void)
{
	hushed = true;
}

void cli_say(struct str text)
{
	if (!hushed)
		cli_insist(text);
}

void cli_insist(struct str text)
{
	(void)fd_write_all(STDERR_FILENO, text);
}

void cli_word(struct cli *cli)
{
	report_word(&cli->report, cli_words);
}

int cli_refuse(struct cli *cli, bool json)
{
	AUTO_BUF text = BUF_INIT;

	cli_word(cli);
	report_sort(&cli->report);
	/* Before control characters in them are made fit for a terminal. */
	mask_report(cli->mask, &cli->report);
	if (json) {
		answer_document(&cli->report, &text);
		(void)cli_print(mask_text(cli->mask, buf_str(&text), &cli->arena));
	} else {
		/* A slip often explains the error. */
		report_text(&cli->report, REPORT_ERRORS | REPORT_SLIPS, &text);
		cli_say(mask_text(cli->mask, buf_str(&text), &cli->arena));
	}
	return report_has_system(&cli->report) ? 1 : 2;
}

bool cli_enter(struct cli *cli, const struct common_opts *o)
{
	if (!o->dir || chdir(o->dir) == 0)
		return true;
	return report_errno(&cli->report, errno, "cannot go to '%s'", o->dir);
}

/* Places are meant from where roux was started, also after -C, in a supervisor and in commands.
 * False with an issue: that cannot be found out. */
static bool settle_places(struct cli *cli)
{
	static const char *const names[] = { "PI_CODING_AGENT_DIR", "ROUX_STATE_DIR",
		"ROUX_PACKAGED_DIR" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const char *path = getenv(names[i]);

		if (!path || !*path || *path == '/')
			continue;
		const char *whole = path_absolute(&cli->arena, str_of(path)).p;
		if (*whole != '/') {
			report_errno(&cli->report, errno,
				"cannot find out the working directory, which %s=%s is in",
				names[i], path);
			return report_hint(&cli->report, "set %s to an absolute path", names[i]);
		}
		(void)setenv(names[i], whole, 1);
	}
	return true;
}

struct app *cli_app(struct cli *cli)
{
	if (!cli->app)
		cli->app =
			app_open(&(struct app_options){ .own_process = true, .subreaper = true });
	return cli->app;
}

const struct settings *cli_settings(struct cli *cli)
{
	return app_settings(cli_app(cli), &cli->report);
}

/* -- commands that are programs of their own -----------------------------------------------------
 */

static void beside(struct buf *path)
{
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	struct str exe = { self, n > 0 ? (size_t)n : 0 };

	while (exe.len && exe.p[exe.len - 1] != '/')
		exe.len--;
	buf_add(path, exe);
}

/* `roux NAME` executes roux-NAME, beside the binary or in PATH, as git does. Returns only when
 * there is none. */
static void execute_external(const char *name, char **argv)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF program = BUF_INIT;

	if (strchr(name, '/') || !name[0])
		return;
	buf_printf(&program, "roux-%s", name);
	beside(&path);
	if (path.len) {
		buf_add(&path, buf_str(&program));
		argv[0] = (char *)buf_cstr(&path);
		(void)execv(buf_cstr(&path), argv);
	}
	argv[0] = (char *)buf_cstr(&program);
	(void)execvp(buf_cstr(&program), argv);
}

void cli_help_external(const char *name)
{
	char help[] = "--help";
	char *argv[] = { NULL, help, NULL };

	execute_external(name, argv);
}

static bool wants_json(size_t argc, const char *const *argv)
{
	for (size_t i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--json") == 0)
			return true;
	return false;
}

/* The same of all words behind the name of the program. */
static bool asks_json(int argc, char **argv)
{
	return argc > 1 && wants_json((size_t)argc - 1, (const char *const *)argv + 1);
}

/* -- dispatch ------------------------------------------------------------------------------------
 */

int cli_run(struct cli *cli, const struct command *c, size_t argc, const char *const *argv)
{
	void *opts = arena_alloc(&cli->arena, c->options_size);
	struct cmdline_result parsed = { 0 };

	if (!cmdline_parse(c, argc, argv, &cli->arena, opts, &parsed, &cli->report))
		return cli_refuse(cli, wants_json(argc, argv));
	if (parsed.help) {
		/* `roux run RECIPE --help` asks about the recipe. */
		if (c->complete == COMPLETE_RECIPE && parsed.operand_count &&
			recipes_has(cli_app(cli), parsed.operands[0]))
			return cli_help_recipe(cli, parsed.operands[0], wants_json(argc, argv));
		return cli_help_command(c, wants_json(argc, argv));
	}
	cli->command = c;
	cli->operands = parsed.operands;
	cli->operand_count = parsed.operand_count;
	return c->run(
		&(struct call){ cli, c, opts, parsed.operand_count, parsed.operands, argv, argc });
}

/* Commands of other tools, and what does the same here. */
static const struct {
	const char *word, *meant;
} elsewhere[] = {
	{ "ls", "`roux list` lists the recipes, `roux runs` the runs" },
	{ "ps", "to list the runs: roux runs" },
	{ "history", "to list the runs: roux runs" },
	{ "rm", "to delete a run: roux prune RUN" },
	{ "delete", "to delete a run: roux prune RUN" },
	{ "stop", "to end a run: roux cancel RUN" },
	{ "retry", "to run again what failed: roux rerun RUN" },
	{ "validate", "to look for mistakes: roux check RECIPE" },
	{ "dry-run", "to see what would run: roux plan RECIPE" },
	{ "new", "to make a tool: roux tool add NAME TEMPLATE" },
	{ "edit", "`roux show NAME` names the file of a recipe" },
	{ "tail", "to follow a run: roux logs -f RUN" },
};

bool cli_unknown_command(struct cli *cli, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(elsewhere); i++)
		if (strcmp(name, elsewhere[i].word) == 0) {
			report_error(
				&cli->report, (struct where){ 0 }, "unknown command '%s'", name);
			return report_hint(&cli->report, "%s", elsewhere[i].meant);
		}
	return suggest_command(cli->commands, cli->command_count, str_of(name), &cli->report);
}

/* `roux NAME` is not a command. */
static void unknown_command(struct cli *cli, const char *name)
{
	bool template = recipes_is_template(cli_app(cli), name);
	AUTO_BUF quoted = BUF_INIT;

	(void)cli_unknown_command(cli, name);
	if (!template && !(name[0] && recipes_has(cli_app(cli), name)))
		return;
	command_display(&quoted, &name, 1);
	if (template)
		report_hint(&cli->report, "to run a template: roux exec %s", buf_cstr(&quoted));
	else
		report_hint(&cli->report, "it is a recipe: roux run %s", buf_cstr(&quoted));
}

/* How many words from `at` on are an option that every command takes: `roux -C DIR list`. */
static int common_option(int argc, char **argv, int at)
{
	const char *word = argv[at];

	if (strcmp(word, "--json") == 0 || str_starts(str_of(word), S("--directory=")) ||
		(word[0] == '-' && word[1] == 'C' && word[2]))
		return 1;
	if (strcmp(word, "-C") == 0 || strcmp(word, "--directory") == 0)
		return at + 1 < argc ? 2 : 0;
	return 0;
}

/* Where the first word is that is not a common option; `argc` when all are. */
static int skip_common(int argc, char **argv)
{
	int at = 1;

	for (int n = 1; n && at < argc; at += n)
		n = common_option(argc, argv, at);
	return at;
}

static const char *command_name(const char *word)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		return "help";
	if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0)
		return "version";
	return word;
}

static int dispatch(struct cli *cli, int argc, char **argv)
{
	int at = skip_common(argc, argv);
	/* A directory without a command is a slip; --json asks for the overview as a document. */
	if (at == argc && argc > 1 && strcmp(argv[1], "--json") != 0)
		at = 1;
	const char *name = at < argc ? command_name(argv[at]) : "help";

	/* The command comes before the common options that stand in front of it. */
	if (at < argc && name[0] != '-') {
		char *command = argv[at];

		memmove(argv + 2, argv + 1, (size_t)(at - 1) * sizeof(*argv));
		argv[1] = command;
		at = 2;
	} else if (at == argc) {
		at = 1;
	}
	const struct command *c = command_find(cli->commands, cli->command_count, str_of(name));
	size_t left = (size_t)(argc - MIN(at, argc));
	const char *const *rest = (const char *const *)argv + argc - left;
	if (c)
		return cli_run(cli, c, left, rest);
	if (name[0] == '-')
		report_error(&cli->report, (struct where){ 0 }, "unknown option '%s'", name);
	else
		execute_external(name, argv + 1);
	if (name[0] == '-')
		report_hint(&cli->report,
			"options come after the command: roux COMMAND %s; `roux help` "
			"lists the commands",
			name);
	else
		unknown_command(cli, name);
	return cli_refuse(cli, asks_json(argc, argv));
}

/* A caller may close the standard descriptors; a file opened there would be mistaken for them.
 * False: there is no standard output, so nothing may be done whose answer would be lost. */
static bool fill_standard_descriptors(void)
{
	bool prints = fcntl(STDOUT_FILENO, F_GETFD) >= 0;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) < 0)
			return false;
	return prints;
}

int cli_main(const struct command *const *commands, size_t count, int argc, char **argv)
{
	struct cli cli = { .commands = commands, .command_count = count, .program = argv[0] };

	if (!fill_standard_descriptors()) {
		cli_say(S("roux: error: standard output is closed\n"
			  "     hint: >/dev/null if nothing reads it\n"));
		return 1;
	}
	json_seed();
	int status = settle_places(&cli) ? dispatch(&cli, argc, argv)
					 : cli_refuse(&cli, asks_json(argc, argv));
	report_done(&cli.report);
	mask_free(cli.mask);
	app_close(cli.app);
	arena_done(&cli.arena);
	return status;
}
