#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"
#include "data/json.h"
#include "loop/loop.h"

/* The door: it accepts connections, checks every request before a handler sees it (checks.c has the
 * order), and writes replies and streams. Hosts give it tables of routes; everything that is said
 * about a route elsewhere (405 with `Allow`, openapi.json, the manual page, tests) is read from
 * those tables. Only this folder sees libmicrohttpd.
 *
 * One thread: handlers are called from the loop and must not block it. */
struct http;
struct http_request;
struct http_stream;

/* -- routes --------------------------------------------------------------------------------------
 */

/* What reads the answers, which decides how a request is checked and what a refusal looks like. */
enum http_kind {
	HTTP_PAGE,  /* a browser: HTML, or a download that a page links to */
	HTTP_API,   /* scripts: documents and streams */
	HTTP_ASSET, /* files of the program; healthz: nothing about the user in them */
	HTTP_MCP,   /* a bearer token or the socket, never a cookie; no rates below 200 a second */
};

/* What a principal needs: one of a mask. Those of a token are a mask too. */
enum http_scope {
	HTTP_OPEN = 0, /* nothing, not even a session */
	HTTP_READ = 1 << 0,
	HTTP_RUN = 1 << 1,
	HTTP_ANSWER = 1 << 2,
	HTTP_SCOPES = HTTP_READ | HTTP_RUN | HTTP_ANSWER,
	HTTP_SOCKET = 1 << 3, /* the Unix socket: commands of the same user */
};

/* What a request changes; read-only mode refuses all but the first three. Every other than
 * HTTP_READS is for POST only, has a line in the audit, and is the same for one Idempotency-Key. */
enum http_effect {
	HTTP_READS,
	HTTP_SESSION, /* logging in and out */
	HTTP_SERVER,  /* the server itself, over the socket */
	HTTP_STARTS,  /* commands will run: refused when the audit cannot be written */
	HTTP_STOPS,   /* runs end, gates are denied: never refused for that by itself */
	HTTP_CHANGES, /* messages, archives: refused when the audit cannot be written */
};

struct http_route {
	const char *method; /* "GET" stands for HEAD too */
	const char *path;   /* "/runs/{id}/nodes/{path}": each {name} is one segment */
	enum http_kind kind;
	enum http_scope scope;
	enum http_effect effect;
	void (*handle)(struct http_request *q);
	const char *summary; /* one clause, lower case: openapi.json and the manual page have it */
	const char *query;   /* names of what may stand behind `?`, with spaces; NULL: none */
	const char *body;    /* names of fields, likewise, for openapi.json; NULL: none */
	size_t body_max;     /* bytes; 0: 1 MiB */
	const char *action;  /* of an effect: its word in the audit, "cancel" */
	bool refuses;        /* it only says why not: Allow does not name its method */
};

/* `data` is what http_data() gives to handlers of this table. Borrowed, as the routes. */
struct http_routes {
	const struct http_route *at;
	size_t count;
	void *data;
};

/* -- requests ------------------------------------------------------------------------------------
 *
 * A request lives until it is replied to; every http_reply_*(), http_refuse_*(), http_redirect()
 * and http_stream_open() ends it. A handler that returns without one of them replies later: the
 * connection waits. Texts are borrowed from the request. */

struct http_field {
	struct str name, value;
};
struct http_fields {
	const struct http_field *at;
	size_t count;
};

enum http_via { HTTP_VIA_NONE, HTTP_VIA_BROWSER, HTTP_VIA_TOKEN, HTTP_VIA_SOCKET };

/* Who asks. */
struct http_principal {
	enum http_via via;
	unsigned scopes;    /* a mask of enum http_scope */
	struct str name;    /* of the token; "browser"; "uid:1000" */
	struct str session; /* of a browser: a name for this session, not its secret; else empty */
};

void *http_data(const struct http_request *q);
struct http *http_door(const struct http_request *q);
const struct http_route *http_route(const struct http_request *q);
struct arena *http_arena(struct http_request *q); /* ends with the request */
const struct http_principal *http_principal(const struct http_request *q);
/* What the form field `csrf`, or the header X-Roux-CSRF, of this session has to be; empty for other
 * principals, which need none. */
struct str http_csrf(struct http_request *q);
/* A fresh value for the form field `idempotency_key`; the same for all forms of a page. */
struct str http_idempotency_key(struct http_request *q);
bool http_read_only(const struct http *h);
/* Plain HTTP is spoken to other machines: every page says so. */
bool http_exposed(const struct http *h);

/* Path and query as they came, "/runs/a?x=1"; a text for links back. */
struct str http_target(const struct http_request *q);
/* A {name} of the route, decoded: valid UTF-8 without controls and slashes, neither "." nor "..".
 * The route must have it. */
