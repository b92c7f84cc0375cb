/* What a stream is sent. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "app/logs.h"
#include "app/messages.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "data/json-out.h"
#include "hosts/serve/site/aside.h"
#include "hosts/serve/site/feed.h"

/* -- sending -------------------------------------------------------------------------------------
 */

bool stream_has_room(const struct stream *s)
{
	return s->out && http_stream_queued(s->out) < HTTP_STREAM_QUEUE;
}

void stream_event(struct stream *s, const char *event, struct str data)
{
	AUTO_BUF id = BUF_INIT;

	if (s->generation.len)
		buf_printf(&id, "%.*s.%" PRIu64 ".%" PRIu64, STR(s->generation), s->seq, s->offset);
	AUTO_BUF text = BUF_INIT;
	http_event_text(&text, event, buf_str(&id), data);
	if (s->feeds->keeping)
		buf_add(&s->feeds->shared.bytes, buf_str(&text));
	http_stream_push(s->out, buf_str(&text));
}

void stream_hello(struct stream *s, uint64_t seq)
{
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_object(&o, NULL);
	json_out_str(&o, "server", asset_url("roux.js") /* names the build */);
	json_out_uint(&o, "seq", seq);
	json_out_time(&o, "now", clock_real_ms());
	json_out_object_end(&o);
	stream_event(s, "hello", buf_str(&b));
}

/* -- a run ---------------------------------------------------------------------------------------
 */

