#include "hosts/mcp/methods.h"

enum { BOTH = IN_LEGACY | IN_MODERN };

const struct method methods[] = {
	{ "initialize", IN_LEGACY, method_initialize, .before = true },
	{ "ping", IN_LEGACY, method_ping, .before = true },
	{ "logging/setLevel", IN_LEGACY, method_set_level },
	{ "server/discover", IN_MODERN, method_discover, .cached = true },
	{ "tools/list", BOTH, method_tools_list, .cached = true },
	{ "tools/call", BOTH, method_tools_call },
};

const size_t method_count = ARRAY_SIZE(methods);