struct str http_param(const struct http_request *q, const char *name);
/* The first value behind `?` with this name; an empty one is as absent. False: there is none. */
bool http_query(const struct http_request *q, const char *name, struct str *ret);
struct http_fields http_query_all(const struct http_request *q);
/* Empty: there is none. */
struct str http_request_header(const struct http_request *q, const char *name);
bool http_is_head(const struct http_request *q);
/* Whether the header Accept lists this type as it is. */
bool http_accepts(const struct http_request *q, const char *type);

/* The body. A POST has either fields (a form) or a JSON object; what is neither has been refused,
 * except for HTTP_MCP, where the handler judges http_body() itself. */
struct str http_body(const struct http_request *q);
struct http_fields http_form(const struct http_request *q);
bool http_form_field(const struct http_request *q, const char *name, struct str *ret);
/* NULL: it was a form. Borrowed. */
json_t *http_json(const struct http_request *q);
/* A member of either: of a form as a string. NULL: absent. Borrowed. */
json_t *http_member(struct http_request *q, const char *name);

/* Uses up the token of http_login_url() and gives the reply the cookie of a fresh session. False:
 * it is wrong or old. Only on names that have a cookie: http_may_log_in(). Beyond five wrong ones a
 * minute the reply comes a second later. */
bool http_log_in(struct http_request *q, struct str once);
bool http_may_log_in(const struct http_request *q);
void http_log_out(struct http_request *q);

/* Calls `gone` when the client leaves before the reply. The request has ended then: nothing may be
 * done with it any more. */
void http_on_gone(struct http_request *q, void (*gone)(void *data), void *data);

/* What the audit's line of this request says besides who, when and what came of it: "run",
 * "generation", "recipe", "digest", and the word of a form that can ask for several things.
 * One of the same name is replaced. Copied. */
void http_audit_note(struct http_request *q, const char *name, struct str value);
/* For a handler of HTTP_STOPS that is asked to let commands run after all. False: refused, the
 * audit could not be written. */
bool http_check_audit(struct http_request *q);

/* -- replies -------------------------------------------------------------------------------------
 */

/* A header of the reply to come. Copied. */
void http_add_header(struct http_request *q, const char *name, struct str value);

/* Gives the reply an ETag made of the build, the URL, for pages the session, and `state`: whatever
 * tells one content from another. True: the client has that already, 304 was replied and the
 * request is over.
 *
 * Pages and documents that reply 200 without it get one that is made of their bytes. */
bool http_unchanged(struct http_request *q, struct str state);

/* Each takes the buffer and leaves it empty. A page gets headers by which a browser loads and
 * frames nothing from elsewhere. */
void http_reply_page(struct http_request *q, unsigned status, struct buf *html);
void http_reply_json(struct http_request *q, unsigned status, struct buf *json);
/* Takes the reference. */
void http_reply_value(struct http_request *q, unsigned status, json_t *document);

/* Bytes of any type. Text of commands and people is `untrusted`: it is sandboxed, never sniffed,
 * never stored, and a download unless `show` says that it is a raster image or plain text to look
 * at. */
struct http_content {
	unsigned status;  /* 0: 200 */
	const char *type; /* NULL: application/octet-stream */
	struct str name;  /* of the file that a browser makes of it; empty: none */
	bool untrusted, show;
	bool immutable; /* the URL changes when the content does */
	bool gzipped;
};
void http_reply_bytes(struct http_request *q, const struct http_content *c, struct buf *bytes);
/* The bytes live as long as the program. */
void http_reply_static(struct http_request *q, const struct http_content *c, struct str bytes);
/* [0, size) of a file, of which `Range` may ask a part: 206 or 416. Takes the descriptor. A file
 * that becomes shorter ends the connection. */
void http_reply_file(struct http_request *q, const struct http_content *c, int fd, uint64_t size);

/* 303 after a POST. `location` is a path of ours. */
void http_redirect(struct http_request *q, unsigned status, struct str location);

/* A refusal: the document {"ok":false,"status","error","reason"?,"hint"?}, or a page that says the
 * same. `reason` (may be NULL) does not change between versions; `hint` may be NULL. */
void http_refuse(struct http_request *q, unsigned status, const char *reason, const char *hint,
	const char *fmt, ...) PRINTF(5, 6);
/* The same with a document that is made already; taken. */
void http_refuse_document(struct http_request *q, unsigned status, struct buf *document);

/* -- streams -------------------------------------------------------------------------------------
 */

struct http_stream_options {
	const char *type; /* NULL: text/event-stream */
	bool quiet;       /* no `bye` of ours, and not counted among the 4 of a session: MCP */
	/* Bytes that were queued have gone: there is room. May be NULL. */
	void (*drained)(void *data);
	/* The stream has ended, from either side; its pointer is gone. Called once, from the loop
	 * and not from within another call here. */
	void (*gone)(void *data);
	void *data;
};

