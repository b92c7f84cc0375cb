#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "hosts/serve/start.h"

enum { FIRST_PORT = 7689, LAST_PORT = 7699, LISTEN_FDS_START = 3 };

void bound_done(struct bound_sockets *b)
{
	vec_each (fd, &b->fds)
		close_fd(fd);
	vec_done(&b->fds);
}

/* Both loopback addresses at one port; a machine may have only one of them. -errno. */
static int bind_loopback(struct bound_sockets *b, uint16_t port)
{
	AUTO_CLOSE int four = http_bind("127.0.0.1", &port);

	if (four < 0 && four != -EADDRNOTAVAIL && four != -EAFNOSUPPORT)
		return four;
	AUTO_CLOSE int six = http_bind("::1", &port);
	if (six < 0 && (four < 0 || (six != -EADDRNOTAVAIL && six != -EAFNOSUPPORT)))
		return six;
	b->port = port;
	if (four >= 0)
		vec_push(&b->fds, take_fd(&four));
	if (six >= 0)
		vec_push(&b->fds, take_fd(&six));
	return 0;
}

static bool bind_usual(struct bound_sockets *b, struct report *r)
{
	int n = -EADDRINUSE;

	for (uint16_t port = FIRST_PORT; port <= LAST_PORT && n == -EADDRINUSE; port++) {
		n = bind_loopback(b, port);
		b->moved = port != FIRST_PORT;
	}
	return n == 0 ||
	       report_errno(r, -n, "cannot listen at ports %d to %d", FIRST_PORT, LAST_PORT);
}

bool start_exposed(const struct serve_opts *o, bool *ret, struct report *r)
{
	*ret = false;
	for (size_t i = 0; i < o->listen.len; i++) {
		AUTO_BUF address = BUF_INIT;
		uint16_t port;
		bool loopback;

		if (!http_read_address(str_of(o->listen.at[i]), &address, &port, &loopback))
			return report_error(r, (struct where){ 0 },
				"--listen takes ADDRESS:PORT such as 127.0.0.1:7689, found '%s'",
				o->listen.at[i]);
		*ret |= !loopback;
	}
	return true;
}

static bool bind_one(const char *text, struct bound_sockets *b, struct report *r)
{
	AUTO_BUF address = BUF_INIT;
	uint16_t port = 0;
	bool loopback;

	(void)http_read_address(str_of(text), &address, &port, &loopback);
	int fd = http_bind(buf_cstr(&address), &port);
	if (fd < 0)
		return report_errno(r, -fd, "cannot listen at %s", text);
	vec_push(&b->fds, fd);
	if (!b->port)
		b->port = port;
	return true;
}

/* Sockets that systemd has opened for this process. */
static void take_given(struct bound_sockets *b)
{
	const char *pid = getenv("LISTEN_PID"), *fds = getenv("LISTEN_FDS");
	uint64_t whose, count;

	if (!pid || !fds || !str_to_uint(str_of(pid), &whose) ||
		!str_to_uint(str_of(fds), &count) || whose != (uint64_t)getpid())
		return;
	for (int i = 0; (uint64_t)i < count && i < 16; i++) {
		int fd = LISTEN_FDS_START + i;

		if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0)
			continue;
		vec_push(&b->fds, fd);
		b->exposed |= http_fd_exposed(fd);
	}
	b->given = b->fds.len > 0;
}

bool start_bind(const struct serve_opts *o, struct bound_sockets *b, struct report *r)
{
	take_given(b);
	/* Commands that are started must not take them for theirs. */
	(void)unsetenv("LISTEN_PID");
	(void)unsetenv("LISTEN_FDS");
	(void)unsetenv("LISTEN_FDNAMES");
	if (b->given)
		return true;
	for (size_t i = 0; i < o->listen.len; i++)
		if (!bind_one(o->listen.at[i], b, r))
			return false;
	if (o->listen.len)
		return true;
	if (o->port == PORT_UNSET)
		return bind_usual(b, r);
	int n = bind_loopback(b, (uint16_t)o->port);
	return n == 0 || report_errno(r, -n, "cannot listen at port %u", (unsigned)o->port);
}
