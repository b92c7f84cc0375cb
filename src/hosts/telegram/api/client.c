#include "hosts/telegram/api/client.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/epoll.h>

#include "base/mem.h"
#include "hosts/telegram/api/request.h"

struct api {
	struct loop *loop;
	CURLM *multi;
	struct timer timer; /* libcurl's */
	CURL *spare; /* of the last call, for the next one: making one costs as much as a call */
	struct list calls;
	char *base, *token;
	bool local;
	uint64_t penalty_until; /* of loop_now() */
};

/* A connection of libcurl's. */
struct sock {
	struct watch watch;
	struct api *api;
};

static void begin(struct api_call *c);

bool api_base_allowed(struct str base)
{
	static const char *const local[] = { "http://127.0.0.1", "http://localhost",
		"http://[::1]" };

	if (str_starts(base, S("https://")))
		return base.len > 8;
	for (size_t i = 0; i < ARRAY_SIZE(local); i++) {
		struct str l = str_of(local[i]);

		if (str_starts(base, l) &&
			(base.len == l.len || base.p[l.len] == ':' || base.p[l.len] == '/'))
			return true;
	}
	return false;
}

/* -- the end of a call --------------------------------------------------------------------------
 */

/* Also of one that could not be made whole. */
static void end_attempt(struct api_call *c)
{
	if (c->easy)
		(void)curl_multi_remove_handle(c->api->multi, c->easy);
	CURL *easy = request_end(c);
	if (c->api->spare)
		curl_easy_cleanup(easy);
	else
		c->api->spare = easy;
}

static void free_call(struct api_call *c)
{
	timer_stop(&c->timer);
	end_attempt(c);
	list_remove(&c->link);
	json_decref(c->params);
	buf_done(&c->text);
	buf_done(&c->body);
	buf_done(&c->retry_header);
	free(c->url);
	close_fd(&c->upload_fd);
	free(c->upload_name);
	free(c);
}

void api_cancel(struct api_call *c)
{
	if (c)
		free_call(c);
}

/* The call is gone before its owner hears of it, so that the owner may start the next one. */
static void finish(struct api_call *c, const struct api_answer *answer)
{
	api_done_fn *done = c->done;
	void *data = c->data;

	free_call(c);
	if (done)
		done(data, answer);
}

/* Whether there is another attempt, and when. A service that says how long to wait means the bot,
 * not the one call. */
static bool again(struct api_call *c, const struct api_answer *answer, uint64_t *wait_ms)
{
	uint64_t *until = &c->api->penalty_until, now = loop_now(c->api->loop);
	struct str method = str_of(c->method ? c->method : "getFile");
	bool more =
		api_retry(method, answer, c->attempts, API_ATTEMPTS, API_BASE_DELAY_MS, wait_ms);

	if (answer->class == API_FLOOD)
		*until = MAX(*until, now + (answer->has_wait ? answer->wait_ms
						   : more    ? *wait_ms
							     : API_BASE_DELAY_MS));
	return more && c->patience == API_WAITS;
}

static void attempt_ended(struct api_call *c, CURLcode code)
{
	AUTO_JSON *document = NULL;
	struct api_answer answer = request_answer(c, code, &document);
	AUTO_FREE char *said = NULL;

	end_attempt(c);
	uint64_t after;
	if (again(c, &answer, &after)) {
		timer_start(c->api->loop, &c->timer, after);
		return;
	}
	/* The body, which the description is part of, ends with the call. */
	said = mem_dup(answer.description.p, answer.description.len);
	answer.description.p = said;
	finish(c, &answer);
}

/* -- libcurl and the loop ------------------------------------------------------------------------
 */

/* Calls whom it concerns; each may start and cancel other calls. */
static void take_ended(struct api *a)
{
	CURLMsg *m;
	int left;

	while ((m = curl_multi_info_read(a->multi, &left))) {
		struct api_call *c = NULL;

		if (m->msg != CURLMSG_DONE)
			continue;
		CURLcode code = m->data.result;
		(void)curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c);
		attempt_ended(c, code);
	}
}

static void act(struct api *a, curl_socket_t fd, int mask)
{
	int running;

	(void)curl_multi_socket_action(a->multi, fd, mask, &running);
	take_ended(a);
}

