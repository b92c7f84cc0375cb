/* Live updates: one stream a page, with topics. The files of a run are the replay buffer: an id
 * says how far a page has come, and everything behind that is read from there. */
#include <inttypes.h>
#include <stdlib.h>

#include "app/logs.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "data/json-out.h"
#include "hosts/serve/site/site.h"
#include "render/web/ansi.h"

enum {
	TOPICS = 8,
	BATCH_MS = 100,
	BATCH_BYTES = 32 << 10,
	LOG_MS = 200,
	LOOK_MS = 1000,
	BEHIND_MAX = 10000, /* events; a page that is further behind begins anew */
	LOG_BEHIND = 1 << 20,
	LIST_ROWS = 200,
};

/* Each item of a list in turn; of the second the current one may go. */
#define EACH(T, item, head)                                                      \
	for (T *item = list_entry((head)->next, T, link); &item->link != (head); \
		item = list_entry(item->link.next, T, link))
#define EACH_SAFE(T, item, head)                                    \
	for (T *item = list_entry((head)->next, T, link),           \
	       *item##_next = list_entry(item->link.next, T, link); \
		&item->link != (head);                              \
		item = item##_next, item##_next = list_entry(item->link.next, T, link))

struct nodes_topic {
	struct str path;
	uint64_t from;
};

struct stream {
	struct list link;
	struct feeds *feeds;
	struct http_stream *out; /* NULL: it has ended */
	struct arena arena;
	/* What it is about. */
	struct str run; /* empty: none */
	bool wants_run, wants_runs, wants_log;
	struct run_filter filter;
	struct nodes_topic nodes[TOPICS];
	size_t node_count;
	struct log_at log;
	/* How far it has come. */
	struct str generation;
	uint64_t seq;
	bool fresh; /* nothing was sent yet */
	uint64_t offset;
	struct ansi_style style;
	uint64_t failures;
	struct buf status, gate; /* as they were sent last */
	struct map rows;         /* id → hash of the row that was sent last */
	struct arena row_arena;
	uint64_t version; /* of the list */
};

/* A live run that pages look at. */
struct run_feed {
	struct list link;
	struct feeds *feeds;
	struct str id;
	struct run_handle *run;
	bool ended;
};

struct feeds {
	struct dashboard *site;
	struct list streams, runs;
	struct timer batch, look;
	bool dirty;
	uint64_t version;
};

static struct loop *loop_of(struct feeds *f)
{
	return app_loop(f->site->app);
}

/* -- sending -------------------------------------------------------------------------------------
 */

static bool has_room(const struct stream *s)
{
	return s->out && http_stream_queued(s->out) < HTTP_STREAM_QUEUE;
}

static void send_event(struct stream *s, const char *event, struct str data)
{
	AUTO_BUF id = BUF_INIT;

	if (s->generation.len)
		buf_printf(&id, "%.*s.%" PRIu64 ".%" PRIu64, STR(s->generation), s->seq, s->offset);
	http_stream_event(s->out, event, buf_str(&id), data);
}

static void send_hello(struct stream *s)
{
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	json_out_object(&o, NULL);
	json_out_str(&o, "server", asset_url("roux.js") /* names the build */);
	json_out_uint(&o, "seq", s->seq);
	json_out_time(&o, "now", clock_real_ms());
	json_out_object_end(&o);
	send_event(s, "hello", buf_str(&b));
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
		uint64_t all = 0, open = 0;

		run_model_view(m, run_model_root(m), &top);
		tree_counts(&counts, top.counts);
		json_out_str(&o, "counts", buf_str(&counts));
		for (size_t i = 0; top.counts && i < SHOWN_STATES; i++)
			all += top.counts[i];
		if (top.counts)
			open = top.counts[STATE_WAITING] + top.counts[STATE_RUNNING] +
			       top.counts[STATE_RETRYING] + top.counts[STATE_UNREACHED] +
			       top.counts[STATE_PAUSED];
		json_out_uint(&o, "commands", all);
		json_out_uint(&o, "over", all - open);
	}
	json_out_object_end(&o);
	send_event(s, "run", buf_str(&b));
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
			send_event(s, "failure", buf_str(&b));
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
		send_event(s, "gate", buf_str(&b));
	buf_swap(&s->gate, &b);
}

