#pragma once

#include "runs/ledger/ledger.h"

/*
 * What a host has to know after a restart: small values by name, for each host its own. Every
 * change is on stable storage when the call returns. To change several at once, or together with a
 * queue (a chat's update and the offset behind it), put the calls into a batch (ledger.h).
 *
 * A call returns false with an issue when the ledger could not be read or written or when host, key
 * or value are refused, and false without one when there is no such key.
 */
/* The value lives in the arena. */
bool ledger_state_get(struct ledger *l, struct str host, struct str key, struct arena *a,
	struct str *ret, struct report *r);
bool ledger_state_set(
	struct ledger *l, struct str host, struct str key, struct str value, struct report *r);
bool ledger_state_delete(struct ledger *l, struct str host, struct str key, struct report *r);

/* Sets the value when it is still `expected` (NULL: when there is none yet). False without an
 * issue: it is another by now. */
bool ledger_state_swap(struct ledger *l, struct str host, struct str key,
	const struct str *expected, struct str value, struct report *r);

/* Calls `see` with every key that begins with `prefix`, in the order of their bytes. Both texts are
 * borrowed. `see` may stop by returning false, and must not change or list host state. */
bool ledger_state_each(struct ledger *l, struct str host, struct str prefix,
	bool (*see)(void *data, struct str key, struct str value), void *data, struct report *r);
