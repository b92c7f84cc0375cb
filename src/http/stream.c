/* A stream is a suspended connection: the reader gives bytes to the library, or suspends when there
 * are none, and who pushes resumes it. */
#include <stdlib.h>

#include "http/door.h"

enum { BEAT_MS = 15000, SLOW_MS = 30000, BYE_MS = 2000, PIECE = 32 * 1024 };

struct http_stream {
	struct list link; /* oldest first */
	struct http *http;
	struct http_request *request; /* NULL: the connection is gone */
	struct http_stream_options options;
	struct buf session; /* of a browser; empty: another principal */
	struct buf token;   /* the sum of the one that opened it; empty: none did */
	struct buf queue;
	size_t taken;         /* of the queue's beginning */
	uint64_t progress_ms; /* when the client last took something, or nothing waited */
	struct timer beat;
	struct deferred drained;
	bool ending; /* when the queue is empty */
	bool broken; /* at once */
	bool told;   /* bye has been said */
	bool open;   /* it needed no token */
};

static size_t left(const struct http_stream *s)
{
	return s->queue.len - s->taken;
}

/* -- bytes ---------------------------------------------------------------------------------------
 */

static ssize_t on_read(void *data, uint64_t at, char *to, size_t most)
{
	struct http_stream *s = data;
	size_t n = MIN(left(s), most);

	(void)at;
	if (s->broken)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	if (!n && s->ending)
		return MHD_CONTENT_READER_END_OF_STREAM;
	if (!n) {
		request_suspend(s->request);
		return 0;
	}
	memcpy(to, s->queue.p + s->taken, n);
	s->taken += n;
	s->progress_ms = loop_now(s->http->loop);
	if (!left(s)) {
		buf_reset(&s->queue);
		s->taken = 0;
	}
	if (s->options.drained && !s->ending && !list_linked(&s->drained.link))
		deferred_start(s->http->loop, &s->drained);
	return (ssize_t)n;
}

static void on_drained(struct deferred *d)
{
	struct http_stream *s = container_of(d, struct http_stream, drained);

	s->options.drained(s->options.data);
}

static void wake(struct http_stream *s)
{
	if (s->request)
		request_resume(s->request);
}

static void push(struct http_stream *s, struct str bytes)
{
	if (!left(s))
		s->progress_ms = loop_now(s->http->loop);
	/* What has been taken makes room before the buffer grows. */
	if (s->taken && s->queue.len + bytes.len > s->queue.cap) {
		buf_drop(&s->queue, s->taken);
		s->taken = 0;
	}
	buf_add(&s->queue, bytes);
	wake(s);
}

void http_stream_push(struct http_stream *s, struct str bytes)
{
	if (!s->ending && !s->broken && bytes.len)
		push(s, bytes);
}

void http_event_text(struct buf *b, const char *event, struct str id, struct str data)
{
	if (id.len)
		buf_printf(b, "id: %.*s\n", STR(id));
	buf_printf(b, "event: %s\ndata: ", event);
	buf_add(b, data);
	buf_adds(b, "\n\n");
}

void http_stream_event(struct http_stream *s, const char *event, struct str id, struct str data)
{
	AUTO_BUF text = BUF_INIT;

	http_event_text(&text, event, id, data);
	http_stream_push(s, buf_str(&text));
}

size_t http_stream_queued(const struct http_stream *s)
{
	return left(s);
}

void http_stream_end(struct http_stream *s)
{
	s->ending = true;
	wake(s);
}

/* -- ends ----------------------------------------------------------------------------------------
 */

void stream_abort(struct http_stream *s)
{
	s->broken = true;
	wake(s);
}

void stream_left(struct http_stream *s)
{
	conn_shut(s->request->conn);
}

/* Says why, and ends. A client that does not even take that is dropped a moment later. */
static void bye(struct http_stream *s, const char *reason)
{
	AUTO_BUF data = BUF_INIT;

	if (s->told)
		return;
	s->told = true;
	if (!s->options.quiet) {
		buf_printf(&data, "{\"reason\":\"%s\"}", reason);
		http_stream_event(s, "bye", S(""), buf_str(&data));
	}
	http_stream_end(s);
	timer_start(s->http->loop, &s->beat, BYE_MS);
}