/* -- nodes ---------------------------------------------------------------------------------------
 */

struct batch {
	struct stream *s;
	struct run_model *m;
	struct buf b;
	uint64_t since;
};

static void batch_flush(struct batch *t)
{
	if (t->b.len < 2)
		return;
	buf_addc(&t->b, ']');
	send_event(t->s, "nodes", buf_str(&t->b));
	buf_reset(&t->b);
}

static void batch_add(struct batch *t, const struct past_node *n)
{
	struct node_view v;
	struct json_out o = { .b = &t->b };

	run_model_view(t->m, n, &v);
	if (v.changed <= t->since && t->since)
		return;
	buf_addc(&t->b, t->b.len ? ',' : '[');
	json_out_array(&o, NULL);
	json_out_str(&o, NULL, v.path);
	json_out_str(&o, NULL, str_of(shown_state_word(v.state)));
	if (v.timed && v.reached)
		json_out_uint(&o, NULL, v.ms);
	else
		json_out_null(&o, NULL);
	if (v.coded)
		json_out_int(&o, NULL, v.code);
	else
		json_out_null(&o, NULL);
	json_out_uint(&o, NULL, v.attempts);
	if (v.group && v.counts) {
		AUTO_BUF counts = BUF_INIT;

		tree_counts(&counts, v.counts);
		json_out_str(&o, NULL, buf_str(&counts));
	}
	json_out_array_end(&o);
	if (t->b.len > BATCH_BYTES)
		batch_flush(t);
}

/* What a page shows of it: children of small groups, of large ones what is news. */
static void batch_walk(struct batch *t, const struct past_node *n, uint64_t from, size_t count)
{
	size_t children = past_node_children(n), end = MIN(children, (size_t)from + count);
	struct node_view v;

	for (size_t i = (size_t)MIN(from, (uint64_t)children); i < end; i++) {
		const struct past_node *child = past_node_child(n, i);

		run_model_view(t->m, child, &v);
		if (v.changed <= t->since && t->since)
			continue;
		batch_add(t, child);
		batch_walk(t, child, 0, v.children > TREE_SMALL ? TREE_PAGE : TREE_SMALL);
	}
}

static void send_nodes(struct stream *s, struct run_model *m)
{
	struct batch t = { .s = s, .m = m, .since = s->seq };

	s->seq = run_model_seq(m);
	for (size_t i = 0; i < s->node_count; i++) {
		const struct past_node *n = run_model_find(m, s->nodes[i].path);

		if (!n)
			continue;
		batch_add(&t, n);
		batch_walk(&t, n, s->nodes[i].from, TREE_PAGE);
	}
	batch_flush(&t);
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
		.kind = s->offset == UINT64_MAX ? SLICE_TAIL : SLICE_FROM,
		.at = s->offset,
		.lines = s->offset == UINT64_MAX ? 1 : 400,
		.whole = live,
		.mask = mask };
	int e = run_log_lines(run_model_run(m), &slice, log_line, &t, &found);
	mask_free(mask);
	bool first = s->offset == UINT64_MAX;
	if (e < 0 || first || found.next <= s->offset) {
		if (e == 0 && first)
			s->offset = found.next;
		else if (first)
			s->offset = 0;
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
	send_event(s, "log", buf_str(&b));
	buf_done(&t.b);
	return s->offset < found.size;
}

/* -- everything about one run --------------------------------------------------------------------
 */

