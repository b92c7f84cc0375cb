#pragma once

#include <microhttpd.h>
#include <sys/types.h>

#include "base/hmac.h"
#include "base/list.h"
#include "http/audit.h"
#include "http/decode.h"
#include "http/http.h"
#include "http/idempotency.h"
#include "http/rate.h"
#include "http/sessions.h"
#include "http/tokens.h"

/* The inside of the door, for the files of this folder. */

enum {
	CONNECTIONS_MAX = 512,
	STRANGERS_MAX = 64, /* connections without a session */
	STREAMS_MAX = 256,
	STREAMS_OF_SESSION = 4,
	TARGET_MAX = 4096,
	HEADERS_MAX = 64,
	HEADER_BYTES_MAX = 16 * 1024,
	BODY_MAX = 1 << 20,
	JSON_DEPTH_MAX = 64,
	HEADERS_MS = 10000, /* deadlines: for the headers, for the body, between requests */
	BODY_MS = 30000,
	IDLE_MS = 30000,
};

/* A socket that is listened at. */
struct listener {
	struct list link;
	struct http *http;
	struct watch watch;
	int fd;
	bool local; /* a Unix socket */
	uint16_t port;
};

/* One connection, from accept() until libmicrohttpd has closed it. */
struct conn {
	struct list link; /* oldest first */
	struct http *http;
	struct MHD_Connection *mhd;
	int fd;
	bool local;    /* over the Unix socket */
	bool known;    /* a request of it had a session, a token or came over the socket */
	bool closing;  /* shut down by us */
	bool foreign;  /* of another uid: refused */
	bool unsure;   /* of a uid that could not be found: refused */
	bool again;    /* has had a request before */
	uint16_t port; /* that it came to */
	uid_t uid;     /* of the peer; of the socket only */
	uint64_t since_ms;
	struct timer deadline;
	struct watch left;            /* tells when the client of a suspended one has gone */
	struct http_request *request; /* being served; NULL: between two */
};

enum phase {
	PHASE_NEW,     /* nothing has been looked at */
	PHASE_BODY,    /* checked, its body is coming */
	PHASE_HANDLER, /* a handler has it and has not replied */
	PHASE_REPLIED, /* the reply is known; queued or about to be */
	PHASE_ABORTED, /* the connection is to be closed without one */
};

struct http_request {
	struct http *http;
	struct conn *conn;
	struct MHD_Connection *mhd;
	enum phase phase;
	bool inside; /* libmicrohttpd is calling us: it can take the reply now */
	bool suspended;
	bool head, post;
	bool close; /* no other request on this connection */
	bool api;   /* a refusal is a document */
	uint64_t since_ms;
	struct arena arena;
	struct str method, target, path, query_text;
	struct http_field headers[HEADERS_MAX];
	size_t header_count;
	const struct http_route *route;
	const struct http_routes *table;
	struct str segments[HTTP_SEGMENTS_MAX];
	size_t segment_count;
	http_field_vec query, form;
	struct buf body;
	json_t *json;
	json_t *members; /* of a form, as http_member() gave them out; NULL: none yet */
	struct http_principal principal;
	struct rate *requests, *mutations; /* of its session or token, while it is checked */
	uint64_t body_length;              /* as its headers have it */
	struct str token;                  /* the sum of the one that it came with; empty: none */
	struct str csrf;
	struct str form_key; /* that its page was given; empty: none */
	bool canonical;      /* the host that it named may have the cookie */
	struct audit_line *audit;
	int audit_error; /* errno of its beginning; 0: it was written */
	struct idempotent *idempotent;
	/* The reply: */
	http_field_vec reply_headers;
	struct str etag; /* with its quotes */
	unsigned status;
	struct MHD_Response *response;
	struct timer delay;
	uint64_t delay_ms;
	struct http_stream *stream;
	void (*gone)(void *data);
	void *gone_data;
};

