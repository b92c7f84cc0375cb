#include "hosts/mcp/methods.h"

enum { BOTH = IN_LEGACY | IN_MODERN };

const struct method methods[] = {
	{ "initialize", IN_LEGACY, method_initialize, .before = true },
	{ "ping", IN_LEGACY, method_ping, .before = true },
	{ "logging/setLevel", IN_LEGACY, method_set_level },
	{ "server/discover", IN_MODERN, method_discover, .cached = true },
	{ "tools/list", BOTH, method_tools_list, .cached = true },
	{ "tools/call", BOTH, method_tools_call },
	{ "resources/list", BOTH, method_resources_list, .cached = true },
	{ "resources/templates/list", BOTH, method_resource_templates, .cached = true },
	{ "resources/read", BOTH, method_resources_read, .cached = true },
	{ "resources/subscribe", IN_LEGACY, method_subscribe },
	{ "resources/unsubscribe", IN_LEGACY, method_unsubscribe },
	{ "prompts/list", BOTH, method_prompts_list, .cached = true },
	{ "prompts/get", BOTH, method_prompts_get },
	{ "completion/complete", BOTH, method_complete },
	{ "subscriptions/listen", IN_MODERN, method_listen },
	{ "tasks/get", IN_MODERN, method_tasks_get },
	{ "tasks/update", IN_MODERN, method_tasks_update },
	{ "tasks/cancel", IN_MODERN, method_tasks_cancel },
};

const size_t method_count = ARRAY_SIZE(methods);
