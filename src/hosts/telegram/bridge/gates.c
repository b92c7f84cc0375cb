#include "hosts/telegram/bridge/gates.h"

#include <stdlib.h>
#include <string.h>

#include "app/gates.h"
#include "app/runs.h"
#include "base/mem.h"
#include "base/plain-text.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/follow.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/callback.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/unicode.h"

enum { PROMPT_UNITS = 3000, EVERY = 3 };

/* Offers are in the ledger: "g/ID" → {"run","path","chat","message"}. */
void gates_start(struct bridge *b)
{
	AUTO_JSON *left = store_list(&b->store, "g/");
	json_t *row;
	size_t i;

	/* One without a message was on its way when the process ended: it is offered again. */
	json_array_foreach(left, i, row)
	{
		if (json_number_of(json_array_get(row, 1), "message"))
			b->open_gates++;
		else
			(void)store_delete(&b->store, json_string_value(json_array_get(row, 0)));
	}
	follows_start(b);
}

void gates_stop(struct bridge *b)
{
	follows_stop(b);
}

/* -- showing -------------------------------------------------------------------------------------
 */

struct offer {
	struct bridge *bridge;
	struct arena arena;
	const char *key;
	json_t *value;
};

static void on_offered(void *data, enum sent result, int64_t message)
{
	struct offer *o = data;
	AUTO_JSON *open = store_get(&o->bridge->store, o->key);

	/* The person may have pressed before the service told us that the message is there. */
	if (result == SENT_OK && !open) {
		send_no_keyboard(o->bridge, json_number_of(o->value, "chat"), message);
	} else if (result == SENT_OK) {
		json_object_set_new(o->value, "message", json_integer(message));
		(void)store_set(&o->bridge->store, o->key, o->value);
	} else {
		(void)store_delete(&o->bridge->store, o->key);
	}
	json_decref(o->value);
	arena_done(&o->arena);
	free(o);
}

static bool offered(struct bridge *b, const struct gate *g)
{
	AUTO_JSON *left = store_list(&b->store, "g/");
	json_t *row;
	size_t i;

	json_array_foreach(left, i, row)
	{
		json_t *v = json_array_get(row, 1);

		if (str_eq(json_text_of(v, "run"), g->run) &&
			str_eq(json_text_of(v, "path"), g->path))
			return true;
	}
	return false;
}

static void offer(struct bridge *b, const struct gate *g)
{
	struct offer *o = mem_new(struct offer);
	struct str id;
	AUTO_BUF html = BUF_INIT;
	AUTO_BUF stage = BUF_INIT;
	AUTO_BUF prompt = BUF_INIT;
	AUTO_JSON *keyboard = NULL;

	o->bridge = b;
	id = random_id(&o->arena);
	o->key = arena_printf(&o->arena, "g/%.*s", STR(id)).p;
	o->value = json_pack("{s:o,s:o,s:I}", "run", json_from_str(g->run), "path",
		json_from_str(g->path), "chat", (json_int_t)b->user);
	(void)store_set(&b->store, o->key, o->value);
	b->open_gates++;
	buf_adds(&html, "⏸ <b>");
	text_plain(&stage, g->stage.len ? g->stage : g->path);
	html_escape(&html, buf_str(&stage));
	buf_adds(&html, "</b> of run <code>");
	html_escape(&html, g->run);
	buf_adds(&html, "</code> waits for an approval.\n\n");
	text_plain_lines(&prompt, g->prompt);
	html_escape(&html, unicode_cut(buf_str(&prompt), PROMPT_UNITS / 4));
	keyboard = json_pack("[[{s:s,s:o},{s:s,s:o}]]", "text", "✅ Approve", "callback_data",
		json_from_str(callback_gate(&o->arena, id, true)), "text", "⛔ Deny",
		"callback_data", json_from_str(callback_gate(&o->arena, id, false)));
	send_message(b,
		&(struct message){ .chat = b->user,
			.text = buf_str(&html),
			.html = true,
			.keyboard = keyboard,
			.category = "delivery" },
		on_offered, o);
}

static bool see_gate(void *data, const struct gate *g)
{
	struct bridge *b = data;

	if (!offered(b, g))
		offer(b, g);
	return true;
}

void gates_offer(struct bridge *b, const char *run)
{
	AUTO_REPORT r = REPORT_INIT;

	if (b->user)
		(void)gates_each(b->app, run, see_gate, b, &r);
}