struct http {
	struct http_options options;
	struct loop *loop;
	struct MHD_Daemon *daemon;
	struct watch ready;    /* libmicrohttpd's epoll */
	struct timer timeout;  /* when it wants to be called all the same */
	struct deferred again; /* call it from the next turn of the loop */
	struct list listeners, conns, streams;
	size_t conn_count, stream_count;
	struct conn *accepting;    /* being handed to libmicrohttpd */
	struct timer accept_again; /* descriptors were out */
	VEC(struct http_routes) tables;
	bool stopping;
	uint16_t port;
	struct str name; /* for browsers */
	struct arena arena;
	char build[SHA256_HEX];
	unsigned char key[HMAC_KEY];
	struct sessions sessions;
	struct tokens tokens;
	bool guarded; /* has had a token: it is not open again when the last one is removed */
	struct audit audit;
	struct idempotency idempotency;
	struct wrong_secrets wrong; /* wrong tokens and logins */
	struct timer idle;
	struct timer audit_due;
	uint64_t requests, refusals;
	uint64_t acts; /* requests that were to do something */
	int diag;      /* netlink socket for the owners of TCP connections; -1: none yet */
};

/* -- door.c --------------------------------------------------------------------------------------
 */

/* libmicrohttpd has something to do. */
void door_kick(struct http *h);
void door_say(struct http *h, const char *fmt, ...) PRINTF(2, 3);
/* The connection is closed as soon as libmicrohttpd notices. */
void conn_shut(struct conn *c);
void conn_free(struct conn *c);
/* Of a borrowed directory, whose changes nothing tells: the tokens are those of the file. */
void door_refresh(struct http *h);
/* Something has happened: the time of --idle-exit begins anew. */
void door_busy(struct http *h);
/* Continues with a request that waits: libmicrohttpd will call on_access() again. */
void request_resume(struct http_request *q);
void request_suspend(struct http_request *q);

/* -- listen.c ------------------------------------------------------------------------------------
 */
void listeners_close(struct http *h);

/* -- peer.c --------------------------------------------------------------------------------------
 */
struct sockaddr_storage;
/* The uid at the other end of a loopback connection that was accepted: `peer` and `own` are its
 * two addresses. False: it cannot be found. */
bool peer_uid(struct http *h, const struct sockaddr_storage *peer,
	const struct sockaddr_storage *own, uid_t *ret);

/* -- checks.c, body.c ----------------------------------------------------------------------------
 */
/* All that can be said before the body is there. A refusal has been replied when it returns with
 * another phase. */
void checks_before_body(struct http_request *q);
/* The rest, and the handler. */
void checks_and_handle(struct http_request *q);
/* A failed check: a line in the audit for causes that matter. */
void check_audit(struct http_request *q, const char *cause);

/* -- routes.c ------------------------------------------------------------------------------------
 */
/* Finds the route of q->segments. False: no path fits. True with q->route NULL: the method does
 * not; *ret_allow is what fits. */
bool routes_find(struct http_request *q, struct str *ret_allow);
/* Whether a table has a route that is written so. */
bool routes_have(const struct http *h, const char *path);

/* -- stream.c ------------------------------------------------------------------------------------
 */
void stream_abort(struct http_stream *s);
/* All of them: `reason` of bye. */
void streams_bye(struct http *h, const char *reason);
/* Those of a session that has ended. */
void streams_end_session(struct http *h, struct str session, const char *reason);
/* Those of tokens that are not known any more, or that needed none before there was one. */
void streams_end_tokens(struct http *h, const char *reason);
/* libmicrohttpd is done with the connection. */
void stream_over(struct http_stream *s);
/* The client has gone. */
void stream_left(struct http_stream *s);

/* -- reply.c -------------------------------------------------------------------------------------
 */
/* The reply is known: hands it to libmicrohttpd now or when it asks. Takes the response. */
void reply_send(struct http_request *q, unsigned status, struct MHD_Response *response);
/* The same again for another request with the same Idempotency-Key. */
void reply_kept(struct http_request *q, const struct kept_reply *k);
void reply_content_headers(struct http_request *q, const struct http_content *c);
/* Hands it over: from within libmicrohttpd. */
enum MHD_Result reply_queue(struct http_request *q);
