#include "hosts/telegram/bridge/turn.h"

#include <stdlib.h>
#include <sys/random.h>

#include "app/agents.h"
#include "app/artifacts.h"
#include "app/logs.h"
#include "base/clock.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/ending.h"
#include "hosts/telegram/bridge/follow.h"
#include "hosts/telegram/bridge/gates.h"
#include "hosts/telegram/bridge/prepare.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/bridge/transcript.h"
#include "hosts/telegram/rules/queue.h"

/* -- the end of a turn ---------------------------------------------------------------------------
 */

static void forget(struct turns *t)
{
	run_close(TAKE(t->handle));
	agents_launch_free(TAKE(t->launch));
	json_decref(TAKE(t->turn));
	timer_stop(&t->limit);
	t->item = 0;
	t->paused = false;
	t->ended_by = ENDED_BY_ITSELF;
}

static bool remember(struct bridge *b, const json_t *delivery)
{
	AUTO_BUF prompt = BUF_INIT;

	if (!transcript_on(b) || !str_eq(json_text_of(delivery, "kind"), S("answer")))
		return true;
	prepare_prompt(&prompt, b->turns.turn);
	return transcript_add(b, buf_str(&prompt), json_text_of(delivery, "text"));
}

/* The answer and the end of the item in one transaction: neither is there without the other. */
static void settle(struct bridge *b, json_t *delivery)
{
	struct turns *t = &b->turns;
	AUTO_JSON *owned = delivery;
	bool ok = host_batch_begin(b->app, &b->store.report);

	ok = ok && (!delivery || (deliver_add(b, delivery) && remember(b, delivery))) &&
	     queue_done(b->app, STORE_HOST, t->item, &b->store.report);
	if (ok)
		ok = host_batch_commit(b->app, &b->store.report);
	else
		host_batch_undo(b->app);
	(void)bridge_note_store(b);
	live_end(b);
	forget(t);
	t->delivering = delivery != NULL;
	if (t->delivering)
		deliver_run(b);
	else
		turns_dispatch(b);
}

static void on_settled(struct deferred *d)
{
	struct bridge *b = container_of(d, struct bridge, turns.ended);
	struct turns *t = &b->turns;

	if (!t->handle || !live_quiet(b))
		return;
	if (run_status(t->handle) == ROUX_PAUSED) {
		t->paused = true;
		timer_stop(&t->limit);
		live_pause(b);
		gates_offer(b, t->run);
		return;
	}
	settle(b, ending_delivery(b, t->handle, t->turn, t->item, t->ended_by));
}

static void on_ended(void *data)
{
	struct bridge *b = data;

	deferred_start(b->loop, &b->turns.ended);
}

static void on_changed(void *data)
{
	live_changed(data);
}

static void on_limit(struct timer *timer)
{
	struct turns *t = &container_of(timer, struct bridge, turns.limit)->turns;
	AUTO_REPORT ignored = REPORT_INIT;

	t->ended_by = ENDED_BY_LIMIT;
	(void)run_order(t->handle, RUN_CANCEL, -1, &ignored);
}

/* A template has the limit as its own, which also holds without a bridge. */
static void limit(struct bridge *b, uint64_t since_ms)
{
	uint64_t ms = (uint64_t)MAX(conf_number(&b->config, "agent.timeout", 0), 0);
	uint64_t now = clock_real_ms(), gone = now > since_ms ? now - since_ms : 0;

	b->turns.limit.fire = on_limit;
	json_t *template = conf_get(&b->config, "agent.template");

	if (ms && (!template || json_is_null(template)))
		timer_start(b->loop, &b->turns.limit, ms > gone ? ms - gone : 0);
}

static void follow(struct bridge *b, uint64_t since_ms)
{
	struct turns *t = &b->turns;

	limit(b, since_ms);
	t->ended.call = on_settled;
	(void)run_observe(t->handle,
		&(struct observer){ .changed = on_changed, .ended = on_ended, .data = b });
	live_begin(b);
}

/* -- the start of a turn -------------------------------------------------------------------------
 */

static void make_run_id(struct turns *t)
{
	unsigned random = 0;

	(void)!getrandom(&random, sizeof(random), 0);
	(void)snprintf(t->run, sizeof(t->run), "telegram-%lld-%08x",
		(long long)(clock_real_ms() / 1000), random);
}

static bool may_dispatch(const struct bridge *b)
{
	const struct turns *t = &b->turns;

	return b->state != BRIDGE_STOPPING && b->user &&
	       dispatch_allowed(&(struct dispatch_facts){ .compacting = t->compacting,
		       .running = t->item != 0,
		       .starting = t->delivering,
		       .idle = true,
		       .lost = !bridge_speaks(b),
		       .held = t->held });
}

static void refuse(struct bridge *b, struct report *r)
{
	struct turns *t = &b->turns;
	AUTO_BUF text = BUF_INIT;

	bridge_why(r, &text);
	settle(b, ending_refused(b, t->turn, buf_str(&text)));
}