/* -- answering -----------------------------------------------------------------------------------
 */

static void close_offer(struct bridge *b, const char *key, const json_t *value)
{
	if (json_number_of(value, "message"))
		send_no_keyboard(
			b, json_number_of(value, "chat"), json_number_of(value, "message"));
	(void)store_delete(&b->store, key);
	b->open_gates -= b->open_gates > 0;
}

/* It is running again: what it says next is for the chat. */
static void follow_resumed(struct bridge *b, const char *run)
{
	if (turns_running(&b->turns) && strcmp(b->turns.run, run) == 0)
		turns_again(b);
	else
		follow_again(b, str_of(run));
}

static void resume(struct bridge *b, const char *run)
{
	struct resume_request q = { .request = REQUEST_INIT };
	AUTO_REPORT r = REPORT_INIT;
	bool over;

	q.request.detach = DETACH_ALWAYS;
	struct run_handle *h = runs_resume(b->app, run, &q, &over, &r);
	if (!h) {
		AUTO_BUF why = BUF_INIT;

		report_text(&r, REPORT_ERRORS, &why);
		bridge_note(
			b, "dispatch", "run %s could not be continued: %s", run, buf_cstr(&why));
		return;
	}
	run_close(h);
	follow_resumed(b, run);
}

static void decide(struct bridge *b, json_t *data)
{
	AUTO_REPORT r = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct str query = json_text_of(data, "query");
	struct gate_decided decided;
	const char *key = json_string_value(json_object_get(data, "key"));
	AUTO_JSON *value = store_get(&b->store, key);
	const char *run = json_string_value(json_object_get(value, "run"));
	/* Of one that is still on its way nothing is known yet. */
	json_int_t there = json_number_of(value, "message");
	bool yes = json_truth_of(data, "yes");

	if (!run || (there && there != json_number_of(data, "message"))) {
		send_answer(b, query, S("This question has been answered or has expired."));
	} else {
		struct gate_decision d = { .run = run,
			.stage = json_string_value(json_object_get(value, "path")),
			.approve = yes,
			.by = arena_printf(&a, "telegram user %lld", (long long)b->user) };

		if (gate_decide(b->app, &d, &decided, &r)) {
			send_answer(b, query, yes ? S("Approved.") : S("Denied."));
			close_offer(b, key, value);
			if (decided.under_way)
				follow_resumed(b, run);
			else
				resume(b, run);
		} else {
			send_answer(b, query, S("It has its answer already."));
			close_offer(b, key, value);
		}
	}
	(void)bridge_note_store(b);
	arena_done(&a);
}

void gates_press(struct bridge *b, struct str query, int64_t message, const struct callback *c)
{
	struct arena a = ARENA_INIT;

	route_after(b, decide,
		json_pack("{s:o,s:s,s:b,s:I}", "query", json_from_str(query), "key",
			arena_printf(&a, "g/%.*s", STR(c->id)).p, "yes", c->yes, "message",
			(json_int_t)message));
	arena_done(&a);
}

/* -- answered elsewhere --------------------------------------------------------------------------
 */

static bool note_path(void *data, const struct gate *g)
{
	json_array_append_new(data, json_from_str(g->path));
	return true;
}

static bool still_open(struct bridge *b, const json_t *value)
{
	AUTO_JSON *paths = json_array();
	AUTO_REPORT r = REPORT_INIT;
	json_t *p;
	size_t i;

	if (!gates_each(
		    b->app, json_string_value(json_object_get(value, "run")), note_path, paths, &r))
		return false;
	json_array_foreach(
		paths, i, p) if (str_eq(json_str(p), json_text_of(value, "path"))) return true;
	return false;
}

void gates_look(struct bridge *b)
{
	json_t *row;
	size_t i;

	/* Also those that the service did not take. */
	if (b->ticks % EVERY == 0) {
		if (str_eq(conf_text(&b->config, "gates"), S("all")))
			gates_offer(b, NULL);
		if (b->turns.paused)
			gates_offer(b, b->turns.run);
		follows_offer(b);
	}
	if (b->open_gates) {
		AUTO_JSON *left = store_list(&b->store, "g/");

		json_array_foreach(left, i, row) if (!still_open(b, json_array_get(row, 1)))
			close_offer(b, json_string_value(json_array_get(row, 0)),
				json_array_get(row, 1));
		b->open_gates = json_array_size(left);
	}
	follows_look(b);
	turns_look(b);
}
