#pragma once

#include "base/vec.h"
#include "hosts/telegram/rules/queue.h"

#include "runner.h"

/* Turns that wait, as the bridge keeps them: in the ledger, which is a temporary one, at the places
 * that the rules give. Here is what only the cases say about them. */
struct item {
	uint64_t number; /* in the ledger */
	enum lane lane;
	json_int_t id;
	const json_t *sources; /* borrowed; NULL: its id is the only one */
	struct str emoji, text;
	json_int_t reply;
};

struct items {
	VEC(struct item) list; /* in the order of taking, as of items_sort() */
	char host[24];         /* every case has a queue of its own */
};

extern const char *const lane_names[];
enum lane lane_named(struct str name); /* LANE_DEFAULT for what is not a name */

void items_init(struct items *q);
void items_done(struct items *q);
void items_add(struct items *q, struct item item, enum lane_move move);
/* False: it is not there, or cannot be moved so. */
bool items_move(struct items *q, struct item *i, enum lane_move move, struct str emoji);
void items_remove(struct items *q, struct item *i);
/* Reads the order, and the lanes, from the ledger. */
void items_sort(struct items *q);
/* What was made of a message; NULL: nothing. */
struct item *items_find(struct items *q, json_int_t message);

/* Removes the ledger. */
void queue_cases_end(void);
