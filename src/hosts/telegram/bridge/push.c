#include "hosts/telegram/bridge/push.h"

#include "app/runs.h"
#include "base/clock.h"
#include "base/run-status.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/ending.h"

enum { RUNS_LOOKED_AT = 500, OUTPUT_MAX = 256 << 10, EVERY = 3 };

static void take_pushes(struct bridge *b)
{
	AUTO_JSON *left = store_list(&b->store, "push/");
	json_t *pair;
	size_t i;

	if (!json_array_size(left) || !host_batch_begin(b->app, &b->store.report))
		return;
	bool ok = true;
	json_array_foreach(left, i, pair) ok &=
		deliver_add(b, json_array_get(pair, 1)) &&
		store_delete(&b->store, json_string_value(json_array_get(pair, 0)));
	if (!ok || !host_batch_commit(b->app, &b->store.report))
		host_batch_undo(b->app);
	(void)bridge_note_store(b);
	deliver_run(b);
}

/* -- results of other runs -----------------------------------------------------------------------
 */

struct seen {
	struct bridge *bridge;
	uint64_t since, newest;
	json_t *ids;
};

/* A run that ended well since the last look and did not come from the chat. */
static bool look(void *data, const struct run_entry *e)
{
	struct seen *s = data;

	if (e->ended > s->since && status_is(e->status, ROUX_DONE) &&
		!str_eq(e->launch, S("telegram")))
		json_array_insert_new(s->ids, 0, json_from_str(e->id));
	s->newest = MAX(s->newest, e->ended);
	return true;
}

/* What a run has come to. One without output says at least that it has ended. */
static void push_result(struct bridge *b, const char *id, struct run_handle *h, bool asked)
{
	AUTO_BUF text = BUF_INIT;

	ending_output(b, h, false, OUTPUT_MAX, &text, NULL);
	if (!str_trim(buf_str(&text)).len && asked)
		buf_printf(&text, "Run %s is done.", id);
	if (!str_trim(buf_str(&text)).len)
		return;
	AUTO_JSON *d = json_pack("{s:s,s:I,s:I,s:o}", "kind", "push", "chat", (json_int_t)b->user,
		"reply", (json_int_t)0, "text", json_from_str(buf_str(&text)));
	if (!deliver_add(b, d))
		ring_add(&b->store, "proactive-push", str_of(id), NULL);
}

static void push_run(struct bridge *b, const char *id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = runs_open(b->app, id, &r);

	if (h)
		push_result(b, id, h, false);
	run_close(h);
}

/* -- runs that were started with --notify --------------------------------------------------------
 */

static bool keep_id(void *data, struct str run)
{
	json_array_append_new(data, json_from_str(run));
	return true;
}

/* Whether nothing is left to do about it. Only one that ended well is reported. */
static bool told(struct bridge *b, const char *id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = runs_open(b->app, id, &r);
	enum roux_status status = h ? run_status(h) : ROUX_FAILED;
	bool over = status != ROUX_RUNNING && status != ROUX_PAUSED;

	/* With the setting on, all are told of. */
	if (status == ROUX_DONE && !b->pushing)
		push_result(b, id, h, true);
	run_close(h);
	return over;
}

static void take_notices(struct bridge *b)
{
	AUTO_JSON *ids = json_array();
	json_t *id;
	size_t i;

	(void)notices_each(b->app, keep_id, ids, &b->store.report);
	/* The message and the end of the notice together: it is reported once. */
	if (json_array_size(ids) && host_batch_begin(b->app, &b->store.report)) {
		json_array_foreach(ids, i, id)
		{
			if (told(b, json_string_value(id)))
				notice_end(b->app, json_str(id));
		}
		if (!host_batch_commit(b->app, &b->store.report))
			host_batch_undo(b->app);
		deliver_run(b);
	}
	(void)bridge_note_store(b);
}

static void take_results(struct bridge *b)
{
	AUTO_JSON *kept = store_get(&b->store, "pushed-until");
	AUTO_REPORT r = REPORT_INIT;
	struct seen s = { b, (uint64_t)json_integer_value(kept), 0, NULL };
	struct run_filter filter = { .status = S("done"), .limit = RUNS_LOOKED_AT };
	AUTO_JSON *ids = s.ids = json_array();
	json_t *id;
	size_t i;

	runs_each(b->app, &filter, look, NULL, &s, &r);
	if (s.newest <= s.since)
		return;
	(void)store_set_new(&b->store, "pushed-until", json_integer((json_int_t)s.newest));
	json_array_foreach(ids, i, id) push_run(b, json_string_value(id));
	(void)bridge_note_store(b);
	deliver_run(b);
}

void push_start(struct bridge *b)
{
	AUTO_JSON *kept = store_get(&b->store, "pushed-until");
	bool on = conf_truth(&b->config, "proactivePush");

	b->pushing = b->user && on;
	/* What ended before the setting was made is not news. */
	if (!on && kept)
		(void)store_delete(&b->store, "pushed-until");
	else if (b->pushing && !kept)
		(void)store_set_new(
			&b->store, "pushed-until", json_integer((json_int_t)clock_real_ms()));
}

void push_look(struct bridge *b)
{
	if (!b->user)
		return;
	take_pushes(b);
	if (b->ticks % EVERY == 0)
		take_notices(b);
	if (!conf_truth(&b->config, "proactivePush")) {
		if (b->pushing)
			(void)store_delete(&b->store, "pushed-until");
		b->pushing = false;
		return;
	}
	if (!b->pushing)
		push_start(b);
	if (b->ticks % EVERY == 0)
		take_results(b);
}
