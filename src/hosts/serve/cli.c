#include "hosts/serve/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "app/answers.h"
#include "base/file.h"
#include "cmdline/help.h"
#include "cmdline/man.h"
#include "cmdline/parse.h"
#include "cmdline/suggest.h"
#include "hosts/serve/serve.h"

static const struct command *const commands[] = {
	&serve_link,
	&serve_status,
	&serve_stop_command,
	&serve_token,
};

const struct opt serve_common_opts[2] = {
	OPT_TEXT('C', "directory", "DIR", struct serve_common, dir, "go to DIR first"),
	OPT_FLAG(0, "json", struct serve_common, json, "answer with one JSON document"),
};

static void write_line(int fd, const char *prefix, const char *fmt, va_list args)
{
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, prefix);
	buf_vprintf(&text, fmt, args);
	buf_addc(&text, '\n');
	(void)fd_write_all(fd, buf_str(&text));
}

void serve_say(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(STDERR_FILENO, "roux serve: ", fmt, args);
	va_end(args);
}

void serve_print(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	write_line(STDOUT_FILENO, "", fmt, args);
	va_end(args);
}

void serve_print_json(const json_t *document)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, document, 0);
	buf_addc(&text, '\n');
	(void)fd_write_all(STDOUT_FILENO, buf_str(&text));
}

int serve_refuse(struct serve_cli *c, bool json)
{
	AUTO_BUF text = BUF_INIT;

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

bool serve_enter(struct serve_cli *c, const struct serve_common *o)
{
	if (o->dir && chdir(o->dir) < 0)
		return report_errno(&c->report, errno, "cannot go to '%s'", o->dir);
	/* Runs are looked after by the program beside this one. Who logs in is the operator. */
	c->app = app_open(&(struct app_options){ .owner = "" });
	serve_places_find(c->app, &c->arena, &c->places);
	return true;
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(commands[i]->name + strlen("serve "), name) == 0)
			return commands[i];
	return NULL;
}

static int unknown(struct serve_cli *c, const char *name)
{
	const char *names[ARRAY_SIZE(commands) + 1] = { NULL };

	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		names[i] = commands[i]->name + strlen("serve ");
	report_error(&c->report, (struct where){ 0 }, "unknown command 'serve %s'", name);
	suggest_word(names, str_of(name), &c->report);
	return serve_refuse(c, false);
}

static int run(struct serve_cli *c, const struct command *cmd, size_t argc, const char *const *argv)
{
	void *opts = arena_alloc(&c->arena, cmd->options_size);
	struct cmdline_result parsed = { 0 };
	AUTO_BUF text = BUF_INIT;
	bool json = false;

	for (size_t i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		json |= strcmp(argv[i], "--json") == 0;
	if (!cmdline_parse(cmd, argc, argv, &c->arena, opts, &parsed, &c->report))
		return serve_refuse(c, json);
	if (parsed.help) {
		help_command(cmd, &text);
		return fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
	}
	return cmd->run(
		&(struct call){ c, cmd, opts, parsed.operand_count, parsed.operands, argv, argc });
}

/* The tables of the manual page, as scdoc(5) source: `roux-serve debug man`. */
static int print_man(void)
{
	static const char *const needs[] = { [HTTP_OPEN] = "no session",
		[HTTP_READ] = "read",
		[HTTP_RUN] = "run",
		[HTTP_ANSWER] = "answer",
		[HTTP_SOCKET] = "the socket" };
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "# OPTIONS\n\n");
	man_options(&serve_start, &text);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		man_options(commands[i], &text);
	buf_adds(&text,
		"# ROUTES\n\nWhat is needed stands in brackets: a scope of a token, which a "
		"browser's session and the socket have all of.\n\n");
	for (size_t i = 0; i < serve_route_count; i++) {
		const struct http_route *r = &serve_routes[i];

		buf_printf(&text, "*%s* ", r->method);
		for (const char *p = r->path; *p; p++)
			buf_printf(&text, *p == '_' ? "\\%c" : "%c", *p);
		buf_printf(&text, "\n\t%s [%s]\n\n", r->summary, needs[r->scope]);
	}
	return fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
}

static void on_pipe(int signal)
{
	(void)signal;
}

int serve_main(int argc, char **argv, const struct command *mcp, const struct serve_guest *guest)
{
	struct serve_cli c = { .mcp = guest };
	const char *const *words = (const char *const *)argv + 1;
	size_t count = argc > 1 ? (size_t)argc - 1 : 0;
	const struct command *cmd = count && words[0][0] != '-' ? find(words[0]) : &serve_start;
	int status;

	if (count && mcp && strcmp(words[0], mcp->name) == 0)
		cmd = mcp;
	json_seed();
	/* Handled and not ignored: what is ignored here would be ignored in commands too. */
	(void)signal(SIGPIPE, on_pipe);
	(void)signal(SIGCHLD, SIG_DFL);
	if (count && (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0)) {
		serve_print("roux-serve %s", ROUX_VERSION);
		status = 0;
	} else if (count == 2 && strcmp(words[0], "debug") == 0 && strcmp(words[1], "man") == 0) {
		status = print_man();
	} else if (count && strcmp(words[0], "help") == 0) {
		status = run(&c, &serve_start, 1, (const char *const[]){ "--help" });
	} else if (!cmd) {
		status = unknown(&c, words[0]);
	} else {
		size_t skip = cmd == &serve_start ? 0 : 1;

		status = run(&c, cmd, count - skip, words + skip);
	}
	report_done(&c.report);
	app_close(c.app);
	arena_done(&c.arena);
	return status;
}
