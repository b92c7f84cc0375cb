/* start, prompt and task: compose a prompt and launch an agent. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/user.h"
#include "data/json-out.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/prompt-opts.h"
#include "hosts/cli/prompt-record.h"
#include "hosts/cli/prompt-text.h"
#include "hosts/cli/words.h"

enum { TEXT_MAX = 16 << 20 }; /* of `prompt -` */

static const struct opt own_opts[] = {
	OPT_TEXT('a', "agent", "NAME", struct prompt_opts, agent, "the agent to launch"),
	OPT_TEXT('r', "role", "NAME|PATH", struct prompt_opts, role,
		"the role, or a file that is one"),
	OPT_TEXT('m', "model", "NAME", struct prompt_opts, model,
		"an alias of the agent's models, or what the agent calls it"),
	OPT_LIST('c', "context", "NAME,...", struct prompt_opts, contexts,
		"contexts beside the required ones: names, tags, paths, or default"),
	OPT_FLAG(0, "no-role", struct prompt_opts, no_role, "no role at all"),
	OPT_TEXT('d', "directory", "DIR", struct prompt_opts, dir,
		"where the agent works; its .start is read"),
	OPT_TEXT('C', NULL, "DIR", struct prompt_opts, dir_too, "the same"),
	OPT_FLAG(0, "dry-run", struct prompt_opts, dry_run,
		"show what would be launched; section commands do run"),
	OPT_FLAG(0, "record", struct prompt_opts, record,
		"make the launch a recorded run: `roux runs` lists it"),
	OPT_FLAG(0, "json", struct prompt_opts, json,
		"with --dry-run or --record: as one JSON document"),
	OPT_FLAG(0, "strict", struct prompt_opts, strict,
		"a model or a role that the agent's command does not take is an error"),
	OPT_FLAG('q', "quiet", struct prompt_opts, quiet, "say nothing but errors"),
	OPT_FLAG(0, "verbose", struct prompt_opts, verbose, "show the texts as well"),
	OPT_FLAG(0, "debug", struct prompt_opts, debug, "the same, and the command"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
};

/* -- the request ---------------------------------------------------------------------------------
 */

bool prompt_directory(struct cli *cli, const char *dir, struct str *cwd, struct str *stands)
{
	struct arena *a = &cli->arena;
	char here[4096];
	struct stat st;

	if (!getcwd(here, sizeof(here))) {
		report_errno(&cli->report, errno, "cannot tell the working directory");
		return report_hint(&cli->report, "go to a directory that exists");
	}
	*stands = *cwd = arena_str(a, str_of(here));
	if (!dir)
		return true;
	*cwd = path_from(a, *stands, path_tilde(a, str_of(dir), user_home(a)));
	if (stat(arena_cstr(a, *cwd), &st) == 0 && S_ISDIR(st.st_mode))
		return true;
	report_error(&cli->report, (struct where){ 0 }, "'%s' is not a directory", dir);
	return report_hint(&cli->report, "--directory takes one that exists");
}

/* Words with one space between them. */
static struct str joined(struct cli *cli, size_t count, const char *const *words)
{
	AUTO_BUF text = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		buf_adds(&text, i ? " " : "");
		buf_adds(&text, words[i]);
	}
	return arena_str(&cli->arena, buf_str(&text));
}

static bool read_text(struct cli *cli, size_t count, const char *const *words, struct str *ret)
{
	AUTO_BUF text = BUF_INIT;

	if (count != 1 || strcmp(words[0], "-") != 0) {
		*ret = joined(cli, count, words);
		return true;
	}
	int error = fd_read_all(STDIN_FILENO, TEXT_MAX, &text);
	if (error < 0)
		return report_errno(&cli->report, -error, "cannot read standard input");
	*ret = arena_str(&cli->arena, buf_str(&text));
	return true;
}

