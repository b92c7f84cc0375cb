#include "hosts/mcp/subscriptions.h"

void subscriptions_lists_changed(struct mcp *m)
{
	list_each (link, &m->sessions) {
		struct session *s = list_entry(link, struct session, link);

		if (s->initialized) {
			channel_notify(s->channel, "notifications/tools/list_changed", NULL);
			channel_notify(s->channel, "notifications/resources/list_changed", NULL);
		}
	}
}
