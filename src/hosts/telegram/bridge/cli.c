#include "hosts/telegram/bridge/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/answers.h"
#include "app/app.h"
#include "base/file.h"
#include "cmdline/help.h"
#include "cmdline/parse.h"
#include "cmdline/suggest.h"

static const struct command *const commands[] = {
	&tg_setup,
	&tg_connect,
	&tg_disconnect,
	&tg_status,
	&tg_settings,
	&tg_unpair,
	&tg_attach,
	&tg_push,
};

const struct opt tg_common_opts[2] = {
	OPT_TEXT('C', "directory", "DIR", struct tg_common, dir, "go to DIR first"),
	OPT_FLAG(0, "json", struct tg_common, json, "answer with one JSON document"),
};

static void write_line(int fd, const char *prefix, const char *fmt, va_list args)
{
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, prefix);
	buf_vprintf(&text, fmt, args);
	buf_addc(&text, '\n');
	(void)fd_write_all(fd, buf_str(&text));
}

void tg_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(STDERR_FILENO, "roux telegram: ", fmt, args);
	va_end(args);
}

void tg_print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(STDOUT_FILENO, "", fmt, args);
	va_end(args);
}

void tg_print_json(const json_t *document)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, document, 0);
	buf_addc(&text, '\n');
	(void)fd_write_all(STDOUT_FILENO, buf_str(&text));
}

int tg_refuse(struct tg_cli *c, bool json)
{
	AUTO_BUF text = BUF_INIT;

	/* None of these commands acts on a run: every next step stands in a hint. */
	report_word(&c->report, (const action_words){ NULL });
	report_sort(&c->report);
	if (json) {
		answer_document(&c->report, &text);
		(void)fd_write_all(STDOUT_FILENO, buf_str(&text));
	} else {
		report_text(&c->report, REPORT_ERRORS, &text);
		(void)fd_write_all(STDERR_FILENO, buf_str(&text));
	}
	return report_has_system(&c->report) ? 1 : 2;
}

bool tg_enter(struct tg_cli *c, const struct tg_common *o)
{
	return !o->dir || chdir(o->dir) == 0 ||
	       report_errno(&c->report, errno, "cannot go to '%s'", o->dir);
}

/* Detached runs are looked after by the program beside this one: this process is not it. */
struct app *tg_app(struct tg_cli *c)
{
	if (!c->app)
		c->app = app_open(NULL);
	return c->app;
}

static void overview(struct buf *b)
{
	buf_adds(b, "Usage: roux telegram COMMAND [OPTION]...\n\nA chat that drives runs and "
		    "agents: one "
		    "bot, one person.\n\nCommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		buf_printf(b, "  %-12s %s\n", commands[i]->name + strlen("telegram "),
			commands[i]->summary);
	buf_adds(b, "\nBegin with `roux telegram setup`; `roux telegram COMMAND --help` says more, "
		    "and so does\nroux-telegram(1).\n");
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i]->name + strlen("telegram "), name) == 0)
			return commands[i];
	return NULL;
}

static int unknown(struct tg_cli *c, const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 1] = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i]->name + strlen("telegram ");
	report_error(&c->report, (struct where){ 0 }, "unknown command 'telegram %s'", name);
	suggest_word(names, str_of(name), &c->report);
	return tg_refuse(c, false);
}

static int run(struct tg_cli *c, const struct command *cmd, size_t argc, const char *const *argv)
{
	void *opts = arena_alloc(&c->arena, cmd->options_size);
	struct cmdline_result parsed = { 0 };
	AUTO_BUF text = BUF_INIT;
	bool json = false;

	for (size_t i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		json |= strcmp(argv[i], "--json") == 0;
	if (!cmdline_parse(cmd, argc, argv, &c->arena, opts, &parsed, &c->report))
		return tg_refuse(c, json);
	if (parsed.help) {
		help_command(cmd, &text);
		return fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
	}
	return cmd->run(&(struct call){ c, cmd, opts, parsed.operand_count, parsed.operands });
}

int telegram_main(int argc, char **argv)
{
	struct tg_cli c = { 0 };
	const char *name = argc > 1 ? argv[1] : "help";
	const struct command *cmd = find(name);
	int status;

	json_seed();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	if (cmd) {
		status = run(&c, cmd, (size_t)argc - 2, (const char *const *)argv + 2);
	} else if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
		   strcmp(name, "-h") == 0) {
		AUTO_BUF text = BUF_INIT;

		overview(&text);
		status = fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
	} else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		tg_print("roux-telegram %s", ROUX_VERSION);
		status = 0;
	} else {
		status = unknown(&c, name);
	}
	report_done(&c.report);
	app_close(c.app);
	arena_done(&c.arena);
	return status;
}
