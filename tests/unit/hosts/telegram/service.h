#pragma once

/* A Bot API inside the test: on the same loop, with answers that the test has written down before,
 * and a clock that the test moves. */

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/vec.h"
#include "data/json.h"
#include "loop/loop.h"
#include "moved-clock.h"
#include "unit.h"

/* -- the service ---------------------------------------------------------------------------------
 */

struct service;

struct connection {
	struct list link;
	struct service *service;
	struct watch watch;
	struct buf in;
	bool waits; /* a getUpdates that has nothing to give */
};

/* The next request of the method gets it. */
struct scripted {
	const char *method;
	int status; /* 0: the connection is reset */
	const char *body;
};

struct service {
	struct loop *loop;
	struct watch listening;
	struct list connections;
	char url[64];
	VEC(struct scripted) script;
	json_t *requests; /* [[method, parameters]] */
	json_t *updates;  /* what the next getUpdates gives */
	/* Called before a request is answered; may be NULL. */
	void (*asked)(struct service *s, const char *method, const json_t *params);
	int64_t next_message;
};

static void connection_free(struct connection *c)
{
	int fd = c->watch.fd;

	watch_stop(&c->watch);
	close_fd(&fd);
	list_remove(&c->link);
	buf_done(&c->in);
	free(c);
}

static void connection_say(struct connection *c, int status, const char *body)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text, "HTTP/1.1 %d -\r\nContent-Length: %zu\r\n\r\n%s", status, strlen(body),
		body);
	(void)fd_write_all(c->watch.fd, buf_str(&text));
}

static void connection_give_updates(struct connection *c)
{
	AUTO_JSON *answer = json_pack("{s:b,s:O}", "ok", 1, "result", c->service->updates);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, answer, 0);
	c->waits = false;
	connection_say(c, 200, buf_cstr(&text));
	json_array_clear(c->service->updates);
}

static void connection_answer(struct connection *c, const char *method)
{
	struct service *s = c->service;
	AUTO_BUF text = BUF_INIT;

	for (size_t i = 0; i < s->script.len; i++) {
		struct scripted now = s->script.at[i];

		if (!now.method || strcmp(now.method, method) != 0)
			continue;
		s->script.at[i].method = NULL;
		if (now.status) {
			connection_say(c, now.status, now.body);
		} else {
			struct linger hard = { 1, 0 };

			(void)setsockopt(c->watch.fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
			connection_free(c);
		}
		return;
	}
	if (strcmp(method, "getUpdates") == 0 && !json_array_size(s->updates)) {
		c->waits = true;
		return;
	}
	if (strcmp(method, "getUpdates") == 0) {
		connection_give_updates(c);
		return;
	}
	buf_printf(&text, "{\"ok\":true,\"result\":{\"message_id\":%lld}}",
		(long long)++s->next_message);
	connection_say(c, 200, buf_cstr(&text));
}

/* One whole request, if it is there. */
static bool connection_take(struct connection *c)
{
	struct str in = buf_str(&c->in);
	const char *end = in.len ? memmem(in.p, in.len, "\r\n\r\n", 4) : NULL;
	char method[64] = "";
	size_t length = 0;

	if (!end)
		return false;
	const char *field = strcasestr(buf_cstr(&c->in), "content-length:");
	if (field && field < end)
		length = (size_t)strtoul(field + 15, NULL, 10);
	size_t head = (size_t)(end - in.p) + 4;
	if (in.len < head + length)
		return false;
	(void)sscanf(buf_cstr(&c->in), "POST /bot%*[^/]/%63s", method);
	json_t *params = json_loadb(in.p + head, length, 0, NULL);
	params = params ? params : json_object();
	json_array_append_new(c->service->requests, json_pack("[s,o]", method, params));
	buf_drop(&c->in, head + length);
	if (c->service->asked)
		c->service->asked(c->service, method, params);
	connection_answer(c, method);
	return true;
}

static void on_bytes(struct watch *w, uint32_t events)
{
	struct connection *c = container_of(w, struct connection, watch);
	char bytes[65536];
	ssize_t n = read(w->fd, bytes, sizeof(bytes));

	(void)events;
	if (n <= 0) {
		connection_free(c);
		return;
	}
	buf_add(&c->in, (struct str){ bytes, (size_t)n });
	(void)connection_take(c); /* the client does not send two at once */
}

static void on_connection(struct watch *w, uint32_t events)
{
	struct service *s = container_of(w, struct service, listening);
	struct connection *c = mem_new(struct connection);
	int fd = accept4(w->fd, NULL, NULL, SOCK_CLOEXEC);

	(void)events;
	assert_true(fd >= 0);
	c->service = s;
	c->watch.ready = on_bytes;
	list_append(&s->connections, &c->link);
	assert_true(watch_start(s->loop, &c->watch, fd, EPOLLIN) >= 0);
}

static void service_start(struct service *s, struct loop *l)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	*s = (struct service){ .loop = l, .requests = json_array(), .updates = json_array() };
	list_init(&s->connections);
	assert_true(bind(fd, (struct sockaddr *)&at, size) == 0 && listen(fd, 16) == 0);
	assert_true(getsockname(fd, (struct sockaddr *)&at, &size) == 0);
	(void)snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%d", ntohs(at.sin_port));
	s->listening.ready = on_connection;
	assert_true(watch_start(l, &s->listening, fd, EPOLLIN) >= 0);
}

static void service_stop(struct service *s)
{
	int fd = s->listening.fd;

	list_each_safe (link, &s->connections)
		connection_free(list_entry(link, struct connection, link));
	watch_stop(&s->listening);
	close_fd(&fd);
	vec_done(&s->script);
	json_decref(s->requests);
	json_decref(s->updates);
}

static inline void service_script(
	struct service *s, const char *method, int status, const char *body)
{
	vec_push(&s->script, (struct scripted){ method, status, body });
}

/* A person does something: the poll that waits has an answer. */
static inline void service_update(struct service *s, json_t *update)
{
	json_array_append_new(s->updates, update);
	list_each_safe (link, &s->connections) {
		struct connection *c = list_entry(link, struct connection, link);

		if (c->waits)
			connection_give_updates(c);
	}
}

/* How many requests of that method there were; *ret_last has the parameters of the last one. */
static inline size_t service_count(
	const struct service *s, const char *method, const json_t **ret_last)
{
	size_t n = 0, i;
	json_t *r;

	json_array_foreach(s->requests, i, r)
	{
		if (strcmp(json_string_value(json_array_get(r, 0)), method) != 0)
			continue;
		n++;
		if (ret_last)
			*ret_last = json_array_get(r, 1);
	}
	return n;
}