enum { HTTP_STREAM_QUEUE = 256 * 1024 };

/* Replies with a stream. The door sends a comment line every 15 s, ends a stream whose client takes
 * nothing for 30 s, and the oldest of a session that opens a fifth. NULL: refused, because there
 * are too many; the request is over either way. */
struct http_stream *http_stream_open(struct http_request *q, const struct http_stream_options *o);
/* Copies. Nothing is dropped here: who pushes looks at what is queued, and merges or leaves out
 * beyond HTTP_STREAM_QUEUE. After the end of the stream it does nothing. */
void http_stream_push(struct http_stream *s, struct str bytes);
/* An event with its id (may be empty) and data, which has no newline. */
void http_stream_event(struct http_stream *s, const char *event, struct str id, struct str data);
/* The same as text, for several streams. */
void http_event_text(struct buf *b, const char *event, struct str id, struct str data);
size_t http_stream_queued(const struct http_stream *s);
/* Ends it when what is queued has gone. */
void http_stream_end(struct http_stream *s);

/* -- the door itself -----------------------------------------------------------------------------
 */

struct http_refusal {
	unsigned status;
	struct str error, reason, hint;
	const json_t *document;
};

struct http_options {
	struct loop *loop;
	bool borrowed;  /* `dir` is another server's: tokens are read, nothing is written */
	struct str dir; /* of serve/: sessions, tokens, key, audit; empty: all in memory */
	bool read_only;
	const char *user_hint; /* what the refusal of another user's connection advises */
	bool any_user;         /* peers of other uids too */
	bool behind_tls;       /* a proxy speaks https to the clients */
	bool exposed;          /* an address that is not loopback */
	bool open_mcp; /* HTTP_MCP without a token until there is one: scopes read and run */
	const char *const *names; /* of --name; borrowed */
	size_t name_count;
	/* The page of a refusal: adds HTML; NULL: a plain one. `q` may be asked for principal,
	 * target and route (NULL). */
	void (*refusal_page)(
		struct http_request *q, const struct http_refusal *refusal, struct buf *html);
	/* A token of http_login_url() has been used; may be NULL. */
	void (*logged_in)(void *data, struct str once);
	/* A line for people, on standard error or in a log file. */
	void (*say)(const char *line);
	/* The door has had nothing to do for `idle_ms`, once; 0: never. */
	uint64_t idle_ms;
	void (*idle)(void *data);
	void *data;
};

/* NULL with issues. Tables must live as long as the door. */
struct http *http_new(const struct http_options *o, struct report *r);
void http_add_routes(struct http *h, const struct http_routes *t);
/* Ends connections at once. */
void http_free(struct http *h);

/* "127.0.0.1:80" or "[::1]:80": adds the address. *ret_loopback: only this machine reaches it.
 * False: it is not one. */
bool http_read_address(struct str text, struct buf *address, uint16_t *port, bool *ret_loopback);
/* A token that is in no file. */
void http_add_token(struct http *h, struct str name, struct str secret, unsigned scopes);
/* A socket that listens at an address, "127.0.0.1" or "::1", for http_listen_fd(); *port 0 becomes
 * the one that the kernel has given. -errno. */
int http_bind(const char *address, uint16_t *port);
/* Whether other machines may reach a socket that is listening. */
bool http_fd_exposed(int fd);
/* At a path, 0600; a file that is there is replaced, so the caller has made sure that it is stale.
 * -errno. */
int http_listen_unix(struct http *h, const char *path);
/* At a descriptor that is listening already; taken. -errno. */
int http_listen_fd(struct http *h, int fd);
/* The first port of those listened at; 0: none. */
uint16_t http_port(const struct http *h);
/* The name that browsers use, "roux-0123456789abcdef.localhost", or the first of --name. */
struct str http_name(const struct http *h);

/* Adds "http://NAME:PORT", as browsers reach it. */
void http_base_url(struct http *h, struct buf *b);
/* Adds a URL at which a browser logs in, once, within ten minutes. */
void http_login_url(struct http *h, struct buf *b);
/* Reads tokens again. */
void http_reload(struct http *h);
/* Stops accepting, says `bye` to streams, lets replies finish; http_quiet() says when. */
void http_stop(struct http *h);
bool http_quiet(const struct http *h);

struct http_counts {
	size_t connections, streams, sessions, tokens;
	uint64_t requests, refusals;
};
struct http_counts http_counts(const struct http *h);
/* Writes /api/v1/openapi.json. */
void http_openapi(const struct http *h, struct buf *b);
