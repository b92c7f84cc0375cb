#pragma once

#include "data/json.h"

struct bridge;

/* Buttons that send a prompt: what they send is kept for a day, survives restarts, and is sent
 * once. */

/* The data of a button; in the arena. Empty: the ledger could not be written. `action` is an object
 * with "prompt", or "again": a turn that is done once more. It gets the time of its end. Borrowed.
 */
struct str buttons_new(struct bridge *b, struct arena *a, const json_t *action);

enum button_state { BUTTON_FIRES, BUTTON_USED, BUTTON_EXPIRED };
/* *ret_action is a new reference when it fires. One that was sent to another chat, or under another
 * message, has expired. */
enum button_state buttons_find(
	struct bridge *b, struct str id, int64_t chat, int64_t message, json_t **ret_action);
/* The message with this keyboard is there: its buttons fire from there alone. Until then the
 * service has not told us, and a person may press all the same. */
void buttons_sent(struct bridge *b, const json_t *keyboard, int64_t message);
/* It was pressed: `action` is what buttons_find() gave. */
bool buttons_use(struct bridge *b, struct str id, const json_t *action);
/* Forgets those whose day is over. */
void buttons_expire(struct bridge *b);

/* A row of one button: a new reference. */
json_t *button_row(struct str label, struct str data);
/* Eight hexadecimal digits, for names that nothing else has. */
struct str random_id(struct arena *a);