static bool read_request(struct cli *cli, enum agents_mode mode, const struct prompt_opts *o,
	size_t count, const char *const *words, struct agents_request *q)
{
	struct str *terms = arena_array(&cli->arena, struct str, o->contexts.len + 1);

	for (size_t i = 0; i < o->contexts.len; i++)
		terms[i] = str_of(o->contexts.at[i]);
	*q = (struct agents_request){ .mode = mode,
		.agent = str_of(o->agent),
		.role = str_of(o->role),
		.model = str_of(o->model),
		.no_role = o->no_role,
		.contexts = terms,
		.context_count = o->contexts.len,
		.dry = o->dry_run,
		.strict = o->strict,
		.captured = o->record &&
			    (o->json || !(isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))) };
	if (!prompt_directory(cli, o->dir ? o->dir : o->dir_too, &q->cwd, &q->stands))
		return false;
	if (o->json && !o->dry_run && !o->record) {
		report_error(&cli->report, (struct where){ 0 },
			"--json goes with --dry-run or --record");
		return report_hint(
			&cli->report, "standard output is the agent's; leave --json out");
	}
	if (mode == AGENTS_PROMPT)
		return read_text(cli, count, words, &q->text);
	if (mode == AGENTS_LAUNCH_TASK) {
		q->task = str_of(words[0]);
		q->instructions = joined(cli, count - 1, words + 1);
		return true;
	}
	if (!count)
		return true;
	report_error(
		&cli->report, (struct where){ 0 }, "`start` takes no words, found '%s'", words[0]);
	return report_hint(
		&cli->report, "to say something to the agent: roux prompt '%s'", words[0]);
}

/* -- the launch ----------------------------------------------------------------------------------
 */

static void tell(struct agents_launch *l, const struct prompt_opts *o)
{
	const struct agents_choice choice = agents_launch_choice(l);
	struct str level = choice.log_level;
	bool quiet = o->quiet || (str_eq(level, S("quiet")) && !o->verbose && !o->debug);
	bool verbose =
		o->verbose || o->debug || str_eq(level, S("verbose")) || str_eq(level, S("debug"));
	AUTO_BUF text = BUF_INIT;

	if (quiet)
		return;
	report_word(agents_launch_warnings(l), cli_words);
	report_text(agents_launch_warnings(l), REPORT_ALL, &text);
	buf_add(&text, choice.notes);
	prompt_text_choice(&choice, verbose, &text);
	if ((o->debug || str_eq(level, S("debug"))) && !o->dry_run)
		buf_printf(&text, "command   %.*s\n", STR(choice.command));
	cli_say(buf_str(&text));
}

static int show(struct agents_launch *l, const struct prompt_opts *o)
{
	AUTO_BUF text = BUF_INIT;

	if (o->json) {
		agents_launch_write(l, &(struct json_out){ .b = &text });
	} else {
		tell(l, o);
		buf_add(&text, agents_launch_choice(l).command);
	}
	buf_addc(&text, '\n');
	return cli_print(buf_str(&text));
}

/* What a recorded launch is called: its mode, or the task. */
static struct str run_name(struct agents_launch *l, enum agents_mode mode)
{
	struct str task = agents_launch_choice(l).task;

	if (mode == AGENTS_LAUNCH_TASK && task.len)
		return task;
	return mode == AGENTS_PROMPT ? S("prompt") : S("start");
}

static int launch(struct cli *cli, struct agents_launch *l, const struct prompt_opts *o,
	enum agents_mode mode)
{
	tell(l, o);
	if (o->record)
		return prompt_record(cli, l, run_name(l, mode), o->json);
	int status =
		agents_launch_may_replace(l) ? agents_launch_replace(l) : agents_launch_wait(l);
	if (status >= 0)
		return status;
	report_error(&cli->report, (struct where){ 0 }, "cannot start '%.*s': %s",
		STR(agents_launch_choice(l).program),
		status == -E2BIG     ? "the arguments and environment are too long together"
		: status == -ENOEXEC ? "not a program: a script needs a #! line"
				     : strerror(-status));
	report_hint(&cli->report,
		status == -E2BIG ? "use {prompt_file} or {role_file} in the agent's command"
				 : "check the agent's bin");
	return cli_refuse(cli, false);
}

