#include "hosts/telegram/bridge/cli.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/app.h"
#include "base/file.h"

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

/* Detached runs are looked after by the program beside this one: this process is not it. */
struct app *tg_app(struct companion *c)
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

int telegram_main(int argc, char **argv)
{
	struct companion c = { "telegram", commands, ARRAY_SIZE(commands) };
	const char *name = argc > 1 ? argv[1] : "help";
	const struct command *cmd = companion_find(&c, name);
	int status;

	companion_begin(&c);
	json_seed();
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGCHLD, SIG_DFL);
	if (cmd) {
		status =
			companion_run(&c, &c, cmd, (size_t)argc - 2, (const char *const *)argv + 2);
	} else if (strcmp(name, "help") == 0 || strcmp(name, "--help") == 0 ||
		   strcmp(name, "-h") == 0) {
		AUTO_BUF text = BUF_INIT;

		overview(&text);
		status = fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
	} else if (strcmp(name, "--version") == 0 || strcmp(name, "-V") == 0) {
		companion_print("roux-telegram %s", ROUX_VERSION);
		status = 0;
	} else {
		status = companion_unknown(&c, name);
	}
	companion_done(&c);
	return status;
}
