#pragma once

/* What is in the queue of a host, as one text: "payload " of each, or "payload:run ". */
#include "runs/ledger/queue.h"
#include "runs/root.h"

struct queued {
	struct buf text;
	bool runs;
};

static inline bool queued_note(void *data, const struct queue_item *item)
{
	struct queued *q = data;

	buf_add(&q->text, item->payload);
	if (q->runs)
		buf_printf(&q->text, ":%.*s", STR(item->run));
	buf_addc(&q->text, ' ');
	return true;
}

static inline struct str queued_text(struct queued *q)
{
	struct str text = arena_str(&arena, buf_str(&q->text));

	buf_done(&q->text);
	return text;
}

static inline struct str queued(
	struct ledger *l, struct str host, enum queue_state state, bool runs)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queued q = { .runs = runs };

	assert_true(ledger_queue_each(l, host, state, queued_note, &q, &r));
	return queued_text(&q);
}
