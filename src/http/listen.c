#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/door.h"
#include "http/unix-path.h"

/* Accepted in one turn of the loop; so long new connections wait when descriptors are out. */
enum { AT_ONCE = 64, AGAIN_MS = 200, BACKLOG = 256 };

/* -- connections ---------------------------------------------------------------------------------
 */

static bool is_loopback(const struct sockaddr_storage *s)
{
	if (s->ss_family == AF_INET)
		return (ntohl(((const struct sockaddr_in *)s)->sin_addr.s_addr) >> 24) == 127;
	return s->ss_family == AF_INET6 &&
	       IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)s)->sin6_addr);
}

/* Who is at the other end. False: the connection cannot even be asked. */
static bool look_at_peer(struct conn *c, const struct sockaddr_storage *peer)
{
	struct http *h = c->http;
	struct sockaddr_storage own = { 0 };
	socklen_t size = sizeof(own);

	if (c->local) {
		struct ucred who;

		size = sizeof(who);
		if (getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &size) < 0)
			return false;
		c->uid = who.uid;
		c->foreign = who.uid != getuid() && who.uid != 0;
		return true;
	}
	(void)setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){ 1 }, sizeof(int));
	if (h->options.any_user || !is_loopback(peer))
		return true;
	if (getsockname(c->fd, (struct sockaddr *)&own, &size) < 0)
		return false;
	c->unsure = !peer_uid(h, peer, &own, &c->uid);
	c->foreign = !c->unsure && c->uid != getuid() && c->uid != 0;
	return true;
}

static bool is_stranger(const struct conn *c)
{
	return !c->known && !c->local && !c->closing;
}

/* Of connections without a session the oldest that is silent makes room. */
static bool make_room(struct http *h)
{
	size_t strangers = 0;
	struct conn *silent = NULL;

	list_each (link, &h->conns) {
		struct conn *c = list_entry(link, struct conn, link);

		strangers += is_stranger(c);
		if (!silent && is_stranger(c) && !c->request)
			silent = c;
	}
	if (strangers < STRANGERS_MAX && h->conn_count < CONNECTIONS_MAX)
		return true;
	if (!silent)
		return false;
	conn_shut(silent);
	return true;
}

static void on_deadline(struct timer *t)
{
	conn_shut(container_of(t, struct conn, deadline));
}

static void take(struct listener *l, int fd, const struct sockaddr_storage *peer, socklen_t size)
{
	struct http *h = l->http;

	if (!l->local && !make_room(h)) {
		close(fd);
		return;
	}
	if (h->conn_count >= CONNECTIONS_MAX) {
		close(fd);
		return;
	}
	struct conn *c = mem_new(struct conn);
	c->http = h;
	c->fd = fd;
	c->local = l->local;
	c->port = l->port;
	c->since_ms = loop_now(h->loop);
	c->deadline.fire = on_deadline;
	list_append(&h->conns, &c->link);
	h->conn_count++;
	if (!look_at_peer(c, peer)) {
		close(fd);
		conn_free(c);
		return;
	}
	timer_start(h->loop, &c->deadline, HEADERS_MS);
	door_busy(h);
	h->accepting = c;
	/* It closes the descriptor when it cannot take it. */
	if (MHD_add_connection(h->daemon, fd, (const struct sockaddr *)peer, size) != MHD_YES &&
		!c->mhd)
		conn_free(c);
	h->accepting = NULL;
	door_kick(h);
}

static void stop_accepting(struct http *h)
{
	list_each (link, &h->listeners)
		watch_stop(&list_entry(link, struct listener, link)->watch);
}

static void start_accepting(struct http *h)
{
	list_each (link, &h->listeners) {
		struct listener *l = list_entry(link, struct listener, link);

		if (!l->watch.loop)
			(void)watch_start(h->loop, &l->watch, l->fd, EPOLLIN);
	}
}

static void on_accept_again(struct timer *t)
{
	start_accepting(container_of(t, struct http, accept_again));
}

static void on_connect(struct watch *w, uint32_t events)
{
	struct listener *l = container_of(w, struct listener, watch);

	(void)events;
	for (int i = 0; i < AT_ONCE; i++) {
		struct sockaddr_storage peer = { 0 };
		socklen_t size = sizeof(peer);
		int fd = accept4(
			l->fd, (struct sockaddr *)&peer, &size, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (fd >= 0) {
			take(l, fd, &peer, size);
		} else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
			   errno == ENOBUFS) {
			stop_accepting(l->http);
			l->http->accept_again.fire = on_accept_again;
			timer_start(l->http->loop, &l->http->accept_again, AGAIN_MS);
			return;
		} else if (errno != EINTR && errno != ECONNABORTED) {
			return;
		}
	}
}