static void update_run(struct stream *s)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_model *m;

	if (!s->run.len || !has_room(s))
		return;
	m = run_models_get(s->feeds->site->models, s->run, &r);
	if (!m) {
		http_stream_event(s->out, "bye", S(""), S("{\"reason\":\"gone\"}"));
		http_stream_end(s->out);
		return;
	}
	if (!str_eq(s->generation, run_model_generation(m))) {
		bool was = s->generation.len > 0;

		s->generation = arena_str(&s->arena, run_model_generation(m));
		s->seq = 0;
		if (was)
			send_event(s, "resync", S("{}"));
	}
	AUTO_BUF status = BUF_INIT;
	buf_printf(
		&status, "%.*s-%" PRIu64, STR(run_status_word(run_model_run(m))), run_model_seq(m));
	bool changed = s->fresh || !str_eq(buf_str(&status), buf_str(&s->status));
	if (changed) {
		AUTO_JSON *doc = run_status_document(run_model_run(m));

		if (s->node_count)
			send_nodes(s, m);
		else
			s->seq = run_model_seq(m);
		if (s->wants_run) {
			send_summary(s, m, doc);
			send_failures(s, doc);
			send_gate(s, doc);
		}
		buf_swap(&s->status, &status);
		s->fresh = false;
	}
	if (s->wants_log)
		for (int i = 0; i < 4 && has_room(s) && send_lines(s, m); i++)
			;
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

static void update_runs(struct stream *s)
{
	AUTO_REPORT r = REPORT_INIT;
	struct rows t = { .s = s };
	AUTO_BUF b = BUF_INIT;
	struct json_out o = { .b = &b };

	if (!s->wants_runs || !has_room(s) || (s->version && s->version == s->feeds->version))
		return;
	s->version = s->feeds->version;
	runs_each(s->feeds->site->app, &s->filter, see_row, rows_again, &t, &r);
	if (t.count || !s->version) {
		json_out_object(&o, NULL);
		json_out_array(&o, "runs");
		buf_add(&b, buf_str(&t.b));
		json_out_array_end(&o);
		add_counts(s->feeds, &o);
		json_out_object_end(&o);
		send_event(s, "runs", buf_str(&b));
	}
	buf_done(&t.b);
}

/* -- when ----------------------------------------------------------------------------------------
 */

static void start_timers(struct feeds *f);
static void on_change(void *data);

static void drop_run(struct run_feed *r)
{
	list_remove(&r->link);
	run_close(r->run);
	free(r);
}

static void on_ended(void *data)
{
	struct run_feed *r = data;

	r->ended = true;
	on_change(data);
}

static void on_change(void *data)
{
	struct run_feed *r = data;

	r->feeds->dirty = true;
	if (!timer_running(&r->feeds->batch))
		timer_start(loop_of(r->feeds), &r->feeds->batch, BATCH_MS);
}

/* One watch a run that some stream is about, and none of others. */
static void watch_run(struct feeds *f, struct str id)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF name = BUF_INIT;

	EACH(struct run_feed, one, &f->runs)
	if (str_eq(one->id, id))
		return;
	buf_printf(&name, "run:%.*s", STR(id));
	struct run_handle *h = runs_open(f->site->app, buf_cstr(&name), &r);
	if (!h)
		return;
	if (run_status(h) != ROUX_RUNNING && !str_eq(run_status_word(h), S("starting"))) {
		run_close(h);
		return;
	}
	struct run_feed *one = mem_new(struct run_feed);
	one->feeds = f;
	one->run = h;
	one->id = run_id(h);
	list_append(&f->runs, &one->link);
	(void)run_observe(
		h, &(struct observer){ .changed = on_change, .ended = on_ended, .data = one });
}

static bool is_watched(struct feeds *f, struct str id)
{
	EACH(struct stream, s, &f->streams)
	if (s->out && str_eq(s->run, id))
		return true;
	return false;
}

static void drop_unwatched(struct feeds *f)
{
	EACH_SAFE(struct run_feed, one, &f->runs)
	if (one->ended || !is_watched(f, one->id))
		drop_run(one);
}

static void update_all(struct feeds *f)
{
	EACH_SAFE(struct stream, s, &f->streams)
	{
		if (!s->out)
			continue;
		update_run(s);
		if (s->out)
			update_runs(s);
	}
}

static void on_batch(struct timer *t)
{
	struct feeds *f = container_of(t, struct feeds, batch);

	f->dirty = false;
	update_all(f);
	drop_unwatched(f);
	start_timers(f);
}

