#pragma once

#include "base/run-order.h"
#include "base/str.h"

/* What one roux orders a run to do whose process is a host's own: the signals of identity.h would
 * end that. Each is a line of DIR/orders.jsonl, which the host watches as long as the run lives:
 *
 *   {"order":"cancel","grace_ms":100}
 */
#define ORDERS_FILE "orders.jsonl"

struct order {
	enum run_order kind;
	int grace_ms; /* < 0: the run's own */
};

/* -errno. */
int order_post(const char *dir, const struct order *o);
/* False: the line is none. */
bool order_read(struct str line, struct order *ret);