/* -- listeners -----------------------------------------------------------------------------------
 */

static void listener_free(struct listener *l)
{
	watch_stop(&l->watch);
	list_remove(&l->link);
	close_fd(&l->fd);
	free(l);
}

void listeners_close(struct http *h)
{
	while (!list_empty(&h->listeners))
		listener_free(list_entry(h->listeners.next, struct listener, link));
}

static uint16_t port_of(const struct sockaddr_storage *s)
{
	if (s->ss_family == AF_INET)
		return ntohs(((const struct sockaddr_in *)s)->sin_port);
	return s->ss_family == AF_INET6 ? ntohs(((const struct sockaddr_in6 *)s)->sin6_port) : 0;
}

int http_listen_fd(struct http *h, int fd)
{
	struct sockaddr_storage own = { 0 };
	socklen_t size = sizeof(own);
	struct listener *l = mem_new(struct listener);

	l->http = h;
	l->fd = fd;
	l->watch.ready = on_connect;
	list_append(&h->listeners, &l->link);
	int n = getsockname(fd, (struct sockaddr *)&own, &size) < 0 ? -errno : 0;
	if (n == 0 && fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0)
		n = -errno;
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	l->local = own.ss_family == AF_UNIX;
	l->port = port_of(&own);
	if (n == 0)
		n = watch_start(h->loop, &l->watch, fd, EPOLLIN);
	if (n < 0) {
		listener_free(l);
		return n;
	}
	if (!h->port)
		h->port = l->port;
	return 0;
}

static int bound(const struct sockaddr *s, socklen_t size)
{
	AUTO_CLOSE int fd = socket(s->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -errno;
	/* Never SO_REUSEPORT: it would let another process take the port. */
	(void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){ 1 }, sizeof(int));
	if (s->sa_family == AF_INET6)
		(void)setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &(int){ 1 }, sizeof(int));
	if (bind(fd, s, size) < 0 || listen(fd, BACKLOG) < 0)
		return -errno;
	return take_fd(&fd);
}

static bool read_address(const char *text, uint16_t port, struct sockaddr_storage *s)
{
	struct sockaddr_in *four = (struct sockaddr_in *)s;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)s;

	*s = (struct sockaddr_storage){ 0 };
	if (inet_pton(AF_INET, text, &four->sin_addr) == 1) {
		four->sin_family = AF_INET;
		four->sin_port = htons(port);
		return true;
	}
	if (inet_pton(AF_INET6, text, &six->sin6_addr) != 1)
		return false;
	six->sin6_family = AF_INET6;
	six->sin6_port = htons(port);
	return true;
}

bool http_read_address(struct str text, struct buf *address, uint16_t *port, bool *ret_loopback)
{
	struct sockaddr_storage s;
	uint64_t n;
	size_t colon = text.len;

	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (!colon || !str_to_uint(str_from(text, colon), &n) || n > 65535)
		return false;
	struct str name = str_sub(text, 0, colon - 1);
	if (name.len > 2 && name.p[0] == '[' && name.p[name.len - 1] == ']')
		name = str_sub(name, 1, name.len - 2);
	buf_add(address, name);
	*port = (uint16_t)n;
	if (!read_address(buf_cstr(address), *port, &s))
		return false;
	*ret_loopback = is_loopback(&s);
	return true;
}

int http_bind(const char *address, uint16_t *port)
{
	struct sockaddr_storage s;
	socklen_t size = sizeof(s);

	if (!read_address(address, *port, &s))
		return -EINVAL;
	int fd = bound((const struct sockaddr *)&s,
		s.ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
	if (fd >= 0 && getsockname(fd, (struct sockaddr *)&s, &size) == 0)
		*port = port_of(&s);
	return fd;
}

bool http_fd_exposed(int fd)
{
	struct sockaddr_storage s = { 0 };
	socklen_t size = sizeof(s);

	if (getsockname(fd, (struct sockaddr *)&s, &size) < 0)
		return true;
	return s.ss_family != AF_UNIX && !is_loopback(&s);
}

int http_listen_unix(struct http *h, const char *path)
{
	AUTO_CLOSE int dir = -1;
	struct sockaddr_un un;
	int n = unix_path_address(path, &un, &dir);

	if (n < 0)
		return n;
	if (unlink(path) < 0 && errno != ENOENT)
		return -errno;
	mode_t before = umask(0177);
	int fd = bound((const struct sockaddr *)&un, sizeof(un));
	umask(before);
	return fd < 0 ? fd : http_listen_fd(h, fd);
}
