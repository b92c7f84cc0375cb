#include "hosts/telegram/bridge/waiting.h"

#include "hosts/telegram/bridge/bridge.h"

/* Menus name a turn that was made of no message by its update, beyond every number of a message. */
static const int64_t NO_MESSAGE = 1000000000000000;

static json_t *parse(struct str payload)
{
	AUTO_REPORT ignored = REPORT_INIT;

	return json_read(&(struct source){ S("queue"), payload }, &ignored);
}

int64_t waiting_message(const json_t *turn)
{
	json_t *first = json_array_get(json_object_get(turn, "sources"), 0);

	return first ? json_integer_value(first) : NO_MESSAGE + json_number_of(turn, "update");
}

/* -- the index -----------------------------------------------------------------------------------
 */

static const char *number_key(char *text, size_t size, int64_t number)
{
	(void)snprintf(text, size, "%lld", (long long)number);
	return text;
}

static void index_number(struct waiting *w, int64_t number, uint64_t item)
{
	char key[32];

	json_object_set_new_nocheck(w->by_message, number_key(key, sizeof(key), number),
		json_integer((json_int_t)item));
}

/* By all its messages; the first of them is what a menu calls it. */
static void index_turn(struct waiting *w, const json_t *turn, uint64_t item)
{
	json_t *sources = json_object_get(turn, "sources"), *s;
	size_t i;

	json_array_foreach(sources, i, s) index_number(w, json_integer_value(s), item);
	if (!json_array_size(sources))
		index_number(w, waiting_message(turn), item);
	w->count++;
}

static void unindex(struct waiting *w, const json_t *turn)
{
	json_t *sources = json_object_get(turn, "sources"), *s;
	char key[32];
	size_t i;

	json_object_del(w->by_message, number_key(key, sizeof(key), waiting_message(turn)));
	json_array_foreach(sources, i, s)
		json_object_del(w->by_message, number_key(key, sizeof(key), json_integer_value(s)));
	w->count -= w->count > 0;
}

static bool index_item(void *data, const struct queue_item *item)
{
	AUTO_JSON *turn = parse(item->payload);

	index_turn(data, turn, item->item);
	return true;
}

bool waiting_load(struct bridge *b)
{
	struct waiting *w = &b->turns.waiting;

	waiting_done(w);
	w->by_message = json_object();
	w->count = 0;
	return queue_each(b->app, STORE_HOST, QUEUE_QUEUED, index_item, w, &b->store.report);
}

void waiting_done(struct waiting *w)
{
	json_decref(w->by_message);
	w->by_message = NULL;
}

/* -- one -----------------------------------------------------------------------------------------
 */

bool waiting_add(struct bridge *b, const json_t *turn, enum lane_move move, struct str key)
{
	AUTO_BUF payload = BUF_INIT;
	bool fresh = false;

	json_write(&payload, turn, 0);
	struct queue_item item = {
		.lane = (int)move_lane(move), .key = key, .payload = buf_str(&payload)
	};
	if (!queue_add(b->app, STORE_HOST, &item, move_place(move), &fresh, &b->store.report))
		return false;
	if (fresh)
		index_turn(&b->turns.waiting, turn, item.item);
	return true;
}

uint64_t waiting_find(const struct bridge *b, int64_t message)
{
	char key[32];

	return (uint64_t)json_integer_value(json_object_get(
		b->turns.waiting.by_message, number_key(key, sizeof(key), message)));
}

json_t *waiting_get(struct bridge *b, uint64_t item, enum lane *ret_lane)
{
	struct arena a = ARENA_INIT;
	struct queue_item found;
	json_t *turn = NULL;

	if (item && queue_find(b->app, STORE_HOST, item, &a, &found, &b->store.report) &&
		found.state == QUEUE_QUEUED) {
		turn = parse(found.payload);
		if (ret_lane)
			*ret_lane = (enum lane)found.lane;
	}
	arena_done(&a);
	return turn;
}

bool waiting_edit(struct bridge *b, uint64_t item, const json_t *turn)
{
	AUTO_BUF payload = BUF_INIT;

	json_write(&payload, turn, 0);
	return queue_edit(b->app, STORE_HOST, item, buf_str(&payload), &b->store.report);
}

bool waiting_remove(struct bridge *b, uint64_t item)
{
	AUTO_JSON *turn = waiting_get(b, item, NULL);

	if (!turn || !queue_remove(b->app, STORE_HOST, item, &b->store.report))
		return false;
	unindex(&b->turns.waiting, turn);
	return true;
}

static bool move(struct bridge *b, uint64_t item, enum lane_move how)
{
	enum lane lane;
	AUTO_JSON *turn = waiting_get(b, item, &lane);

	return turn && move_allowed(how, lane) &&
	       queue_move(
		       b->app, STORE_HOST, item, move_lane(how), move_place(how), &b->store.report);
}

bool waiting_promote(struct bridge *b, uint64_t item)
{
	return move(b, item, MOVE_PROMOTE);
}

bool waiting_demote(struct bridge *b, uint64_t item)
{
	return move(b, item, MOVE_DEMOTE);
}

size_t waiting_clear(struct bridge *b)
{
	size_t removed = 0;

	if (queue_clear(b->app, STORE_HOST, &removed, &b->store.report)) {
		json_object_clear(b->turns.waiting.by_message);
		b->turns.waiting.count = 0;
	}
	return removed;
}

/* -- in order ------------------------------------------------------------------------------------
 */

struct walk {
	size_t skip;
	waiting_fn *see;
	void *data;
};

static bool step(void *data, const struct queue_item *item)
{
	struct walk *w = data;

	if (w->skip) {
		w->skip--;
		return true;
	}
	AUTO_JSON *turn = parse(item->payload);
	return w->see(w->data, item->item, (enum lane)item->lane, turn);
}

void waiting_each(struct bridge *b, size_t from, waiting_fn *see, void *data)
{
	struct walk w = { from, see, data };

	(void)queue_each(b->app, STORE_HOST, QUEUE_QUEUED, step, &w, &b->store.report);
}

struct first {
	json_t *turn;
	uint64_t item;
	enum lane lane;
};

static bool keep_first(void *data, uint64_t item, enum lane lane, const json_t *turn)
{
	struct first *f = data;

	*f = (struct first){ json_incref((json_t *)turn), item, lane };
	return false;
}

json_t *waiting_first(struct bridge *b, uint64_t *ret_item, enum lane *ret_lane)
{
	struct first f = { 0 };

	if (b->turns.waiting.count)
		waiting_each(b, 0, keep_first, &f);
	*ret_item = f.item;
	*ret_lane = f.lane;
	return f.turn;
}

json_t *waiting_take(struct bridge *b, const char *run, uint64_t *ret_item)
{
	struct arena a = ARENA_INIT;
	struct queue_item item;
	json_t *turn = NULL;

	if (queue_next(b->app, STORE_HOST, str_of(run), &a, &item, &b->store.report)) {
		turn = parse(item.payload);
		*ret_item = item.item;
		unindex(&b->turns.waiting, turn);
	}
	arena_done(&a);
	return turn;
}