static void on_look(struct timer *t)
{
	struct feeds *f = container_of(t, struct feeds, look);
	uint64_t version = runs_version(f->site->app);

	if (version != f->version || !version) {
		f->version = version;
		EACH(struct stream, s, &f->streams)
		if (s->run.len)
			watch_run(f, s->run);
		update_all(f);
	}
	start_timers(f);
}

/* Logs grow without a file of the directory itself changing. */
static void start_timers(struct feeds *f)
{
	bool any = false, logs = false;

	EACH(struct stream, s, &f->streams)
	{
		any |= s->out != NULL;
		logs |= s->out && s->wants_log;
	}
	if (!any) {
		timer_stop(&f->look);
		timer_stop(&f->batch);
		return;
	}
	if (!timer_running(&f->look))
		timer_start(loop_of(f), &f->look, LOOK_MS);
	if ((logs || f->dirty) && !timer_running(&f->batch))
		timer_start(loop_of(f), &f->batch, f->dirty ? BATCH_MS : LOG_MS);
}

/* -- opening -------------------------------------------------------------------------------------
 */

static void stream_free(struct stream *s)
{
	list_remove(&s->link);
	buf_done(&s->status);
	buf_done(&s->gate);
	arena_done(&s->row_arena);
	arena_done(&s->arena);
	free(s);
}

static void on_gone(void *data)
{
	struct stream *s = data;
	struct feeds *f = s->feeds;

	stream_free(s);
	drop_unwatched(f);
	start_timers(f);
}

static void on_drained(void *data)
{
	struct stream *s = data;

	s->feeds->dirty = true;
	start_timers(s->feeds);
}

static struct str next_part(struct str *s)
{
	size_t end = str_find(*s, ':', 0);
	struct str part = str_sub(*s, 0, end);

	*s = end < s->len ? str_from(*s, end + 1) : S("");
	return part;
}

static bool same_run(struct stream *s, struct str id)
{
	if (!id.len || (s->run.len && !str_eq(s->run, id)))
		return false;
	s->run = arena_str(&s->arena, id);
	return true;
}

static bool read_log_topic(struct stream *s, struct str rest)
{
	struct str id = next_part(&rest), path = next_part(&rest), stream = next_part(&rest);

	if (s->wants_log || !same_run(s, id))
		return false;
	s->wants_log = true;
	s->log.node = str_eq(path, S("root")) ? S("") : arena_str(&s->arena, path);
	s->log.stream =
		str_eq(stream, S("err")) || str_eq(stream, S("run-err")) ? LOG_STDERR : LOG_STDOUT;
	if (!str_eq(stream, S("out")) && !str_eq(stream, S("err")) &&
		!str_eq(stream, S("run-out")) && !str_eq(stream, S("run-err")))
		return false;
	if (str_eq(rest, S("END")) || !rest.len) {
		s->offset = UINT64_MAX;
		return true;
	}
	return str_to_uint(rest, &s->offset);
}

/* The query of a list behind `runs:`; the texts of the filter are the stream's. */
static bool read_filter(struct stream *s, struct http_request *q, struct str query)
{
	struct str *const texts[] = { &s->filter.status, &s->filter.recipe, &s->filter.any };

	if (!ask_filter_of(q, ask_fields(q, query), &s->filter))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = arena_str(&s->arena, *texts[i]);
	return true;
}

static bool read_topic(struct stream *s, struct http_request *q, struct str topic)
{
	struct str rest = topic, kind = next_part(&rest);

	if (str_eq(kind, S("runs"))) {
		s->wants_runs = true;
		return read_filter(s, q, rest);
	}
	if (str_eq(kind, S("run"))) {
		s->wants_run = true;
		return same_run(s, rest);
	}
	if (str_eq(kind, S("nodes")) && s->node_count < TOPICS) {
		struct nodes_topic *t = &s->nodes[s->node_count++];

		if (!same_run(s, next_part(&rest)))
			return false;
		t->path = arena_str(&s->arena, next_part(&rest));
		return !rest.len || str_to_uint(rest, &t->from);
	}
	return str_eq(kind, S("log")) && read_log_topic(s, rest);
}