static void send_summary(struct stream *s, struct run_model *m, json_t *status)
{
	static const char *const names[] = { "run", "status", "progress", "ms", "failed",
		"tolerated", "failures_total", "pending_approval", "generation", "ended" };
	AUTO_BUF b = BUF_INIT;
	AUTO_BUF same = BUF_INIT;
	struct json_out o = { .b = &b };
	struct node_view top;

	json_out_object(&o, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_out_value(&o, names[i], json_object_get(status, names[i]));
	json_out_bool(&o, "live", run_model_live(m));
	if (run_model_root(m)) {
		AUTO_BUF counts = BUF_INIT;

		run_model_view(m, run_model_root(m), &top);
		struct progress n = progress_of(top.counts);
		tree_counts(&counts, top.counts);
		json_out_str(&o, "counts", buf_str(&counts));
		json_out_uint(&o, "commands", n.all);
		json_out_uint(&o, "over", n.over);
		json_out_uint(&o, "bad", n.bad);
	}
	json_out_object_end(&o);
	stream_event(s, "run", buf_str(&b));
}

/* One failure for each that is new, so that a page can say so. */
static void send_failures(struct stream *s, json_t *status)
{
	const json_t *list = json_object_get(status, "failures");
	uint64_t total = (uint64_t)json_number_of(status, "failures_total");

	if (!s->fresh)
		for (size_t i = (size_t)s->failures;
			i < json_array_size(list) && i < s->failures + 20; i++) {
			AUTO_BUF b = BUF_INIT;
			struct json_out o = { .b = &b };
			const json_t *f = json_array_get(list, i);

			json_out_object(&o, NULL);
			json_out_value(&o, "path", json_object_get(f, "path"));
			json_out_value(&o, "label", json_object_get(f, "label"));
			json_out_value(&o, "code", json_object_get(f, "code"));
			json_out_object_end(&o);
			stream_event(s, "failure", buf_str(&b));
		}
	s->failures = total;
}

static void send_gate(struct stream *s, json_t *status)
{
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_object(&o, NULL);
	json_out_value(&o, "asked", json_object_get(status, "pending_approval"));
	json_out_value(&o, "answered", json_object_get(status, "answered"));
	json_out_object_end(&o);
	if (str_eq(buf_str(&b), buf_str(&s->gate)))
		return;
	if (!s->fresh)
		stream_event(s, "gate", buf_str(&b));
	buf_swap(&s->gate, &b);
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

struct batch {
	struct stream *s;
	struct run_model *m;
	struct buf b;
	uint64_t since; /* 0: the page knows nothing yet */
	uint64_t seq;   /* what the page has come to when all of it is sent */
	bool flood;     /* it does not fit */
};

/* The number goes out with the last piece: a page that is cut off in between asks for all again. */
static void batch_flush(struct batch *t, bool last)
{
	if (last)
		t->s->seq = t->seq;
	if (!t->b.len)
		return;
	buf_addc(&t->b, ']');
	stream_event(t->s, "nodes", buf_str(&t->b));
	buf_reset(&t->b);
}

static void batch_add(struct batch *t, const struct node_view *v)
{
	AUTO_BUF one = BUF_INIT;
	struct json_out o = { .b = &one };

	json_out_array(&o, NULL);
	json_out_str(&o, NULL, v->path);
	json_out_str(&o, NULL, str_of(shown_state_word(v->state)));
	if (v->timed && v->reached)
		json_out_uint(&o, NULL, v->ms);
	else
		json_out_null(&o, NULL);
	if (v->coded)
		json_out_int(&o, NULL, v->code);
	else
		json_out_null(&o, NULL);
	json_out_uint(&o, NULL, v->attempts);
	if (v->group && v->counts) {
		AUTO_BUF counts = BUF_INIT;

		tree_counts(&counts, v->counts);
		json_out_str(&o, NULL, buf_str(&counts));
	}
	json_out_array_end(&o);
	if (t->b.len && t->b.len + one.len + strlen(",]") > BATCH_BYTES) {
		/* One batch each time; what a page knows nothing of has to come in several. */
		t->flood = t->since;
		if (t->flood)
			return;
		batch_flush(t, false);
	}
	buf_addc(&t->b, t->b.len ? ',' : '[');
	buf_add(&t->b, buf_str(&one));
}

/* All that has changed: of a large group a page shows some, and knows which. To a page that knows
 * nothing yet, the first page of each group. */
static void batch_walk(struct batch *t, const struct past_node *n, uint64_t from)
{
	size_t children = past_node_children(n), begin = (size_t)MIN(from, (uint64_t)children);
	size_t end = t->since ? children : MIN(children, begin + TREE_PAGE);
	struct node_view v;

	for (size_t i = t->since ? 0 : begin; i < end && !t->flood; i++) {
		const struct past_node *child = past_node_child(n, i);

		if (t->since && past_node_changed(child) <= t->since)
			continue;
		run_model_view(t->m, child, &v);
		batch_add(t, &v);
		batch_walk(t, child, 0);
	}
}

/* Too much has changed at once to be told one by one: the page fetches what it shows. The groups
 * that it is about are told in any case. */
static void send_nodes(struct stream *s, struct run_model *m, bool again)
{
	struct batch t = { .s = s, .m = m, .since = s->seq, .seq = run_model_seq(m) };
	const struct past_node *about[TOPICS] = { NULL };
	struct node_view v;

	if (again && t.since)
		t.since--;
	for (size_t i = 0; i < s->node_count; i++) {
		const struct past_node *n = run_model_find(m, s->nodes[i].path);

		if (!n || (t.since && past_node_changed(n) <= t.since))
			continue;
		run_model_view(m, n, &v);
		batch_add(&t, &v);
		about[i] = n;
	}
	for (size_t i = 0; i < s->node_count; i++)
		if (about[i])
			batch_walk(&t, about[i], s->nodes[i].from);
	batch_flush(&t, true);
	if (t.flood)
		stream_event(s, "resync", S("{}"));
	buf_done(&t.b);
}

/* -- logs ----------------------------------------------------------------------------------------
 */

struct log_batch {
	struct stream *s;
	struct buf b;
	size_t lines;
};

static void log_line(void *data, const struct log_line *line)
{
	struct log_batch *t = data;

	buf_printf(&t->b, "%s[%" PRIu64 ",", t->lines ? "," : "", line->offset);
	ansi_json(&t->b, &t->s->style, line->text);
	buf_addc(&t->b, ']');
	t->lines++;
}

static void pass_line(void *data, const struct log_line *line)
{
	(void)data;
	(void)line;
}

void stream_find_end(struct stream *s, struct run_model *m)
{
	struct log_slice slice = { .stream = s->log.stream,
		.node = s->log.node,
		.attempt = s->log.attempt,
		.kind = SLICE_TAIL,
		.lines = 1,
		.whole = run_model_live(m) };
	struct log_found found = { 0 };

	s->offset = run_log_lines(run_model_run(m), &slice, pass_line, NULL, &found) == 0
			    ? found.next
			    : 0;
}

/* False: there is nothing more to send now. */
static bool send_lines(struct stream *s, struct run_model *m)
{
	struct log_batch t = { .s = s };
	struct log_found found = { 0 };
	AUTO_BUF b = BUF_INIT;
	struct mask *mask;
	bool live = run_model_live(m);

	if (!site_mask(m, &mask))
		return false;
	struct log_slice slice = { .stream = s->log.stream,
		.node = s->log.node,
		.attempt = s->log.attempt,
		.kind = SLICE_FROM,
		.at = s->offset,
		.lines = 400,
		.whole = live,
		.mask = mask };
	int e = run_log_lines(run_model_run(m), &slice, log_line, &t, &found);
	mask_free(mask);
	if (e < 0 || found.next <= s->offset) {
		buf_done(&t.b);
		return false;
	}
	if (found.size > found.next && found.size - found.next > LOG_BEHIND) {
		/* A flood: the page gets a gap with its size in place of it. */
		uint64_t to = found.size - (64 << 10);

		buf_printf(&b, "{\"skip\":[%" PRIu64 ",%" PRIu64 "]}", s->offset, to);
		s->offset = to;
		s->style = (struct ansi_style){ 0 };
	} else {
		buf_printf(&b, "{\"from\":%" PRIu64 ",\"to\":%" PRIu64 ",\"lines\":[%s]}",
			s->offset, found.next, buf_cstr(&t.b));
		s->offset = found.next;
	}
	stream_event(s, "log", buf_str(&b));
	buf_done(&t.b);
	return s->offset < found.size;
}

/* -- everything about one run --------------------------------------------------------------------
 */

/* NULL: it is gone, or still being read. */
static struct run_model *model_of(struct stream *s)
{
	AUTO_REPORT r = REPORT_INIT;

	if (!aside_run_known(s->feeds->site->aside, s->run, feeds_again, s->feeds))
		return NULL;
	struct run_model *m = run_models_get(s->feeds->site->models, s->run, &r);
	if (!m) {
		http_stream_event(s->out, "bye", S(""), S("{\"reason\":\"gone\"}"));
		http_stream_end(s->out);
	}
	return m;
}

static void tell(struct stream *s, struct run_model *m, json_t **doc)
{
	AUTO_BUF status = BUF_INIT;
	struct str word = run_status_word(run_model_run(m));

	if (!str_eq(s->generation, run_model_generation(m))) {
		bool was = s->generation.len > 0;

		s->generation = arena_str(&s->arena, run_model_generation(m));
		s->seq = 0;
		if (was)
			stream_event(s, "resync", S("{}"));
	}
	buf_printf(&status, "%.*s-%" PRIu64, STR(word), run_model_seq(m));
	if (!s->fresh && str_eq(buf_str(&status), buf_str(&s->status)))
		return;
	/* An end that no event tells is as new as the last event. */
	bool silent = s->fresh ? str_eq(word, status_str(ROUX_EXITED))
			       : !str_starts(buf_str(&s->status), word);

	if (s->node_count)
		send_nodes(s, m, silent);
	else
		s->seq = run_model_seq(m);
	if (s->wants_run) {
		if (!*doc)
			*doc = run_status_document(run_model_run(m));
		send_summary(s, m, *doc);
		send_failures(s, *doc);
		send_gate(s, *doc);
	}
	buf_swap(&s->status, &status);
	s->fresh = false;
}

static void tell_lines(struct stream *s, struct run_model *m)
{
	if (s->wants_log)
		for (int i = 0; i < 4 && stream_has_room(s) && send_lines(s, m); i++)
			;
}

void stream_update_run(struct stream *s)
{
	AUTO_JSON *doc = NULL;
	struct run_model *m = s->run.len && stream_has_room(s) ? model_of(s) : NULL;

	if (!m)
		return;
	tell(s, m, &doc);
	tell_lines(s, m);
}

/* -- everything, to many -------------------------------------------------------------------------
 */

static bool same_topics(const struct stream *a, const struct stream *b)
{
	if (a->wants_log || b->wants_log || a->wants_run != b->wants_run ||
		a->node_count != b->node_count)
		return false;
	for (size_t i = 0; i < a->node_count; i++)
		if (a->nodes[i].from != b->nodes[i].from ||
			!str_eq(a->nodes[i].path, b->nodes[i].path))
			return false;
	return true;
}

/* Whether it stands where the other stood. */
static bool is_alike(const struct stream *s, const struct shared *h)
{
	return h->like && same_topics(s, h->like) && s->fresh == h->fresh && s->seq == h->seq &&
	       s->failures == h->failures && str_eq(s->generation, h->generation) &&
	       str_eq(buf_str(&s->status), buf_str(&h->status)) &&
	       str_eq(buf_str(&s->gate), buf_str(&h->gate));
}

static void set(struct buf *b, const struct buf *from)
{
	buf_reset(b);
	buf_add(b, buf_str(from));
}

static void tell_alike(struct stream *s, const struct shared *h)
{
	http_stream_push(s->out, buf_str(&h->bytes));
	s->fresh = h->like->fresh;
	s->seq = h->like->seq;
	s->failures = h->like->failures;
	if (!str_eq(s->generation, h->like->generation))
		s->generation = arena_str(&s->arena, h->like->generation);
	set(&s->status, &h->like->status);
	set(&s->gate, &h->like->gate);
}

static void tell_and_keep(struct stream *s, struct run_model *m, json_t **doc, struct shared *h)
{
	h->like = s;
	h->fresh = s->fresh;
	h->seq = s->seq;
	h->failures = s->failures;
	h->generation = s->generation;
	set(&h->status, &s->status);
	set(&h->gate, &s->gate);
	buf_reset(&h->bytes);
	s->feeds->keeping = true;
	tell(s, m, doc);
	s->feeds->keeping = false;
}

/* To all streams of the run of this one. */
static void update_run_of(struct feeds *f, struct stream *first)
{
	struct run_model *m = NULL;
	AUTO_JSON *doc = NULL;

	f->shared.like = NULL;
	EACH(struct stream, s, &f->streams)
	{
		if (!s->out || s->pass == f->pass || !str_eq(s->run, first->run))
			continue;
		s->pass = f->pass;
		s->held = !stream_has_room(s);
		if (s->held || (!m && !(m = model_of(s))))
			continue;
		if (is_alike(s, &f->shared))
			tell_alike(s, &f->shared);
		else
			tell_and_keep(s, m, &doc, &f->shared);
		tell_lines(s, m);
	}
	f->shared.like = NULL;
}

void streams_update_runs(struct feeds *f)
{
	f->pass++;
	EACH(struct stream, s, &f->streams)
	if (s->out && s->run.len && s->pass != f->pass)
		update_run_of(f, s);
}

/* -- messages ------------------------------------------------------------------------------------
 */

struct telling {
	struct run_feed *r;
	struct mask *mask;
	bool looked, known;
};

static void write_message(const json_t *message, struct buf *b)
{
	static const char *const names[] = { "id", "ts", "type", "level", "from", "to", "summary" };
	struct json_out o = { .b = b };
	AUTO_BUF preview = BUF_INIT;

	json_out_object(&o, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		json_out_value(&o, names[i], json_object_get(message, names[i]));
	message_body_preview(&preview, message);
	json_out_str(&o, "preview", buf_str(&preview));
	json_out_object_end(&o);
}

static void tell_message(void *data, const json_t *message)
{
	struct telling *t = data;
	struct feeds *f = t->r->feeds;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	if (!t->looked) {
		t->looked = true;
		t->known = run_mask(t->r->run, &t->mask, &ignored);
	}
	if (!t->known)
		return; /* one of its secrets could not be masked */
	AUTO_JSON *shown = mask_members(t->mask, message);
	write_message(shown, &b);
	EACH(struct stream, s, &f->streams)
	if (stream_has_room(s) && s->wants_run && str_eq(s->run, run_id(t->r->run)))
		stream_event(s, "message", buf_str(&b));
}

void run_feed_messages(struct run_feed *r)
{
	struct telling t = { .r = r };

	if (r->messages)
		messages_follow_read(r->messages, tell_message, &t);
	mask_free(t.mask);
}

/* -- the list ------------------------------------------------------------------------------------
 */

struct rows {
	struct stream *s;
	struct buf b;
	size_t count;
};

static uint64_t hash_of(const struct run_entry *e)
{
	uint64_t h = 1469598103934665603ull;

	for (size_t i = 0; i < e->status.len; i++)
		h = (h ^ (unsigned char)e->status.p[i]) * 1099511628211ull;
	h = (h ^ e->started) * 1099511628211ull;
	h = (h ^ e->ended) * 1099511628211ull;
	return ((h ^ e->failed) * 1099511628211ull) | 1;
}

static bool see_row(void *data, const struct run_entry *e)
{
	struct rows *t = data;
	struct json_out o = { .b = &t->b };
	void **place = map_put(&t->s->rows, &t->s->row_arena, e->id);
	uint64_t hash = hash_of(e);

	if ((uint64_t)(uintptr_t)*place == (uint64_t)(uintptr_t)hash)
		return true;
	*place = (void *)(uintptr_t)hash;
	o.more = t->count++ > 0;
	json_out_object(&o, NULL);
	json_out_str(&o, "run", e->id);
	json_out_str_or_null(&o, "recipe", e->recipe);
	json_out_str(&o, "status", e->status);
	json_out_time(&o, "started", e->started);
	json_out_time(&o, "ended", e->ended);
	json_out_uint(&o, "ms", e->ms);
	json_out_str_or_null(&o, "owner", e->owner);
	json_out_bool(&o, "detached", e->detached);
	json_out_uint(&o, "failed", e->failed);
	json_out_uint(&o, "tolerated", e->tolerated);
	if (e->exit >= 0)
		json_out_int(&o, "exit", e->exit);
	else
		json_out_null(&o, "exit");
	json_out_object_end(&o);
	return true;
}

static void rows_again(void *data)
{
	struct rows *t = data;

	buf_reset(&t->b);
	t->count = 0;
	t->s->rows = (struct map){ 0 };
	arena_reset(&t->s->row_arena);
}

static void add_counts(struct feeds *f, struct json_out *o)
{
	AUTO_REPORT r = REPORT_INIT;
	struct runs_counted n;

	json_out_object(o, "counts");
	if (runs_count(f->site->app, &n, &r))
		for (enum roux_status s = ROUX_RUNNING; s <= ROUX_EXITED; s++)
			if (n.by_status[s])
				json_out_uint(o, status_name(s), n.by_status[s]);
	json_out_object_end(o);
}

void stream_update_runs(struct stream *s)
{
	AUTO_REPORT r = REPORT_INIT;
	struct rows t = { .s = s };
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	if (!s->wants_runs || (s->version && s->version == s->feeds->version))
		return;
	s->held |= !stream_has_room(s);
	if (!stream_has_room(s))
		return;
	s->version = s->feeds->version;
	runs_each(s->feeds->site->app, &s->filter, see_row, rows_again, &t, &r);
	if (t.count || !s->listed) {
		s->listed = true;
		json_out_object(&o, NULL);
		json_out_array(&o, "runs");
		buf_add(&b, buf_str(&t.b));
		json_out_array_end(&o);
		add_counts(s->feeds, &o);
		json_out_object_end(&o);
		/* Without an id: the list is not a place of a run. */
		http_stream_event(s->out, "runs", S(""), buf_str(&b));
	}
	buf_done(&t.b);
}
