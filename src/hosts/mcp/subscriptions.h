#pragma once

#include "hosts/mcp/server.h"

/* Clients that want to hear of changes: a stream of the modern era, or a whole session of the
 * legacy one. */

/* What has changed, as bits. */
enum {
	CHANGED_TOOLS = 1,
	CHANGED_PROMPTS = 2,
	CHANGED_RESOURCES = 4,
};

struct listener;

/* Some of the lists have changed. */
void subscriptions_lists_changed(struct mcp *m, unsigned lists);

/* A listener for a legacy session, which hears of all lists from now on; resources are added. */
struct listener *listener_of_session(struct session *s);
void listener_free(struct listener *l);