void streams_bye(struct http *h, const char *reason)
{
	list_each_safe (link, &h->streams)
		bye(list_entry(link, struct http_stream, link), reason);
}

void streams_end_session(struct http *h, struct str session, const char *reason)
{
	list_each_safe (link, &h->streams) {
		struct http_stream *s = list_entry(link, struct http_stream, link);

		if (session.len && str_eq(buf_str(&s->session), session))
			bye(s, reason);
	}
}

static bool is_known(const struct http *h, struct str sum)
{
	vec_each (t, &h->tokens.at)
		if (str_eq(str_of((*t)->sum), sum))
			return true;
	return false;
}

void streams_end_tokens(struct http *h, const char *reason)
{
	list_each_safe (link, &h->streams) {
		struct http_stream *s = list_entry(link, struct http_stream, link);

		if (s->token.len ? !is_known(h, buf_str(&s->token)) : s->open && h->guarded)
			bye(s, reason);
	}
}

static void on_beat(struct timer *t)
{
	struct http_stream *s = container_of(t, struct http_stream, beat);

	if (s->told) {
		if (s->request)
			conn_shut(s->request->conn);
		return;
	}
	door_refresh(s->http);
	if (s->told)
		return; /* its token is not known any more */
	if (left(s) && loop_now(s->http->loop) - s->progress_ms >= SLOW_MS) {
		/* What waits is dropped: it would not be read either. */
		buf_truncate(&s->queue, s->taken);
		bye(s, "slow");
		return;
	}
	if (!left(s))
		http_stream_push(s, S(": \n\n"));
	timer_start(s->http->loop, t, BEAT_MS);
}

void stream_over(struct http_stream *s)
{
	struct http *h = s->http;

	s->request = NULL;
	timer_stop(&s->beat);
	deferred_stop(&s->drained);
	list_remove(&s->link);
	h->stream_count--;
	if (s->options.gone)
		s->options.gone(s->options.data);
	buf_done(&s->queue);
	buf_done(&s->session);
	buf_done(&s->token);
	free(s);
}

/* -- begin ---------------------------------------------------------------------------------------
 */

/* A session has four: the oldest ends. */
static void make_room(struct http *h, struct str session)
{
	size_t count = 0;
	struct http_stream *oldest = NULL;

	list_each (link, &h->streams) {
		struct http_stream *s = list_entry(link, struct http_stream, link);

		if (s->told || s->ending || !str_eq(buf_str(&s->session), session))
			continue;
		if (!oldest)
			oldest = s;
		count++;
	}
	if (count >= STREAMS_OF_SESSION)
		bye(oldest, "moved");
}

struct http_stream *http_stream_open(struct http_request *q, const struct http_stream_options *o)
{
	struct http *h = q->http;

	if (q->head) {
		AUTO_BUF empty = BUF_INIT;

		http_reply_bytes(q,
			&(struct http_content){ .type = o->type ? o->type : "text/event-stream" },
			&empty);
		return NULL;
	}
	if (!o->quiet && q->principal.session.len)
		make_room(h, q->principal.session);
	if (h->stream_count >= STREAMS_MAX) {
		http_add_header(q, "Retry-After", S("5"));
		http_refuse(q, 503, "streams", NULL, "there are too many streams");
		return NULL;
	}
	struct http_stream *s = mem_new(struct http_stream);
	s->http = h;
	s->request = q;
	s->options = *o;
	s->progress_ms = loop_now(h->loop);
	s->beat.fire = on_beat;
	s->drained.call = on_drained;
	if (!o->quiet)
		buf_add(&s->session, q->principal.session);
	buf_add(&s->token, q->token);
	s->open = q->principal.via == HTTP_VIA_NONE;
	list_append(&h->streams, &s->link);
	h->stream_count++;
	q->stream = s;
	timer_start(h->loop, &s->beat, BEAT_MS);
	http_add_header(q, "Content-Type", str_of(o->type ? o->type : "text/event-stream"));
	http_add_header(q, "Cache-Control", S("no-store"));
	http_add_header(q, "X-Accel-Buffering", S("no"));
	reply_send(q, 200,
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, PIECE, on_read, s, NULL));
	return s;
}