static void on_ready(struct watch *w, uint32_t events)
{
	struct sock *s = container_of(w, struct sock, watch);
	int mask = (events & (EPOLLIN | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
		   (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
		   (events & EPOLLERR ? CURL_CSELECT_ERR : 0);

	act(s->api, w->fd, mask);
}

static void on_timer(struct timer *t)
{
	act(container_of(t, struct api, timer), CURL_SOCKET_TIMEOUT, 0);
}

static int want_timer(CURLM *multi, long ms, void *data)
{
	struct api *a = data;

	(void)multi;
	if (ms < 0)
		timer_stop(&a->timer);
	else
		timer_start(a->loop, &a->timer, (uint64_t)ms);
	return 0;
}

static int want_socket(CURL *easy, curl_socket_t fd, int what, void *data, void *mine)
{
	struct api *a = data;
	struct sock *s = mine;

	(void)easy;
	if (s)
		watch_stop(&s->watch);
	if (what == CURL_POLL_REMOVE) {
		free(s);
		(void)curl_multi_assign(a->multi, fd, NULL);
		return 0;
	}
	if (!s) {
		s = mem_new(struct sock);
		s->api = a;
		s->watch.ready = on_ready;
		(void)curl_multi_assign(a->multi, fd, s);
	}
	uint32_t events =
		(what & CURL_POLL_IN ? EPOLLIN : 0) | (what & CURL_POLL_OUT ? EPOLLOUT : 0);
	return watch_start(a->loop, &s->watch, fd, events) < 0 ? -1 : 0;
}

struct api *api_new(struct loop *l, struct str base, struct str token)
{
	struct api *a = mem_new(struct api);

	if (curl_global_init(CURL_GLOBAL_DEFAULT) || !(a->multi = curl_multi_init())) {
		free(a);
		errno = ENOMEM;
		return NULL;
	}
	a->loop = l;
	a->timer.fire = on_timer;
	list_init(&a->calls);
	while (base.len && base.p[base.len - 1] == '/')
		base.len--;
	a->base = strndup(base.p, base.len);
	a->token = strndup(token.p, token.len);
	a->local = !str_starts(base, S("https://"));
	curl_multi_setopt(a->multi, CURLMOPT_SOCKETFUNCTION, want_socket);
	curl_multi_setopt(a->multi, CURLMOPT_SOCKETDATA, a);
	curl_multi_setopt(a->multi, CURLMOPT_TIMERFUNCTION, want_timer);
	curl_multi_setopt(a->multi, CURLMOPT_TIMERDATA, a);
	return a;
}

void api_free(struct api *a)
{
	if (!a)
		return;
	list_each_safe (link, &a->calls)
		free_call(list_entry(link, struct api_call, link));
	curl_easy_cleanup(a->spare);
	(void)curl_multi_cleanup(a->multi);
	timer_stop(&a->timer);
	free(a->base);
	free(a->token);
	free(a);
}

/* -- calls ---------------------------------------------------------------------------------------
 */

static void start_attempt(struct api_call *c)
{
	c->attempts++;
	c->easy = c->api->spare ? TAKE(c->api->spare) : curl_easy_init();
	if (c->easy && request_make(c, c->api->local) &&
		!curl_multi_add_handle(c->api->multi, c->easy))
		return;
	end_attempt(c);
	finish(c, &(struct api_answer){
			  .class = API_UNSENT, .description = S("the request could not be made") });
}

static void begin(struct api_call *c)
{
	uint64_t now = loop_now(c->api->loop), until = c->api->penalty_until;

	if (until <= now || c->patience == API_ONCE)
		start_attempt(c);
	else if (c->patience == API_WAITS)
		timer_start(c->api->loop, &c->timer, until - now);
	else
		finish(c, NULL);
}

static void on_due(struct timer *t)
{
	begin(container_of(t, struct api_call, timer));
}

/* Begins from the loop, so that `done` is never called before the caller has the call. */
static struct api_call *add_call(struct api *a, struct api_call *c)
{
	c->api = a;
	c->timer.fire = on_due;
	list_append(&a->calls, &c->link);
	timer_start(a->loop, &c->timer, 0);
	return c;
}

struct api_call *api_start(struct api *a, const struct api_request *q)
{
	struct api_call *c = mem_new(struct api_call);
	AUTO_BUF url = BUF_INIT;

	buf_printf(&url, "%s/bot%s/%s", a->base, a->token, q->method);
	c->url = buf_take(&url);
	c->method = q->method;
	c->params = q->params;
	c->upload_field = q->upload.field;
	c->upload_fd = q->upload.field ? fcntl(q->upload.fd, F_DUPFD_CLOEXEC, 3) : -1;
	c->upload_name = q->upload.name ? mem_strdup(q->upload.name) : NULL;
	c->deadline_ms = q->deadline_ms ? q->deadline_ms : API_DEADLINE_MS;
	c->patience = q->patience;
	c->done = q->done;
	c->data = q->data;
	c->fd = -1;
	c->max = 32 << 20;
	return add_call(a, c);
}

struct api_call *api_download(
	struct api *a, struct str file_path, int fd, uint64_t max, api_done_fn *done, void *data)
{
	struct api_call *c = mem_new(struct api_call);
	AUTO_BUF url = BUF_INIT;

	buf_printf(&url, "%s/file/bot%s/", a->base, a->token);
	/* Of the service's own making, and yet not trusted: nothing in it ends the path. */
	for (size_t i = 0; i < file_path.len; i++) {
		unsigned char ch = (unsigned char)file_path.p[i];

		if (ch <= ' ' || ch >= 127 || strchr("?#%\"<>\\^`{|}", ch))
			buf_printf(&url, "%%%02X", ch);
		else
			buf_addc(&url, (char)ch);
	}
	c->url = buf_take(&url);
	c->fd = fd;
	c->upload_fd = -1;
	c->max = max;
	c->done = done;
	c->data = data;
	return add_call(a, c);
}

bool api_penalty(const struct api *a)
{
	return a->penalty_until > loop_now(a->loop);
}

size_t api_pending(const struct api *a)
{
	size_t n = 0;

	list_each (link, &a->calls)
		n++;
	return n;
}
