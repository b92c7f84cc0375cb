#include "hosts/serve/cli.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "cmdline/man.h"
#include "hosts/serve/serve.h"
#include "hosts/serve/site/dashboard.h"

/* The loop stands still for so long at most, and so many directories are opened for a list without
 * a ledger. */
enum { LEDGER_WAIT_MS = 2000, DIRECTORIES_MAX = 1000 };

static const struct command *const commands[] = {
	&serve_link,
	&serve_status,
	&serve_stop_command,
	&serve_token,
};

bool serve_enter(struct serve_cli *c, const struct companion_common *o)
{
	if (!companion_enter(&c->companion, o))
		return false;
	/* Runs are looked after by the program beside this one. Who logs in is the operator. */
	c->companion.app = app_open(&(struct app_options){ .owner = "",
		.ledger_wait_ms = LEDGER_WAIT_MS,
		.directories_max = DIRECTORIES_MAX });
	serve_places_find(c->companion.app, &c->companion.arena, &c->places);
	return true;
}

/* Underscores of names would begin something that is underlined. */
static void man_text(struct buf *b, const char *text)
{
	for (const char *p = text; *p; p++)
		buf_printf(b, *p == '_' || *p == '*' ? "\\%c" : "%c", *p);
}

static void man_route(struct buf *b, const struct http_route *r)
{
	static const char *const needs[] = { [HTTP_OPEN] = "no session",
		[HTTP_READ] = "read",
		[HTTP_RUN] = "run",
		[HTTP_ANSWER] = "answer",
		[HTTP_SOCKET] = "the socket" };

	buf_printf(b, "*%s* ", r->method);
	man_text(b, r->path);
	buf_printf(b, "\n\t%s [%s]", r->summary, needs[r->scope]);
	if (r->query) {
		buf_adds(b, "; behind ?: ");
		man_text(b, r->query);
	}
	if (r->body) {
		buf_adds(b, "; body: ");
		man_text(b, r->body);
	}
	buf_adds(b, "\n\n");
}

static void man_routes(
	struct buf *b, const struct http_route *at, size_t count, enum http_kind kind)
{
	for (size_t i = 0; i < count; i++)
		if ((at[i].kind == HTTP_API) == (kind == HTTP_API))
			man_route(b, &at[i]);
}

/* The tables of the manual page, as scdoc(5) source: `roux-serve debug man`. */
static int print_man(void)
{
	struct http_routes site = dashboard_table();
	AUTO_BUF text = BUF_INIT;

	buf_adds(&text, "# OPTIONS\n\n");
	man_options(&serve_start, &text);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		man_options(commands[i], &text);
	buf_adds(&text,
		"# ROUTES\n\nWhat is needed stands in brackets: a scope of a token, which a "
		"browser's session and the socket have all of. With *--mcp* there is */mcp* "
		"too: *roux-mcp*(1).\n\n## PAGES\n\n");
	man_routes(&text, serve_routes, serve_route_count, HTTP_PAGE);
	man_routes(&text, site.at, site.count, HTTP_PAGE);
	buf_adds(&text, "## API\n\n");
	man_routes(&text, serve_routes, serve_route_count, HTTP_API);
	man_routes(&text, site.at, site.count, HTTP_API);
	return fd_write_all(STDOUT_FILENO, buf_str(&text)) < 0;
}

static void on_pipe(int signal)
{
	(void)signal;
}

int serve_main(int argc, char **argv, const struct command *mcp, const struct serve_guest *guest)
{
	struct serve_cli c = { .companion = { "serve", commands, ARRAY_SIZE(commands) },
		.mcp = guest };
	const char *const *words = (const char *const *)argv + 1;
	size_t count = argc > 1 ? (size_t)argc - 1 : 0;
	const struct command *cmd =
		count && words[0][0] != '-' ? companion_find(&c.companion, words[0]) : &serve_start;
	int status;

	if (count && mcp && strcmp(words[0], mcp->name) == 0)
		cmd = mcp;
	companion_begin(&c.companion);
	json_seed();
	/* Handled and not ignored: what is ignored here would be ignored in commands too. */
	(void)signal(SIGPIPE, on_pipe);
	(void)signal(SIGCHLD, SIG_DFL);
	if (count && (strcmp(words[0], "--version") == 0 || strcmp(words[0], "-V") == 0)) {
		companion_print("roux-serve %s", ROUX_VERSION);
		status = 0;
	} else if (count == 2 && strcmp(words[0], "debug") == 0 && strcmp(words[1], "man") == 0) {
		status = print_man();
	} else if (count && strcmp(words[0], "help") == 0) {
		status = companion_run(
			&c.companion, &c, &serve_start, 1, (const char *const[]){ "--help" });
	} else if (!cmd) {
		status = companion_unknown(&c.companion, words[0]);
	} else {
		size_t skip = cmd == &serve_start ? 0 : 1;

		status = companion_run(&c.companion, &c, cmd, count - skip, words + skip);
	}
	companion_done(&c.companion);
	return status;
}
