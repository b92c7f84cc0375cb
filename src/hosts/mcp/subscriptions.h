#pragma once

#include "hosts/mcp/server.h"

/* Clients that want to hear of changes (mcp.md section 7.3). */

/* The tools, and with them the list of resources, have changed. */
void subscriptions_lists_changed(struct mcp *m);