static void start(struct bridge *b)
{
	struct turns *t = &b->turns;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF prompt = BUF_INIT;

	prepare_prompt(&prompt, t->turn);
	if (!json_object_get(t->turn, "task"))
		transcript_lead(b, &prompt);
	t->since_ms = clock_real_ms();
	t->handle = agent_start(b,
		&(struct agent_job){ .run = t->run,
			.item = t->item,
			.chat = json_number_of(t->turn, "chat"),
			.message = json_number_of(t->turn, "reply"),
			.task = json_text_of(t->turn, "task"),
			.prompt = buf_str(&prompt),
			.files = json_object_get(t->turn, "files") },
		&t->launch, &r);
	if (t->handle)
		follow(b, t->since_ms);
	else
		refuse(b, &r);
}

void turns_dispatch(struct bridge *b)
{
	struct turns *t = &b->turns;
	enum lane lane;
	uint64_t item;

	t->wanted = false;
	if (!may_dispatch(b))
		return;
	AUTO_JSON *first = waiting_first(b, &item, &lane);
	if (!first)
		return;
	if (!json_truth_of(first, "ready")) {
		prepare_run(b); /* calls again */
		return;
	}
	make_run_id(t);
	t->turn = waiting_take(b, t->run, &t->item);
	(void)bridge_note_store(b);
	if (t->turn)
		start(b);
}

/* -- from outside --------------------------------------------------------------------------------
 */

bool turns_hold(struct bridge *b, bool on)
{
	b->turns.held = on;
	return on ? store_set_new(&b->store, "held", json_true())
		  : store_delete(&b->store, "held") || !b->store.report.errors;
}

/* A turn that is left at its gate answers when it ends. */
static void park(struct bridge *b)
{
	struct turns *t = &b->turns;
	AUTO_JSON *turn = json_incref(t->turn);
	char run[sizeof(t->run)];

	(void)snprintf(run, sizeof(run), "%s", t->run);
	settle(b, NULL);
	follow_run(b, run, turn);
}

bool turns_abort(struct bridge *b)
{
	struct turns *t = &b->turns;
	AUTO_REPORT r = REPORT_INIT;

	if (!t->item)
		return false;
	t->leave = t->paused;
	if (!t->paused) {
		t->ended_by = ENDED_BY_PERSON;
		(void)run_order(t->handle, RUN_CANCEL, -1, &r);
	}
	return true;
}

void turns_after(struct bridge *b)
{
	struct turns *t = &b->turns;

	if (t->leave && t->item)
		park(b);
	t->leave = false;
	prepare_run(b);
	if (t->wanted)
		turns_dispatch(b);
}

void turns_again(struct bridge *b)
{
	struct turns *t = &b->turns;
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = runs_open(b->app, t->run, &r);

	if (!h)
		return;
	run_close(t->handle);
	t->handle = h;
	t->paused = false;
	follow(b, clock_real_ms()); /* the time at the gate does not count */
}

void turns_look(struct bridge *b)
{
	struct turns *t = &b->turns;
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = t->item && t->paused ? runs_open(b->app, t->run, &r) : NULL;
	bool moved = h && run_status(h) != ROUX_PAUSED;

	run_close(h);
	if (moved)
		turns_again(b);
}

void turns_delivered(struct bridge *b)
{
	if (!b->turns.delivering)
		return;
	b->turns.delivering = false;
	turns_dispatch(b);
}

/* -- after a restart -----------------------------------------------------------------------------
 */

static bool keep_running(void *data, const struct queue_item *item)
{
	json_t *turn = json_loadb(item->payload.p, item->payload.len, 0, NULL);

	json_array_append_new(
		data, json_pack("{s:I,s:o,s:o,s:I}", "item", (json_int_t)item->item, "run",
			      json_from_str(item->run), "turn", turn ? turn : json_object(),
			      "began", (json_int_t)item->began));
	return true;
}

static void take_up(struct bridge *b, json_t *left)
{
	struct turns *t = &b->turns;
	AUTO_REPORT r = REPORT_INIT;

	t->item = (uint64_t)json_number_of(left, "item");
	t->since_ms = (uint64_t)json_number_of(left, "began");
	t->turn = json_incref(json_object_get(left, "turn"));
	(void)snprintf(
		t->run, sizeof(t->run), "%s", json_string_value(json_object_get(left, "run")));
	t->handle = runs_open(b->app, t->run, &r);
	if (t->handle && !ending_unbegun(t->handle)) {
		follow(b, t->since_ms);
		return;
	}
	/* The process died between taking it and starting it: it waits again at its place. */
	(void)queue_put_back(b->app, STORE_HOST, t->item, &b->store.report);
	forget(t);
	(void)waiting_load(b);
}

void turns_start(struct bridge *b)
{
	AUTO_JSON *running = json_array();
	AUTO_JSON *held = store_get(&b->store, "held");
	json_t *left;
	size_t i;

	b->turns.held = json_is_true(held);
	if (b->user)
		(void)store_set_new(&b->store, "person", json_integer(b->user));
	(void)waiting_load(b);
	(void)queue_each(
		b->app, STORE_HOST, QUEUE_RUNNING, keep_running, running, &b->store.report);
	json_array_foreach(running, i, left) take_up(b, left);
	(void)bridge_note_store(b);
	turns_dispatch(b);
}

void turns_stop(struct bridge *b)
{
	deferred_stop(&b->turns.ended);
	/* The files of an agent that continues without this process are its own now. */
	b->turns.launch = NULL;
	forget(&b->turns);
	waiting_done(&b->turns.waiting);
}
