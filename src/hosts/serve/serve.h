#pragma once

#include "app/app.h"
#include "http/http.h"

struct serve_guest;

/* The web host: what handlers of its routes get as http_data(). */
struct dashboard;
struct serve {
	struct app *app;
	struct dashboard *dashboard; /* pages and API: a table of their own */
	struct http *http;
	const char *const *roots; /* of --root; borrowed */
	size_t root_count;
	struct str socket; /* the path of the Unix socket */
	struct str banner; /* what every page has to say: the state root cannot be written; empty:
			      nothing */
	uint64_t since_ms; /* real time of the start */
	bool stopping, at_once;
	const struct serve_guest *mcp; /* of --mcp; NULL: not asked for */
	void *mcp_data;
	struct timer deadline; /* of stopping */
};

/* The table of routes.c. */
extern const struct http_route serve_routes[];
extern const size_t serve_route_count;

/* Ends the server: streams are told, replies are finished for a moment. A second call ends it at
 * once. */
void serve_stop(struct serve *s);
