/* The commands: roux serve, roux serve link, status, stop. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "hosts/serve/ask.h"
#include "hosts/serve/start.h"
#include "http/tokens.h"

/* -- serve ---------------------------------------------------------------------------------------
 */

static const struct opt opts[] = {
	OPT_NUMBER(0, "port", "N", struct serve_opts, port, 0, 65535,
		"listen at this port of the loopback addresses (7689); 0: any"),
	OPT_LIST(0, "listen", "ADDRESS:PORT", struct serve_opts, listen,
		"listen there instead; beyond this machine it needs --name and a token"),
	OPT_TEXT(0, "socket", "PATH", struct serve_opts, socket, "the Unix socket"),
	OPT_FLAG(0, "open", struct serve_opts, open, "open a browser"),
	OPT_FLAG(0, "read-only", struct serve_opts, read_only,
		"show everything, start and stop nothing"),
	OPT_LIST(0, "name", "HOST", struct serve_opts, names,
		"a name by which browsers may reach it; may be given again"),
	OPT_FLAG(0, "behind-tls", struct serve_opts, behind_tls,
		"a reverse proxy speaks https for it, under the names of --name"),
	OPT_FLAG(0, "mcp", struct serve_opts, mcp,
		"recipes as tools for agents at /mcp, with a token"),
	OPT_LIST(0, "root", "DIR", struct serve_opts, roots,
		"recipes may also run in DIR; may be given again"),
	OPT_FLAG(0, "any-user", struct serve_opts, any_user,
		"connections of other users of this machine too"),
	OPT_NUMBER(0, "idle-exit", "S", struct serve_opts, idle_exit, 0, 31536000,
		"end after S seconds without a request"),
	OPT_TEXT(0, "log-file", "FILE", struct serve_opts, log_file,
		"diagnostics go to FILE, not to standard error"),
};

static const struct opt_set sets[] = { OPT_SET("Options", opts),
	COMPANION_COMMON(struct serve_opts) };

static const struct command_example examples[] = {
	{ "roux serve --open", "starts it and opens a browser" },
	{ "roux serve --read-only --idle-exit 600", "for looking only; ends by itself" },
};

static const struct serve_opts defaults = { .port = PORT_UNSET };

/* Beyond loopback there has to be a name to expect and a token to ask for. */
static bool check_exposed(struct serve_cli *c, const struct serve_opts *o, bool exposed)
{
	struct tokens t = { 0 };

	if (!exposed)
		return true;
	bool ok = tokens_open(&t, c->places.dir, &c->companion.report);
	size_t count = t.at.len;
	tokens_close(&t);
	if (!ok || (o->names.len && count))
		return ok;
	report_error(&c->companion.report, (struct where){ 0 },
		o->names.len ? "listening beyond this machine needs a token"
			     : "listening beyond this machine needs --name HOST and a token");
	return report_hint(&c->companion.report,
		"`roux serve token add NAME --scope read` makes a token; without any of it, from "
		"the other machine: ssh -L 7689:127.0.0.1:7689 host");
}

static bool check_options(struct serve_cli *c, const struct serve_opts *o, bool *ret_exposed)
{
	if (!start_exposed(o, ret_exposed, &c->companion.report))
		return false;
	if (o->behind_tls && !o->names.len)
		return report_error(&c->companion.report, (struct where){ 0 },
			"--behind-tls needs --name HOST");
	return check_exposed(c, o, *ret_exposed);
}

static bool differs(const struct serve_opts *o, const json_t *there)
{
	return o->listen.len || o->names.len || o->roots.len || o->any_user || o->behind_tls ||
	       o->socket ||
	       (o->port != PORT_UNSET && o->port &&
		       (json_int_t)o->port != json_number_of(there, "port")) ||
	       o->read_only != json_truth_of(there, "read_only");
}

/* Another server of this state root: a link to it. */
static int show_other(struct serve_cli *c, const struct serve_opts *o)
{
	struct str socket = o->socket ? str_of(o->socket) : c->places.socket;
	AUTO_JSON *link =
		ask_server(socket, "POST", "/api/v1/server/link", NULL, &c->companion.report);
	AUTO_JSON *there =
		link ? ask_server(socket, "GET", "/api/v1/server", NULL, &c->companion.report)
		     : NULL;

	if (!there)
		return companion_refuse(&c->companion, o->common.json);
	if (differs(o, there))
		companion_say(
			"a server is running already, with other options: `roux serve stop` ends "
			"it");
	if (!o->common.json) {
		companion_print("%s", json_string_value(json_object_get(link, "url")));
		return 0;
	}
	AUTO_JSON *document = json_pack("{s:b, s:O, s:O, s:O, s:O, s:O}", "ok", 1, "url",
		json_object_get(link, "url"), "port", json_object_get(there, "port"), "socket",
		json_object_get(there, "socket"), "pid", json_object_get(there, "pid"), "read_only",
		json_object_get(there, "read_only"));
	companion_print_json(document);
	return 0;
}

static int run(const struct call *call)
{
	const struct serve_opts *o = call->opts;
	struct serve_cli *c = call->host;
	struct bound_sockets b = { 0 };

	if (!serve_enter(c, &o->common) || !check_options(c, o, &b.exposed))
		return companion_refuse(&c->companion, o->common.json);
	AUTO_CLOSE int lock = serve_places_lock(&c->places);
	if (lock == -EWOULDBLOCK)
		return show_other(c, o);
	bool in_memory = lock < 0;
	/* Those of systemd are known only now. */
	bool ok = start_bind(o, &b, &c->companion.report) && check_exposed(c, o, b.exposed);
	int status = ok ? start_serving(c, o, &b, in_memory)
			: companion_refuse(&c->companion, o->common.json);
	bound_done(&b);
	return status;
}

