#pragma once

#include "app/queue.h"
#include "data/json.h"
#include "hosts/telegram/rules/queue.h"

struct bridge;

/* Turns that wait, in the ledger's queue. One is an object:
 *
 *   chat, reply     where, and the message that the answer replies to (0: none)
 *   sources         the messages that it was made of; reactions and edits name them
 *   update          the first update
 *   text            what was written
 *   fetch           files that are not here yet: {"kind","id","name","mime","size"}
 *   files, outputs  paths of those that are; what handlers said about them, or why one is missing
 *   task            of the prompts configuration; instructions: what it is given
 *   history         turns that it takes along, oldest first
 *   ready           false: files or handlers are still at work (prepare.h)
 */

/* What is kept in memory, so that a thousand waiting turns cost no more than ten. */
struct waiting {
	json_t *by_message; /* number of a source message → number of the item */
	size_t count;
};

/* Reads what waits. False: the ledger cannot be read. */
bool waiting_load(struct bridge *b);
void waiting_done(struct waiting *w);

/* By which message menus name a turn: its first source, else 10^15 and its update. */
int64_t waiting_message(const json_t *turn);

/* `key` makes it unique; empty: it need not be. An equal one that came before is not an error. The
 * turn is borrowed. */
bool waiting_add(struct bridge *b, const json_t *turn, enum lane_move move, struct str key);
/* The item that a message belongs to; 0: none. */
uint64_t waiting_find(const struct bridge *b, int64_t message);
/* A new reference; NULL: it does not wait (any more). */
json_t *waiting_get(struct bridge *b, uint64_t item, enum lane *ret_lane);

bool waiting_edit(struct bridge *b, uint64_t item, const json_t *turn);
bool waiting_remove(struct bridge *b, uint64_t item);
/* To the end of the priority lane, or back to its place by arrival. False: it does not wait, or is
 * not one that can be moved so. */
bool waiting_promote(struct bridge *b, uint64_t item);
bool waiting_demote(struct bridge *b, uint64_t item);
size_t waiting_clear(struct bridge *b);

/* The first; a new reference, NULL: there is none. */
json_t *waiting_first(struct bridge *b, uint64_t *ret_item, enum lane *ret_lane);
/* The same, taken for a run. */
json_t *waiting_take(struct bridge *b, const char *run, uint64_t *ret_item);

/* Calls `see` with each from number `from` on, in the order of taking, until it returns false. It
 * must not change the queue. */
typedef bool waiting_fn(void *data, uint64_t item, enum lane lane, const json_t *turn);
void waiting_each(struct bridge *b, size_t from, waiting_fn *see, void *data);