static int list_tasks(struct cli *cli, const struct prompt_opts *o)
{
	struct str cwd = { 0 }, stands;
	AUTO_BUF text = BUF_INIT;

	bool ok = prompt_directory(cli, o->dir ? o->dir : o->dir_too, &cwd, &stands) &&
		  prompt_list(AGENTS_TASK, cwd, o->json, &text, &cli->report);
	return ok ? cli_print(buf_str(&text)) : cli_refuse(cli, o->json);
}

static int compose(struct cli *cli, enum agents_mode mode, const struct prompt_opts *o,
	size_t count, const char *const *words)
{
	struct agents_request request;
	struct agents_launch *l;
	int status;

	if (mode == AGENTS_LAUNCH_TASK && !count)
		return list_tasks(cli, o);
	if (!read_request(cli, mode, o, count, words, &request))
		return cli_refuse(cli, o->json);
	if (agents_prepare(&request, &l, &cli->report)) {
		status = o->dry_run ? show(l, o) : launch(cli, l, o, mode);
	} else {
		AUTO_BUF text = BUF_INIT;

		report_word(agents_launch_warnings(l), cli_words);
		if (!o->json && !o->quiet)
			report_text(agents_launch_warnings(l), 1 << ISSUE_WARNING, &text);
		cli_say(buf_str(&text));
		(void)cli_refuse(cli, o->json);
		status = agents_launch_signal(l) ? 128 + agents_launch_signal(l) : 2;
	}
	agents_launch_free(l);
	return status;
}

/* -- the commands --------------------------------------------------------------------------------
 */

/* `start task NAME …` too, so that options may stand before the word. */
static int run_start_command(const struct call *call)
{

	if (call->count && strcmp(call->words[0], "prompt") == 0)
		return compose(
			call->host, AGENTS_PROMPT, call->opts, call->count - 1, call->words + 1);
	if (call->count && strcmp(call->words[0], "task") == 0)
		return compose(call->host, AGENTS_LAUNCH_TASK, call->opts, call->count - 1,
			call->words + 1);
	return compose(call->host, AGENTS_START, call->opts, call->count, call->words);
}

static int run_prompt(const struct call *call)
{

	return compose(call->host, AGENTS_PROMPT, call->opts, call->count, call->words);
}

static int run_task(const struct call *call)
{

	return compose(call->host, AGENTS_LAUNCH_TASK, call->opts, call->count, call->words);
}

const struct command cmd_start = {
	.name = "start",
	.heading = "Agents",
	.operands = "[prompt TEXT | task NAME]",
	.summary = "launch an agent with a role and all contexts",
	.details =
		"Reads agents, roles, contexts and tasks from ~/.config/start and ./.start, puts "
		"the role and the prompt together and starts the agent on this terminal. `roux "
		"init` writes a first configuration.\n\n"
		"The exit status is the agent's own, 128+n when signal n ended it, and 2 when "
		"something was wrong before it was started. Called as `start`, roux is this "
		"command.",
	SETS(sets, struct prompt_opts),
	.max_operands = OPERANDS_ANY,
	.run = run_start_command,
};

const struct command cmd_prompt = {
	.name = "prompt",
	.operands = "[TEXT]...",
	.summary = "launch an agent with a text and the required contexts",
	.details =
		"TEXT is always text, never a file; - is standard input. Placeholders in an "
		"agent's "
		"command: {bin} {model} {prompt} {role} {role_file} {prompt_file} {date}; in "
		"roles, "
		"contexts and tasks: {file} {file_contents} {command} {command_output} {date}, and "
		"in tasks {instructions}.",
	SETS(sets, struct prompt_opts),
	.max_operands = OPERANDS_ANY,
	.run = run_prompt,
};

const struct command cmd_task = {
	.name = "task",
	.operands = "[NAME] [INSTRUCTIONS]...",
	.summary = "launch an agent with a prepared task; without a name, list them",
	.details = "NAME is a task, its alias, the beginning or a part of a name, or a path. The "
		   "words behind it are the {instructions} of the task.",
	SETS(sets, struct prompt_opts),
	.max_operands = OPERANDS_ANY,
	.run = run_task,
};
