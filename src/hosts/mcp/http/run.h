#pragma once

#include "hosts/mcp/cmd-mcp.h"
#include "hosts/mcp/server.h"

struct http;

/* Serves over HTTP until a signal ends it. The exit status; issues are printed. */
int mcp_http_serve(struct mcp *m, const struct mcp_http_options *o);

/* The endpoint as part of another server: /mcp at its door, always with a token. NULL with an
 * issue.
 */
struct mcp_http *mcp_http_attach(struct app *a, struct http *h, struct report *r);
/* The first before the door stops, the second when it is gone. */
void mcp_http_detach(struct mcp_http *t);
void mcp_http_drop(struct mcp_http *t);