/* G.SEQ.OFFSET: where the page left off. False: it is not such an id. */
static bool read_id(struct stream *s, struct str id, struct str *ret_generation, uint64_t *ret_seq)
{
	size_t last = id.len, middle;
	uint64_t offset;

	while (last && id.p[last - 1] != '.')
		last--;
	if (!last || !str_to_uint(str_from(id, last), &offset))
		return false;
	for (middle = last - 1; middle && id.p[middle - 1] != '.'; middle--)
		;
	if (!middle || !str_to_uint(str_sub(id, middle, last - 1 - middle), ret_seq))
		return false;
	*ret_generation = str_sub(id, 0, middle - 1);
	if (s->wants_log && offset)
		s->offset = offset;
	return true;
}

static void begin_run(struct stream *s, struct http_request *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str last = http_request_header(q, "Last-Event-ID"), generation = S("");
	struct run_model *m = run_models_get(s->feeds->site->models, s->run, &r);
	uint64_t seq = 0;

	if (!last.len)
		(void)http_query(q, "last", &last);
	if (!m)
		return;
	s->generation = arena_str(&s->arena, run_model_generation(m));
	if (!last.len)
		return;
	bool fits = read_id(s, last, &generation, &seq) && str_eq(generation, s->generation) &&
		    seq <= run_model_seq(m) && run_model_seq(m) - seq <= BEHIND_MAX;
	s->seq = fits ? seq : 0;
	if (!fits)
		send_event(s, "resync", S("{}"));
}

static void refuse_topic(struct http_request *q, struct stream *s, struct str topic)
{
	stream_free(s);
	http_refuse(q, 400, NULL,
		"runs, run:ID, nodes:ID:PATH:FROM or log:ID:PATH:STREAM:OFFSET, of one run",
		"the topic '%.*s' is not one", STR(topic));
}

void api_stream(struct http_request *q)
{
	struct feeds *f = site_of(q)->feeds;
	struct http_fields all = http_query_all(q);
	struct stream *s = mem_new(struct stream);
	AUTO_REPORT r = REPORT_INIT;
	size_t topics = 0;

	s->feeds = f;
	s->fresh = true;
	s->filter.limit = 50;
	list_append(&f->streams, &s->link);
	for (size_t i = 0; i < all.count; i++) {
		if (!str_eq(all.at[i].name, S("topic")))
			continue;
		if (++topics > TOPICS || !read_topic(s, q, all.at[i].value)) {
			refuse_topic(q, s, all.at[i].value);
			return;
		}
	}
	if (!topics) {
		refuse_topic(q, s, S(""));
		return;
	}
	if (s->run.len && !run_models_get(f->site->models, s->run, &r)) {
		stream_free(s);
		ask_refuse(q, &r);
		return;
	}
	s->out = http_stream_open(q,
		&(struct http_stream_options){ .drained = on_drained, .gone = on_gone, .data = s });
	if (!s->out) {
		stream_free(s);
		return;
	}
	http_stream_push(s->out, S("retry: 2000\n\n"));
	send_hello(s);
	f->version = runs_version(f->site->app);
	if (s->run.len) {
		watch_run(f, s->run);
		begin_run(s, q);
		update_run(s);
	}
	if (s->out)
		update_runs(s);
	start_timers(f);
}

struct feeds *feeds_new(struct dashboard *d)
{
	struct feeds *f = mem_new(struct feeds);

	f->site = d;
	f->batch.fire = on_batch;
	f->look.fire = on_look;
	list_init(&f->streams);
	list_init(&f->runs);
	return f;
}

void feeds_free(struct feeds *f)
{
	if (!f)
		return;
	timer_stop(&f->batch);
	timer_stop(&f->look);
	EACH_SAFE(struct run_feed, one, &f->runs)
	drop_run(one);
	EACH_SAFE(struct stream, s, &f->streams)
	stream_free(s);
	free(f);
}
