#include "hosts/mcp/http/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "hosts/mcp/http/transport.h"
#include "loop/signals.h"

enum { STOP_MS = 2000, TOKEN_MAX = 4096 };

struct running {
	struct mcp *server;
	struct mcp_http *transport;
	struct http *http;
	struct signals signals;
	struct timer deadline;
	bool stopping, at_once;
};

static void on_deadline(struct timer *t)
{
	struct running *run = container_of(t, struct running, deadline);

	run->at_once = true;
	loop_wake(run->transport->loop);
}

static void on_signal(struct signals *s, int signal, int value)
{
	struct running *run = container_of(s, struct running, signals);

	(void)value;
	if (signal == SIGHUP) {
		http_reload(run->http);
	} else if (run->stopping) {
		on_deadline(&run->deadline);
	} else {
		run->stopping = true;
		mcp_http_end(run->transport);
		http_stop(run->http);
		run->deadline.fire = on_deadline;
		timer_start(run->transport->loop, &run->deadline, STOP_MS);
	}
}

/* -- what lets in --------------------------------------------------------------------------------
 */

/* A file that others can read is not a secret. */
static bool read_token(const char *path, struct buf *ret, struct report *r)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return report_errno(r, errno, "cannot read '%s'", path);
	if (!S_ISREG(st.st_mode) || st.st_mode & 077) {
		report_error(r, (struct where){ 0 }, "'%s' can be read by others", path);
		return report_hint(r, "chmod 600 %s", path);
	}
	int n = fd_read_all(fd, TOKEN_MAX, ret);
	if (n < 0)
		return report_errno(r, -n, "cannot read '%s'", path);
	return str_trim(buf_str(ret)).len > 0 ||
	       report_error(r, (struct where){ 0 }, "'%s' has no token", path);
}

/* The address of --http is loopback; others need a name to expect and a token to ask for. */
static bool check_addresses(
	const struct mcp_http_options *o, bool token, bool *ret_exposed, struct report *r)
{
	AUTO_BUF address = BUF_INIT;
	uint16_t port;
	bool loopback;

	*ret_exposed = false;
	if (o->address &&
		(!http_read_address(str_of(o->address), &address, &port, &loopback) || !loopback)) {
		report_error(r, (struct where){ 0 },
			"--http takes a loopback address with a port such as 127.0.0.1:0, found "
			"'%s'",
			o->address);
		return report_hint(r, "--listen ADDRESS:PORT with --name HOST and a token listens "
				      "beyond this machine");
	}
	for (size_t i = 0; i < o->listen_count; i++) {
		buf_reset(&address);
		if (!http_read_address(str_of(o->listen[i]), &address, &port, &loopback))
			return report_error(r, (struct where){ 0 },
				"--listen takes ADDRESS:PORT, found '%s'", o->listen[i]);
		*ret_exposed |= !loopback;
	}
	if (!*ret_exposed || (o->name_count && token))
		return true;
	report_error(r, (struct where){ 0 },
		"listening beyond this machine needs --name HOST and a token");
	return report_hint(r,
		"`roux serve token add NAME --scope read,run` makes a token, "
		"--token-file has one; without any of it, from the other machine: ssh "
		"-L 7689:127.0.0.1:7689 host");
}

/* -- listening -----------------------------------------------------------------------------------
 */

static bool listen_at(struct http *h, const char *text, struct report *r)
{
	AUTO_BUF address = BUF_INIT;
	uint16_t port = 0;
	bool loopback;

	(void)http_read_address(str_of(text), &address, &port, &loopback);
	int fd = http_bind(buf_cstr(&address), &port);
	int n = fd < 0 ? fd : http_listen_fd(h, fd);
	if (n < 0)
		return report_errno(r, -n, "cannot listen at %s", text);
	struct str host = buf_str(&address);
	bool six = str_find(host, ':', 0) < host.len;
	mcp_log("listening on http://%s%.*s%s:%u/mcp", six ? "[" : "", STR(host), six ? "]" : "",
		port);
	return true;
}

