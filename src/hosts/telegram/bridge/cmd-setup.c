#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <termios.h>
#include <unistd.h>

#include "base/file.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/cli.h"
#include "hosts/telegram/bridge/setup-agent.h"

enum { TOKEN_MAX = 4096 };

struct setup_opts {
	const char *token_file, *api, *code, *agent;
	struct companion_common common;
};

static const struct opt own_opts[] = {
	OPT_TEXT(0, "token-file", "FILE", struct setup_opts, token_file,
		"read the token from FILE (-: standard input)"),
	OPT_TEXT(0, "pairing-code", "CODE", struct setup_opts, code,
		"only /start CODE pairs; \"\": the first person who writes does"),
	OPT_TEXT(0, "agent", "NAME|COMMAND", struct setup_opts, agent,
		"who answers: an agent of `roux agents`, or a command that reads the prompt"),
	OPT_TEXT(0, "api", "URL", struct setup_opts, api, "the Bot API server, and keep it"),
};

static const struct opt_set sets[] = {
	OPT_SET("Options", own_opts),
	COMPANION_COMMON(struct setup_opts),
};

static const struct command_example examples[] = {
	{ "roux telegram setup", "asks for the token on the terminal" },
	{ "roux telegram setup --token-file token.txt --agent 'claude -p'", NULL },
};

/* -- the token -----------------------------------------------------------------------------------
 */

bool tg_read_line(struct buf *ret, bool hidden)
{
	struct termios before, quiet;
	char text[TOKEN_MAX];

	hidden = hidden && tcgetattr(STDIN_FILENO, &before) == 0;
	if (hidden) {
		quiet = before;
		quiet.c_lflag &= ~(tcflag_t)ECHO;
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &quiet);
	}
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));
	if (hidden) {
		(void)tcsetattr(STDIN_FILENO, TCSAFLUSH, &before);
		(void)fd_write_all(STDERR_FILENO, S("\n"));
	}
	if (n < 0)
		return false;
	buf_add(ret, str_trim((struct str){ text, (size_t)n }));
	return true;
}

static void ask_token(struct buf *ret, struct str stored)
{
	if (stored.len)
		(void)fd_write_all(STDERR_FILENO, S("Token (Enter keeps the stored one): "));
	else
		(void)fd_write_all(
			STDERR_FILENO, S("Token of the bot, from @BotFather (it is not shown): "));
	(void)tg_read_line(ret, true);
	if (!ret->len)
		buf_add(ret, stored);
}

static bool not_a_token(struct companion *c)
{
	report_error(&c->report, (struct where){ 0 },
		"this is not a token of a bot: it has the form 123456:ABC-def");
	return report_hint(&c->report, "/mybots at @BotFather shows it");
}

static bool find_token(
	struct companion *c, const struct setup_opts *o, struct str stored, struct buf *ret)
{
	int n = 0;

	if (o->token_file && strcmp(o->token_file, "-") == 0)
		n = fd_read_all(STDIN_FILENO, TOKEN_MAX, ret);
	else if (o->token_file)
		n = file_read(o->token_file, TOKEN_MAX, ret);
	else if (isatty(STDIN_FILENO))
		ask_token(ret, stored.len ? stored : places_env_token());
	else
		buf_add(ret, stored.len ? stored : places_env_token());
	if (n < 0)
		return report_errno(
			&c->report, -n, "cannot read the token from '%s'", o->token_file);
	AUTO_BUF trimmed = BUF_INIT;
	buf_add(&trimmed, str_trim(buf_str(ret)));
	buf_swap(ret, &trimmed);
	struct str t = buf_str(ret);
	size_t colon = str_find(t, ':', 0);
	if (!t.len) {
		report_error(&c->report, (struct where){ 0 }, "there is no token");
		return report_hint(&c->report,
			"give it with --token-file FILE, on a terminal, or in TELEGRAM_BOT_TOKEN");
	}
	for (size_t i = 0; i < t.len; i++)
		if (colon == 0 || colon >= t.len ||
			!(i == colon || (t.p[i] >= '0' && t.p[i] <= '9') ||
				(i > colon && (t.p[i] == '_' || t.p[i] == '-' ||
						      (t.p[i] >= 'a' && t.p[i] <= 'z') ||
						      (t.p[i] >= 'A' && t.p[i] <= 'Z')))))
			return not_a_token(c);
	return true;
}

/* -- who the bot is ------------------------------------------------------------------------------
 */

struct asked {
	struct report *report;
	bool over;
	json_t *me;
};

