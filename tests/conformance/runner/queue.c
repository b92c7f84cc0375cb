/* Cases about the queue. */
#include "queue.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/lang.h"
#include "runs/ledger/queue.h"

const char *const lane_names[] = { "control", "priority", "default" };

enum lane lane_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(lane_names); i++)
		if (str_eq(name, str_of(lane_names[i])))
			return (enum lane)i;
	return LANE_DEFAULT;
}

/* -- the ledger ----------------------------------------------------------------------------------
 */

static char root[] = "/tmp/roux-conformance-XXXXXX";
static struct ledger *ledger;

static void must(bool ok, const struct report *r)
{
	if (ok && !r->errors)
		return;
	(void)fprintf(stderr, "conformance: the ledger: %.*s\n",
		STR(r->issues.len ? r->issues.at[0].message : S("refuses")));
	exit(2);
}

static struct ledger *opened(void)
{
	AUTO_REPORT r = REPORT_INIT;

	if (!ledger && mkdtemp(root))
		ledger = ledger_open(str_of(root), LEDGER_USUAL, &r);
	must(ledger, &r);
	return ledger;
}

static int drop_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

void queue_cases_end(void)
{
	if (!ledger)
		return;
	ledger_close(ledger);
	(void)nftw(root, drop_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* -- items ---------------------------------------------------------------------------------------
 */

void items_init(struct items *q)
{
	static unsigned cases;

	*q = (struct items){ 0 };
	(void)snprintf(q->host, sizeof(q->host), "case-%u", ++cases);
}

void items_done(struct items *q)
{
	vec_done(&q->list);
}

static void add_at(struct items *q, struct item item, enum lane lane, enum queue_place place)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item added = { .lane = (int)lane, .payload = S("{}") };
	bool fresh = false;

	must(ledger_queue_add(opened(), str_of(q->host), &added, place, &fresh, &r) && fresh, &r);
	item.number = added.item;
	item.lane = lane;
	vec_push(&q->list, item);
}

void items_add(struct items *q, struct item item, enum lane_move move)
{
	add_at(q, item, move_lane(move), move_place(move));
}

bool items_move(struct items *q, struct item *i, enum lane_move move, struct str emoji)
{
	AUTO_REPORT r = REPORT_INIT;

	if (!i || !move_allowed(move, i->lane))
		return false;
	must(ledger_queue_move(opened(), str_of(q->host), i->number, (int)move_lane(move),
		     move_place(move), &r),
		&r);
	i->lane = move_lane(move);
	i->emoji = move == MOVE_PROMOTE ? emoji : S("");
	return true;
}

void items_remove(struct items *q, struct item *i)
{
	AUTO_REPORT r = REPORT_INIT;

	must(ledger_queue_remove(opened(), str_of(q->host), i->number, &r), &r);
	items_sort(q);
}

struct sorting {
	struct items *old;
	struct items sorted;
};

static bool keep(void *data, const struct queue_item *item)
{
	struct sorting *s = data;

	vec_each (i, &s->old->list)
		if (i->number == item->item) {
			i->lane = (enum lane)item->lane;
			vec_push(&s->sorted.list, *i);
		}
	return true;
}

void items_sort(struct items *q)
{
	AUTO_REPORT r = REPORT_INIT;
	struct sorting s = { .old = q, .sorted = *q };

	s.sorted.list.at = NULL;
	s.sorted.list.len = s.sorted.list.cap = 0;
	must(ledger_queue_each(opened(), str_of(q->host), QUEUE_QUEUED, keep, &s, &r), &r);
	vec_done(&q->list);
	*q = s.sorted;
}

static bool made_of(const struct item *i, json_int_t message)
{
	if (!i->sources)
		return i->id == message;
	for (size_t k = 0; k < json_array_size(i->sources); k++)
		if (json_integer_value(json_array_get(i->sources, k)) == message)
			return true;
	return false;
}

struct item *items_find(struct items *q, json_int_t message)
{
	vec_each (i, &q->list)
		if (made_of(i, message))
			return i;
	return NULL;
}

/* -- cases ---------------------------------------------------------------------------------------
 */

static int compare(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* What stands at the back, then what stands ahead; each by its place, then by arrival: the ledger
 * gives a place once, to the one that comes first. */
static int by_place(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	int64_t px = case_number(x, "lane_order"), py = case_number(y, "lane_order");
	int order = compare(px < 0, py < 0);

	order = order ? order : compare(px, py);
	return order ? order
		     : compare(case_number(x, "queue_order"), case_number(y, "queue_order"));
}

static json_t *order_items(struct arena *a, const json_t *input)
{
	const json_t *items = json_object_get(input, "items");
	size_t count = json_array_size(items);
	const json_t **all = arena_array(a, const json_t *, count);
	json_t *order = json_array();
	bool admitted = true;
	struct items q;

	items_init(&q);
	for (size_t i = 0; i < count; i++)
		all[i] = json_array_get(items, i);
	qsort(all, count, sizeof(*all), by_place);
	for (size_t i = 0; i < count; i++) {
		enum lane lane = lane_named(json_text_of(all[i], "lane"));
		bool control = str_eq(json_text_of(all[i], "kind"), S("control"));

		/* The rules know one lane for a control item. */
		admitted = admitted && (!control || lane == move_lane(MOVE_CONTROL));
		add_at(&q, (struct item){ .id = case_number(all[i], "id") }, lane,
			case_number(all[i], "lane_order") < 0 ? QUEUE_AHEAD : QUEUE_BACK);
	}
	items_sort(&q);
	vec_each (i, &q.list)
		json_array_append_new(order, json_integer(i->id));
	items_done(&q);
	if (admitted)
		return json_pack("{so}", "order", order);
	json_decref(order);
	return json_pack("{ss}", "error", "invalid admission");
}

static void add_item(struct items *q, const json_t *op, enum lane_move move)
{
	items_add(q,
		(struct item){
			.id = case_number(op, "id"), .sources = json_object_get(op, "sources") },
		move);
}

/* Control items have no messages. */
static size_t remove_made_of(struct items *q, const json_t *messages)
{
	size_t removed = 0;

	for (size_t m = 0; m < json_array_size(messages); m++) {
		struct item *i = items_find(q, json_integer_value(json_array_get(messages, m)));

		if (!i || i->lane == LANE_CONTROL)
			continue;
		items_remove(q, i);
		removed++;
	}
	return removed;
}

static size_t clear(struct items *q)
{
	AUTO_REPORT r = REPORT_INIT;
	size_t removed;

	must(ledger_queue_clear(opened(), str_of(q->host), &removed, &r), &r);
	items_sort(q);
	return removed;
}

static void do_op(struct items *q, const json_t *op, json_t *results)
{
	struct str name = json_text_of(op, "op"), emoji = json_text_of(op, "emoji");
	struct item *item = items_find(q, case_number(op, "message"));
	json_t *result = NULL;

	if (str_eq(name, S("add")))
		add_item(q, op, MOVE_ARRIVE);
	else if (str_eq(name, S("continue")))
		add_item(q, op, MOVE_CONTINUE);
	else if (str_eq(name, S("control")))
		add_item(q, op, MOVE_CONTROL);
	else if (str_eq(name, S("prioritize")))
		result =
			json_boolean(items_move(q, item, MOVE_PROMOTE, emoji.len ? emoji : S("⚡")));
	else if (str_eq(name, S("clear_priority")))
		result = json_boolean(items_move(q, item, MOVE_DEMOTE, S("")));
	else if (str_eq(name, S("remove")))
		result = json_integer(
			(json_int_t)remove_made_of(q, json_object_get(op, "messages")));
	else if (str_eq(name, S("clear")))
		result = json_integer((json_int_t)clear(q));
	if (result)
		json_array_append_new(results, result);
}

static json_t *operate(struct arena *a, const json_t *input)
{
	const json_t *ops = json_object_get(input, "ops");
	json_t *order = json_array(), *results = json_array();
	struct items q;

	(void)a;
	items_init(&q);
	for (size_t i = 0; i < json_array_size(ops); i++)
		do_op(&q, json_array_get(ops, i), results);
	items_sort(&q);
	vec_each (i, &q.list) {
		json_t *one = json_pack("{sI ss}", "id", i->id, "lane", lane_names[i->lane]);

		if (i->emoji.len)
			json_object_set_new(one, "emoji", json_from_str(i->emoji));
		json_array_append_new(order, one);
	}
	items_done(&q);
	return json_pack("{so so}", "order", order, "results", results);
}

static json_t *guard(struct arena *a, const json_t *input)
{
	struct dispatch_facts f = { .compacting = json_truth_of(input, "compactionInProgress"),
		.running = json_truth_of(input, "hasActiveTelegramTurn"),
		.starting = json_truth_of(input, "hasPendingTelegramDispatch"),
		.idle = json_truth_of(input, "isIdle"),
		.pending = json_truth_of(input, "hasPendingMessages") };

	(void)a;
	return json_pack("{sb}", "can_dispatch", dispatch_allowed(&f));
}

static const struct kind list[] = {
	{ "queue-order", order_items, NULL },
	{ "queue-operations", operate, NULL },
	{ "queue-dispatch-guard", guard, NULL },
};
const struct kinds kinds_of_queue = { list, ARRAY_SIZE(list) };