static bool listen_all(struct http *h, const struct mcp_http_options *o, struct report *r)
{
	if (o->address && !listen_at(h, o->address, r))
		return false;
	for (size_t i = 0; i < o->listen_count; i++)
		if (!listen_at(h, o->listen[i], r))
			return false;
	if (!o->socket)
		return true;
	int n = http_listen_unix(h, o->socket);
	if (n < 0)
		return report_errno(r, -n, "cannot listen at '%s'", o->socket);
	mcp_log("listening on the socket %s", o->socket);
	return true;
}

static void say(const char *line)
{
	mcp_log("%s", line);
}

static void on_health(struct http_request *q)
{
	http_reply_static(
		q, &(struct http_content){ .type = "text/plain; charset=utf-8" }, S("ok\n"));
}

static const struct http_route health[] = {
	{ "GET", "/healthz", HTTP_ASSET, HTTP_OPEN, HTTP_READS, on_health, "ok" },
};

static struct http *open_door(
	struct mcp *m, const struct mcp_http_options *o, struct arena *a, struct report *r)
{
	AUTO_BUF token = BUF_INIT;
	struct http_options options = {
		.loop = app_loop(m->app),
		.borrowed = true,
		.open_mcp = true,
		.dir = path_below(a, app_state_root(m->app), S("serve")),
		.names = o->names,
		.name_count = o->name_count,
		.user_hint = "only the user of the server may connect",
		.say = say,
	};
	bool exposed = false;

	if (o->token_file && !read_token(o->token_file, &token, r))
		return NULL;
	struct http *h = options.loop ? http_new(&options, r) : NULL;
	if (!h)
		return NULL;
	if (o->token_file)
		http_add_token(h, S("file"), str_trim(buf_str(&token)), HTTP_SCOPES);
	bool has_token = http_counts(h).tokens > 0;
	if (!check_addresses(o, has_token, &exposed, r)) {
		http_free(h);
		return NULL;
	}
	return h;
}

/* -- all of it -----------------------------------------------------------------------------------
 */

static int refuse(struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	report_text(r, REPORT_ERRORS, &text);
	(void)fd_write_all(STDERR_FILENO, buf_str(&text));
	return report_has_system(r) ? 1 : 2;
}

static void on_pipe(int signal)
{
	(void)signal;
}

int mcp_http_serve(struct mcp *m, const struct mcp_http_options *o)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	struct running run = { .server = m, .signals.came = on_signal };

	(void)signal(SIGPIPE, on_pipe);
	run.http = open_door(m, o, &a, &r);
	int status = run.http && listen_all(run.http, o, &r) ? 0 : refuse(&r);
	if (status == 0) {
		run.transport = mcp_http_new(m);
		http_add_routes(run.http, &run.transport->routes);
		http_add_routes(
			run.http, &(struct http_routes){ health, ARRAY_SIZE(health), NULL });
		(void)signals_start(run.transport->loop, &run.signals, wanted);
		while (!run.at_once && !(run.stopping && http_quiet(run.http)) &&
			app_turn(m->app, -1) >= 0)
			;
		timer_stop(&run.deadline);
		signals_stop(&run.signals);
		if (o->socket)
			(void)unlink(o->socket);
	}
	http_free(run.http);
	mcp_http_free(run.transport);
	arena_done(&a);
	return status;
}

struct mcp_http *mcp_http_attach(struct app *a, struct http *h, struct report *r)
{
	struct mcp_options o = mcp_default_options();

	o.read_only = http_read_only(h);
	struct mcp *m = mcp_new(a, &o, r);
	if (!m)
		return NULL;
	struct mcp_http *t = mcp_http_new(m);
	http_add_routes(h, &t->routes);
	return t;
}

void mcp_http_detach(struct mcp_http *t)
{
	if (t)
		mcp_http_end(t);
}

void mcp_http_drop(struct mcp_http *t)
{
	struct mcp *m = t ? t->server : NULL;

	mcp_http_free(t);
	mcp_free(m);
}
