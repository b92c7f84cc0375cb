#include "hosts/serve/start.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "hosts/serve/open-link.h"
#include "hosts/serve/site/dashboard.h"
#include "loop/signals.h"

enum { STOP_MS = 2000 };

struct running {
	struct serve serve;
	struct signals signals;
	bool over;
};

/* -- stopping ------------------------------------------------------------------------------------
 */

static void on_stop_deadline(struct timer *t)
{
	struct serve *s = container_of(t, struct serve, deadline);

	s->at_once = true;
	loop_wake(app_loop(s->app));
}

void serve_stop(struct serve *s)
{
	if (s->stopping) {
		on_stop_deadline(&s->deadline);
		return;
	}
	s->stopping = true;
	if (s->mcp_data)
		s->mcp->detach(s->mcp_data);
	http_stop(s->http);
	s->deadline.fire = on_stop_deadline;
	timer_start(app_loop(s->app), &s->deadline, STOP_MS);
}

static void on_signal(struct signals *signals, int signal, int value)
{
	struct running *run = container_of(signals, struct running, signals);

	(void)value;
	if (signal == SIGHUP)
		http_reload(run->serve.http);
	else
		serve_stop(&run->serve);
}

static void on_logged_in(void *data, struct str once)
{
	(void)data;
	open_link_used(once);
}

static void on_idle(void *data)
{
	serve_stop(data);
}

/* -- systemd -------------------------------------------------------------------------------------
 */

/* One datagram, "READY=1", to whom the environment names. */
static void notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	if (!path || (*path != '/' && *path != '@') || strlen(path) >= sizeof(un.sun_path))
		return;
	memcpy(un.sun_path, path, strlen(path));
	if (*path == '@')
		un.sun_path[0] = 0;
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0)
		(void)sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&un,
			(socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path)));
}

/* -- starting ------------------------------------------------------------------------------------
 */

static void say(const char *line)
{
	companion_say("%s", line);
}

static void say_what_matters(
	const struct serve *s, const struct serve_opts *o, const struct bound_sockets *b)
{
	if (b->moved)
		companion_say("port 7689 is taken by another program: listening at %u", b->port);
	if (s->banner.len)
		companion_say("%.*s", STR(s->banner));
	else if (http_read_only(s->http))
		companion_say("read-only: nothing can be started or stopped from the pages");
	if (b->exposed && !o->behind_tls)
		companion_say("listening beyond this machine without encryption: who can see the "
			      "network can read and take over sessions");
}

static bool listen_all(struct serve *s, struct serve_cli *c, struct bound_sockets *b)
{
	vec_each (fd, &b->fds) {
		int n = http_listen_fd(s->http, take_fd(fd));

		if (n < 0)
			return report_errno(&c->companion.report, -n, "cannot listen");
	}
	int n = http_listen_unix(s->http, s->socket.p);
	/* Where nothing can be written there is still something to look at. */
	if (n < 0 && s->banner.len) {
		companion_say("no socket: %s", strerror(-n));
		return true;
	}
	return n == 0 ||
	       report_errno(&c->companion.report, -n, "cannot listen at '%.*s'", STR(s->socket));
}

static void print_start(struct serve *s, bool json)
{
	AUTO_BUF url = BUF_INIT;

	http_login_url(s->http, &url);
	if (!json) {
		companion_print("%s", buf_cstr(&url));
		return;
	}
	AUTO_JSON *document = json_pack("{s:b, s:s, s:i, s:s, s:i, s:b}", "ok", 1, "url",
		buf_cstr(&url), "port", (int)http_port(s->http), "socket", s->socket.p, "pid",
		(int)getpid(), "read_only", (int)http_read_only(s->http));
	companion_print_json(document);
}

static bool take_log_file(const char *path, struct report *r)
{
	if (!path)
		return true;
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	return (fd >= 0 && dup2(fd, STDERR_FILENO) >= 0) ||
	       report_errno(r, errno, "cannot write '%s'", path);
}

static int turn_until_over(struct running *run)
{
	struct serve *s = &run->serve;

	while (!s->at_once && !(s->stopping && http_quiet(s->http))) {
		int n = app_turn(s->app, -1);

		if (n < 0 && n != -EINTR)
			return 1;
	}
	return 0;
}

static int serve_here(struct running *run, struct serve_cli *c, const struct serve_opts *o,
	struct bound_sockets *b)
{
	static const int wanted[] = { SIGINT, SIGTERM, SIGHUP, 0 };
	struct serve *s = &run->serve;

	if (!listen_all(s, c, b))
		return companion_refuse(&c->companion, o->common.json);
	run->signals.came = on_signal;
	(void)signals_start(app_loop(s->app), &run->signals, wanted);
	say_what_matters(s, o, b);
	print_start(s, o->common.json);
	notify("READY=1");
	/* Commands have the environment of the terminal without what is ours. */
	(void)unsetenv("NOTIFY_SOCKET");
	if (o->open)
		open_link(s->http, &c->places, app_loop(s->app));
	int status = turn_until_over(run);
	open_link_done();
	timer_stop(&s->deadline);
	signals_stop(&run->signals);
	(void)unlink(s->socket.p);
	return status;
}

int start_serving(
	struct serve_cli *c, const struct serve_opts *o, struct bound_sockets *b, bool in_memory)
{
	struct running run = { .serve = { .app = c->companion.app,
				       .roots = o->roots.at,
				       .root_count = o->roots.len,
				       .since_ms = clock_real_ms() } };
	struct serve *s = &run.serve;
	struct http_options options = {
		.loop = app_loop(c->companion.app),
		.dir = in_memory ? S("") : c->places.dir,
		.read_only = o->read_only || in_memory,
		.any_user = o->any_user,
		.user_hint = "roux serve --any-user lets other users of this machine connect",
		.behind_tls = o->behind_tls,
		.exposed = b->exposed,
		.names = o->names.at,
		.name_count = o->names.len,
		.refusal_page = dashboard_refusal,
		.say = say,
		.logged_in = on_logged_in,
		.idle_ms = o->idle_exit * 1000,
		.idle = on_idle,
		.data = s,
	};

	if (in_memory)
		s->banner = S("the state root cannot be written: read-only, sessions end with the "
			      "server");
	s->socket =
		o->socket ? arena_str(&c->companion.arena, str_of(o->socket)) : c->places.socket;
	if (!take_log_file(o->log_file, &c->companion.report) || !options.loop ||
		!(s->http = http_new(&options, &c->companion.report)))
		return companion_refuse(&c->companion, o->common.json);
	s->dashboard = dashboard_new(&(struct dashboard_options){ .app = c->companion.app,
		.roots = o->roots.at,
		.root_count = o->roots.len,
		.audit = in_memory ? S("")
				   : arena_printf(&c->companion.arena, "%.*s/audit.jsonl",
					     STR(c->places.dir)),
		.banner = s->banner });
	http_add_routes(s->http, &(struct http_routes){ serve_routes, serve_route_count, s });
	http_add_routes(s->http, dashboard_routes(s->dashboard));
	if (o->mcp) {
		s->mcp = c->mcp;
		s->mcp_data = c->mcp->attach(c->companion.app, s->http, &c->companion.report);
	}
	int status = o->mcp && !s->mcp_data ? companion_refuse(&c->companion, o->common.json)
					    : serve_here(&run, c, o, b);
	http_free(s->http);
	if (s->mcp_data)
		s->mcp->drop(s->mcp_data);
	dashboard_free(s->dashboard);
	return status;
}
