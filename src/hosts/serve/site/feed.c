/* Live updates: one stream a page, with topics. The files of a run are the replay buffer: an id
 * says how far a page has come, and everything behind that is read from there. */
#include <inttypes.h>
#include <stdlib.h>

#include "app/logs.h"
#include "app/messages.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "data/json-out.h"
#include "hosts/serve/site/aside.h"
#include "hosts/serve/site/feed.h"

static struct loop *loop_of(struct feeds *f)
{
	return app_loop(f->site->app);
}

/* -- when ----------------------------------------------------------------------------------------
 */

static void start_timers(struct feeds *f);
static void on_change(void *data);

static void drop_run(struct run_feed *r)
{
	list_remove(&r->link);
	messages_follow_end(r->messages);
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
	if (str_eq(run_id(one->run), id))
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
	one->messages = messages_follow(h);
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
	if (one->ended || !is_watched(f, run_id(one->run)))
		drop_run(one);
}

static void update_all(struct feeds *f)
{
	streams_update_runs(f);
	EACH(struct stream, s, &f->streams)
	if (s->out)
		stream_update_runs(s);
}

static void on_batch(struct timer *t)
{
	struct feeds *f = container_of(t, struct feeds, batch);

	f->dirty = false;
	update_all(f);
	EACH(struct run_feed, one, &f->runs)
	run_feed_messages(one);
	drop_unwatched(f);
	start_timers(f);
}

static void look(struct feeds *f)
{
	uint64_t version = runs_version(f->site->app);

	if (version == f->version && version)
		return;
	f->version = version;
	EACH(struct stream, s, &f->streams)
	if (s->run.len)
		watch_run(f, s->run);
	update_all(f);
}

static void on_look(struct timer *t)
{
	struct feeds *f = container_of(t, struct feeds, look);

	look(f);
	start_timers(f);
}

static void on_recipes(void *data)
{
	struct feeds *f = data;

	EACH(struct stream, s, &f->streams)
	if (s->wants_runs && stream_has_room(s))
		http_stream_event(s->out, "recipes", S(""), S("{}"));
}

static void watch_recipes(struct feeds *f, bool wanted)
{
	if (wanted && !f->recipes) {
		f->recipes = recipes_watch(f->site->app, on_recipes, f);
	} else if (!wanted) {
		recipes_watch_end(f->recipes);
		f->recipes = NULL;
	}
}

/* Logs grow without a file of the directory itself changing. */
static void start_timers(struct feeds *f)
{
	bool any = false, logs = false, lists = false;

	EACH(struct stream, s, &f->streams)
	{
		any |= s->out != NULL;
		logs |= s->out && s->wants_log;
		lists |= s->out && s->wants_runs;
	}
	watch_recipes(f, lists);
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

	if (!s->held)
		return;
	s->held = false;
	s->feeds->dirty = true;
	start_timers(s->feeds);
}

/* A model that has made room for others is read again. */
void feeds_again(void *data)
{
	struct feeds *f = data;

	f->dirty = true;
	start_timers(f);
}

static void refuse_topic(struct http_request *q, struct stream *s, struct str topic)
{
	stream_free(s);
	http_refuse(q, 400, NULL,
		"runs, run:ID, nodes:ID:PATH:FROM or log:ID:PATH:STREAM:OFFSET, of one run",
		"the topic '%.*s' is not one", STR(topic));
}

void rest_stream(struct http_request *q)
{
	struct feeds *f = site_of(q)->feeds;
	struct http_fields all = http_query_all(q);
	struct stream *s = mem_new(struct stream);
	AUTO_REPORT r = REPORT_INIT;
	size_t topics = 0;

	/* The others hear of it too: a version that was seen is not looked at again. */
	look(f);
	s->feeds = f;
	s->fresh = true;
	s->filter.limit = 50;
	list_append(&f->streams, &s->link);
	for (size_t i = 0; i < all.count; i++) {
		if (!str_eq(all.at[i].name, S("topic")))
			continue;
		if (++topics > TOPICS || !stream_topic(s, q, all.at[i].value)) {
			refuse_topic(q, s, all.at[i].value);
			return;
		}
	}
	if (!topics) {
		refuse_topic(q, s, S(""));
		return;
	}
	if (s->run.len && !aside_run(q, s->run)) {
		stream_free(s);
		return;
	}
	struct run_model *m = s->run.len ? run_models_get(f->site->models, s->run, &r) : NULL;
	uint64_t seq = m ? run_model_seq(m) : 0;
	if (s->run.len && !m) {
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
	stream_hello(s, seq);
	if (s->run.len) {
		watch_run(f, s->run);
		stream_begin_run(s, q);
		stream_update_run(s);
	}
	if (s->out)
		stream_update_runs(s);
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
	watch_recipes(f, false);
	EACH_SAFE(struct run_feed, one, &f->runs)
	drop_run(one);
	EACH_SAFE(struct stream, s, &f->streams)
	stream_free(s);
	buf_done(&f->shared.status);
	buf_done(&f->shared.gate);
	buf_done(&f->shared.bytes);
	free(f);
}
