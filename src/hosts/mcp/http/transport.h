#pragma once

#include "hosts/mcp/server.h"
#include "http/http.h"

/* MCP over HTTP (docs/mcp.md, "Over HTTP"): the endpoint /mcp as rows of a route table. The server
 * behind it is the one of standard input and output; this is another channel to it. */
struct mcp_http {
	struct mcp *server;
	struct loop *loop;
	struct list legacy; /* sessions of the era that has them */
	size_t legacy_count;
	struct list posts; /* requests that are not over */
	struct http_routes routes;
};

struct mcp_http *mcp_http_new(struct mcp *m);
/* What is in flight is cancelled or closed as the protocol wants it; runs continue. Before the door
 * stops. */
void mcp_http_end(struct mcp_http *t);
/* After the door is gone. */
void mcp_http_free(struct mcp_http *t);

/* One session of the legacy era: 128 random bits at `initialize`, which the client sends with every
 * request. It ends when it is deleted, or after half an hour without a request. */
struct legacy {
	struct list link; /* the one that was used last is the last */
	struct mcp_http *transport;
	struct session session;
	struct channel nowhere; /* for what belongs to no request: nothing of that is sent */
	char id[33];
	size_t posts; /* that use it */
	bool deleted; /* goes when they are over */
	struct timer idle;
};

/* NULL: no random bytes. `principal` and `mute` as in struct session. */
struct legacy *legacy_new(struct mcp_http *t, struct str principal, bool mute);
/* NULL: there is none with this id of this principal. */
struct legacy *legacy_find(struct mcp_http *t, struct str id, struct str principal);
void legacy_hold(struct legacy *l);
void legacy_release(struct legacy *l);

/* -- the parts of one POST -----------------------------------------------------------------------
 */

void post_handle(struct http_request *q);
/* Cancels it, as if its client had left. */
void posts_abort(struct mcp_http *t);

/* Who asks, as struct session has it: "token:ci", "uid:1000". In the arena. */
struct str principal_of(const struct http_principal *p, struct arena *a);
/* Whether the principal may have this method called; NULL, or the scope that it lacks. */
const char *scope_lacking(
	struct mcp_http *t, const struct http_principal *p, const struct message *m);
/* Whether the headers of a modern request say what its body says; NULL, or what does not. */
const char *mirror_mismatch(const struct http_request *q, const struct message *m);
