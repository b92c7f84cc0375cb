/* The one table of the web host: dispatch, openapi.json, the manual page and tests read it. */
#include "hosts/serve/login.h"
#include "hosts/serve/serve.h"
#include "hosts/serve/server.h"

const struct http_route serve_routes[] = {
	{ "GET", "/healthz", HTTP_ASSET, HTTP_OPEN, HTTP_READS, server_health,
		"ok, without a session" },
	{ "GET", "/login", HTTP_PAGE, HTTP_OPEN, HTTP_SESSION, login_page,
		"log a browser in with a link of `roux serve link`", .query = "once next" },
	{ "POST", "/login", HTTP_PAGE, HTTP_OPEN, HTTP_SESSION, login_post,
		"the same with a link that was pasted", .body = "once next" },
	{ "POST", "/logout", HTTP_PAGE, HTTP_READ, HTTP_SESSION, logout_post,
		"end the session of this browser", .body = "csrf" },
	{ "GET", "/api/v1/", HTTP_API, HTTP_READ, HTTP_READS, server_api,
		"version, scopes and limits; of a browser also its csrf" },
	{ "GET", "/api/v1/openapi.json", HTTP_API, HTTP_READ, HTTP_READS, server_openapi,
		"this table" },
	{ "GET", "/api/v1/server", HTTP_API, HTTP_SOCKET, HTTP_READS, server_status,
		"what `roux serve status` prints" },
	{ "POST", "/api/v1/server/link", HTTP_API, HTTP_SOCKET, HTTP_SERVER, server_link,
		"a link that logs a browser in" },
	{ "POST", "/api/v1/server/reload", HTTP_API, HTTP_SOCKET, HTTP_SERVER, server_reload,
		"read the tokens again" },
	{ "POST", "/api/v1/server/stop", HTTP_API, HTTP_SOCKET, HTTP_SERVER, server_stop,
		"end the server; runs continue" },
};
const size_t serve_route_count = ARRAY_SIZE(serve_routes);
