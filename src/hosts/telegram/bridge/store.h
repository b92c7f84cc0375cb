#pragma once

#include "app/queue.h"
#include "data/json.h"

/* What the bridge keeps in the ledger as values, and the ring of diagnostics among it. Every call
 * that fails leaves its issue in `report`, where the owner finds it. */
struct store {
	struct app *app;
	struct report report;
	struct str token;   /* removed from everything that enters the ring; borrowed */
	uint64_t ring_next; /* number of the next entry; 0: not looked for yet */
};

#define STORE_HOST S("telegram")

/* A new reference; NULL: there is no such value. */
json_t *store_get(struct store *s, const char *key);
bool store_set(struct store *s, const char *key, const json_t *value);
/* The same; takes the reference over. */
bool store_set_new(struct store *s, const char *key, json_t *value);
bool store_delete(struct store *s, const char *key);
/* All whose key begins so, in order of keys: an array of [key, value], a new reference. */
json_t *store_list(struct store *s, const char *prefix);

/* One member of an object that is kept as one value: what counts up. Returns the number before. */
uint64_t store_count_up(struct store *s, const char *key);

/* -- the ring ------------------------------------------------------------------------------------
 */

enum { RING_KEPT = 200, RING_SHOWN = 10 };

/* `details` is a flat object, taken over; NULL: none. */
void ring_add(struct store *s, const char *category, struct str message, json_t *details);
/* The newest `max` first, as status --json has them. A new reference. */
json_t *ring_recent(struct store *s, size_t max);