static void on_me(void *data, const struct api_answer *answer)
{
	struct asked *q = data;

	q->over = true;
	if (answer->class == API_OK && json_number_of(answer->result, "id"))
		q->me = json_incref((json_t *)answer->result);
	else if (answer->class == API_TOKEN_REFUSED) {
		report_system(q->report, (struct where){ 0 }, "the token is refused: %.*s",
			STR(answer->description));
		report_hint(q->report, "copy it again: /mybots at @BotFather shows it");
	} else {
		report_system(q->report, (struct where){ 0 },
			"the Bot API does not answer getMe (%d): %.*s", answer->status,
			STR(answer->description));
		report_hint(q->report, "try again when the network is there; --api names another "
				       "server");
	}
}

static json_t *get_me(struct companion *c, struct str url, struct str token)
{
	struct asked q = { .report = &c->report };
	struct api *api = api_new(app_loop(tg_app(c)), url, token);

	(void)api_start(api, &(struct api_request){ .method = "getMe", .done = on_me, .data = &q });
	while (!q.over && app_turn(tg_app(c), -1) >= 0)
		;
	api_free(api);
	return q.me;
}

/* -- the pairing code ----------------------------------------------------------------------------
 */

static void propose(char *code, size_t size)
{
	unsigned random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	(void)snprintf(code, size, "%08u", random % 100000000u);
}

/* What the changes say about the code, and what the person should know. */
static void choose_code(struct bridge *b, const struct setup_opts *o, json_t *changes)
{
	char code[16];

	if (o->code) {
		json_object_set_new(
			changes, "pairing.code", *o->code ? json_string(o->code) : json_null());
		return;
	}
	if (b->user || conf_text(&b->config, "pairing.code").len)
		return;
	propose(code, sizeof(code));
	if (isatty(STDIN_FILENO)) {
		AUTO_BUF typed = BUF_INIT;
		AUTO_BUF question = BUF_INIT;

		buf_printf(&question, "Pairing code (Enter: %s, -: none): ", code);
		(void)fd_write_all(STDERR_FILENO, buf_str(&question));
		(void)tg_read_line(&typed, false);
		if (!str_eq(buf_str(&typed), S("-")))
			json_object_set_new(changes, "pairing.code",
				json_from_str(typed.len ? buf_str(&typed) : str_of(code)));
		return;
	}
	companion_say(
		"no pairing code is set: the first stranger who finds the bot owns this machine's "
		"agent");
	companion_say("set one: roux telegram settings pairing.code=%s", code);
}

static int setup(const struct call *call)
{
	struct companion *c = call->host;
	const struct setup_opts *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	AUTO_BUF token = BUF_INIT;
	AUTO_JSON *me = NULL;
	AUTO_JSON *changes = json_object();
	struct str url;

	bool ok = companion_enter(c, &o->common) && bridge_open(&b, tg_app(c), &note, &c->report) &&
		  find_token(c, o, b.token, &token) &&
		  bridge_api_url(&b, o->api, &url, &c->report) &&
		  (me = get_me(c, url, buf_str(&token)));
	if (ok) {
		json_object_set_new(changes, "botToken", json_from_str(buf_str(&token)));
		json_object_set(changes, "botUsername", json_object_get(me, "username"));
		json_object_set(changes, "botId", json_object_get(me, "id"));
		if (o->api)
			json_object_set_new(changes, "apiUrl", json_string(o->api));
		choose_code(&b, o, changes);
		ok = setup_agent(&b, o->agent, changes, &c->report) &&
		     conf_write(&b.config, changes, &note, &c->report);
	}
	if (note.len)
		companion_say("%s", buf_cstr(&note));
	int status = ok ? 0 : companion_refuse(c, o->common.json);
	if (ok && o->common.json) {
		AUTO_JSON *d = json_pack("{s:b,s:{s:O,s:O}}", "ok", 1, "bot", "id",
			json_object_get(me, "id"), "username", json_object_get(me, "username"));

		companion_print_json(d);
	} else if (ok) {
		struct str code = conf_text(&b.config, "pairing.code");
		struct str name = conf_text(&b.config, "botUsername");

		companion_print("the bot is @%.*s; next: roux telegram connect, then write to it",
			STR(name));
		if (code.len && !b.user)
			companion_print("to pair, send it: /start %.*s", STR(code));
	}
	bridge_close(&b);
	return status;
}

const struct command tg_setup = {
	.name = "telegram setup",
	.summary = "store the bot's token after checking it",
	.details =
		"The token is read from --token-file, else asked for on the terminal, else the "
		"stored one is checked again, else TELEGRAM_BOT_TOKEN, TELEGRAM_BOT_KEY, "
		"TELEGRAM_TOKEN or TELEGRAM_KEY is taken. It is never an argument, because other "
		"users see arguments.",
	EXAMPLES(examples),
	SETS(sets, struct setup_opts),
	.run = setup,
};