const struct command serve_start = {
	.name = "serve",
	.operands = "[link|status|stop|token]",
	.summary = "show runs and recipes in a browser",
	.details =
		"Prints a link that logs a browser in, once. The pages show what runs, what failed "
		"and what waits for an answer; recipes are started, answered, stopped and repeated "
		"there, and scripts get the same as JSON below /api/v1.\n\n"
		"`roux serve link` prints another link, `roux serve status` says what runs, `roux "
		"serve stop` ends it, `roux serve token` makes tokens for scripts. Runs are never "
		"touched by the end of the server.",
	EXAMPLES(examples),
	SETS(sets, struct serve_opts),
	.defaults = &defaults,
	.run = run,
};

/* -- link, status, stop --------------------------------------------------------------------------
 */

struct ask_opts {
	const char *socket;
	struct companion_common common;
};

static const struct opt ask_opts_[] = {
	OPT_TEXT(0, "socket", "PATH", struct ask_opts, socket, "the server's socket"),
};
static const struct opt_set ask_sets[] = { OPT_SET("Options", ask_opts_),
	COMPANION_COMMON(struct ask_opts) };

static json_t *ask(const struct call *call, const char *method, const char *target, bool *none)
{
	const struct ask_opts *o = call->opts;
	struct serve_cli *c = call->host;

	if (!serve_enter(c, &o->common))
		return NULL;
	return ask_server(o->socket ? str_of(o->socket) : c->places.socket, method, target, none,
		&c->companion.report);
}

/* A server that ends when it is idle, and is started by systemd, is there all the same. */
static json_t *ask_for_link(const struct call *call)
{
	const struct ask_opts *o = call->opts;
	struct serve_cli *c = call->host;
	bool none = false;
	json_t *document = ask(call, "POST", "/api/v1/server/link", &none);

	if (document || !none || o->socket)
		return document;
	ask_awake();
	report_reset(&c->companion.report);
	return ask_server(
		c->places.socket, "POST", "/api/v1/server/link", NULL, &c->companion.report);
}

static int run_link(const struct call *call)
{
	const struct ask_opts *o = call->opts;
	struct serve_cli *c = call->host;
	AUTO_JSON *document = ask_for_link(call);

	if (!document)
		return companion_refuse(&c->companion, o->common.json);
	if (o->common.json)
		companion_print_json(document);
	else
		companion_print("%s", json_string_value(json_object_get(document, "url")));
	return 0;
}

/* "1 session", "2 sessions": of a member that is called so. */
static void add_count(struct buf *b, const json_t *document, const char *name)
{
	json_int_t n = json_number_of(document, name);
	int len = (int)strlen(name) - (n == 1);

	buf_printf(b, "%s%lld %.*s", b->len ? ", " : "", (long long)n, len, name);
}

static int run_status(const struct call *call)
{
	const struct ask_opts *o = call->opts;
	struct serve_cli *c = call->host;
	AUTO_JSON *document = ask(call, "GET", "/api/v1/server", NULL);

	if (!document)
		return companion_refuse(&c->companion, o->common.json);
	if (o->common.json) {
		companion_print_json(document);
		return 0;
	}
	struct str url = json_text_of(document, "url"), since = json_text_of(document, "since");
	companion_print("%.*s, process %lld, since %.*s%s", STR(url),
		(long long)json_number_of(document, "pid"), STR(since),
		json_truth_of(document, "read_only") ? ", read-only" : "");
	AUTO_BUF counts = BUF_INIT;
	add_count(&counts, document, "sessions");
	add_count(&counts, document, "connections");
	add_count(&counts, document, "streams");
	companion_print("%s", buf_cstr(&counts));
	return 0;
}

/* Until the lock is free: then a new one may start. */
static bool wait_for_end(const struct serve_places *p)
{
	for (int i = 0; i < 500; i++) {
		int lock = serve_places_lock(p);

		if (lock != -EWOULDBLOCK) {
			close_fd(&lock);
			return true;
		}
		usleep(10000);
	}
	return false;
}

static int run_stop(const struct call *call)
{
	const struct ask_opts *o = call->opts;
	struct serve_cli *c = call->host;
	bool none = false;
	AUTO_JSON *document = ask(call, "POST", "/api/v1/server/stop", &none);

	if (!document || !wait_for_end(&c->places)) {
		if (document)
			report_system(&c->companion.report, (struct where){ 0 },
				"the server has not ended");
		return companion_refuse(&c->companion, o->common.json);
	}
	if (o->common.json) {
		AUTO_JSON *stopped = json_pack("{s:b, s:s}", "ok", 1, "status", "stopped");

		companion_print_json(stopped);
	}
	return 0;
}

const struct command serve_link = {
	.name = "serve link",
	.summary = "print another link that logs a browser in, once",
	SETS(ask_sets, struct ask_opts),
	.run = run_link,
};

const struct command serve_status = {
	.name = "serve status",
	.summary = "say whether a server runs, and where",
	SETS(ask_sets, struct ask_opts),
	.run = run_status,
};

const struct command serve_stop_command = {
	.name = "serve stop",
	.summary = "end the server; runs continue",
	SETS(ask_sets, struct ask_opts),
	.run = run_stop,
};
