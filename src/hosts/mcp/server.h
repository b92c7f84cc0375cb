#pragma once

#include "app/app.h"
#include "base/list.h"
#include "hosts/mcp/message.h"

/* The server as a protocol, without a transport: messages of a client go in as text, answers and
 * notifications come out through a channel. One server may have many sessions. */

struct catalog;
struct exchange;
struct listener;
struct session;
struct tool_call;

/* What the command line says. Texts are borrowed for as long as the server lives. */
struct mcp_options {
	struct message_limits limits;
	size_t in_flight;     /* requests of a session at once */
	size_t output;        /* bytes of output that a result has at most */
	uint64_t sync_ms;     /* after which a call becomes a run that is waited for: 0: never */
	uint64_t progress_ms; /* the same of a call that hears of progress */
	unsigned jobs;        /* calls at once */
	size_t runs;          /* of one principal at once, with those that outlive their call */
	uint64_t disk;        /* bytes that all runs may take before no more are started; 0: any */
	bool no_builtins, no_prompts, read_only, raw_results, audit_arguments, sandbox;
	const char *const *only, *const *except; /* globs of tools */
	size_t only_count, except_count;
	const char *const *dirs; /* of more recipes, searched first */
	size_t dir_count;
	const char *const *recipes; /* named one by one */
	size_t recipe_count;
};

struct mcp {
	struct app *app;
	struct mcp_options options;
	struct catalog *catalog;
	struct list sessions;
	struct list calls;     /* that run */
	struct list waiting;   /* for a place among them */
	struct list listeners; /* who hears of changes */
	struct list kept;      /* runs that continue without their call */
	size_t running;
	uint64_t disk, disk_ms; /* what the runs take, and when that was found out */
	unsigned char key[32];  /* signs what clients hand back; has_key says whether it was read */
	bool has_key;
	bool ending;
};

/* NULL with issues. */
struct mcp *mcp_new(struct app *a, const struct mcp_options *o, struct report *r);
void mcp_free(struct mcp *m);
struct run_handle;
/* The run with that id, and by nothing but its id: of the other ways to name one, which people use,
 * a client could mean another run than it gets. NULL with issues. */
struct run_handle *mcp_open_run(struct mcp *m, struct str id, struct report *r);
/* A line for people, on standard error or in the file of --log-file. */
void mcp_log(const char *fmt, ...) PRINTF(1, 2);

/* -- where messages go ---------------------------------------------------------------------------
 */

enum send_weight {
	SEND_ANSWER,   /* never dropped */
	SEND_NOTICE,   /* neither */
	SEND_PROGRESS, /* a later one with the same key makes it worthless */
};

struct channel {
	bool modern; /* the transport says so, whatever a message says */
	/* Of the answer that is being sent, for a transport that tells more than a message: its
	 * error, 0: none; whether the message itself was at fault, not what it asked for. */
	enum rpc_error error;
	bool envelope;
	/* A request that came by this channel has ended, answered or not, and does not use it any
	 * more. NULL: the channel outlives all of them. */
	void (*over)(struct channel *c);
	/* `message` is one line of JSON without its end. `key` names what a progress is about. */
	void (*send)(
		struct channel *c, struct str message, enum send_weight weight, struct str key);
};

/* -- who sends them ------------------------------------------------------------------------------
 */

enum era { ERA_LEGACY, ERA_MODERN };

/* One client: a process at the other end of a pipe, or a session over HTTP. Modern requests touch
 * nothing of it but their place among those in flight. */
struct session {
	struct list link;
	struct mcp *server;
	struct channel *channel; /* for what belongs to no request */
	struct str principal;    /* whose requests they are */
	bool alone;              /* nothing can be sent between requests */
	bool mute;               /* its answers to the questions of runs do not count */
	struct list exchanges;   /* in flight */
	size_t in_flight;
	struct list asked; /* requests of ours that the client has not answered */
	/* Of the legacy era: */
	struct arena arena;
	bool initialized;    /* the handshake has been answered */
	const char *version; /* agreed on */
	json_t *capabilities;
	struct str client;
	struct listener *listener; /* what it hears of changes; NULL: nothing */
	int log_level;             /* from which on messages are sent; -1: none are */
};

void session_init(struct session *s, struct mcp *m, struct channel *c);
/* Its calls are cancelled; runs that were promised to outlive it continue. */
void session_done(struct session *s);
/* One message. `channel` is where the answer goes. */
void session_receive(struct session *s, struct channel *c, struct str text);
/* A message that cannot even be read. */
void session_refuse(struct channel *c, enum rpc_error code, struct str id, const char *reason);
/* The input has ended, or the program is to end: what is in flight is cancelled, and streams are
 * closed as the protocol wants it. */
void session_end(struct session *s);

/* -- one request ---------------------------------------------------------------------------------
 */

struct method;

/* A request from its arrival to its answer. exchange_answer(), exchange_fail() and exchange_drop()
 * end it. */
struct exchange {
	struct list link;
	struct session *session;
	struct channel *channel;
	const struct method *method;
	enum era era;
	struct message message;
	struct buf text;      /* of the message */
	struct buf key;       /* its id, comparable */
	json_t *params;       /* an object, never NULL; borrowed from the message, or empty */
	json_t *meta;         /* params._meta; borrowed, may be NULL */
	json_t *capabilities; /* what the client offers for this request; borrowed, may be NULL */
	struct str client;    /* what the client calls itself; may be empty */
	struct arena arena;   /* for its texts */
	uint64_t since_ms;
	/* Set by a method that answers later: the client wants no answer any more, or has gone. It
	 * ends with exchange_drop(). */
	void (*cancel)(struct exchange *x);
	void (*closing)(struct exchange *x); /* the server ends; NULL: as cancel */
	void *data;
};

/* Takes the result, an object. */
void exchange_answer(struct exchange *x, json_t *result);
/* The same with one more member of _meta, whose value is JSON already. */
void exchange_answer_meta(struct exchange *x, json_t *result, const char *name, struct str value);
/* Takes `data`, which may be NULL. */
void exchange_fail(struct exchange *x, enum rpc_error code, json_t *data, const char *fmt, ...)
	PRINTF(4, 5);
/* From the issues of a report: of our fault RPC_INTERNAL, else `code`. */
void exchange_fail_report(struct exchange *x, enum rpc_error code, struct report *r);
void exchange_drop(struct exchange *x);

/* {"jsonrpc":"2.0","method":…,"params":…} to a channel. Takes the params. */
void channel_notify(struct channel *c, const char *method, json_t *params);
/* The same with `params` as text. */
void channel_notify_text(struct channel *c, const char *method, struct str params,
	enum send_weight weight, struct str key);

/* Whether the client offers it: "elicitation", or "elicitation.url". */
bool exchange_offers(const struct exchange *x, const char *name);
/* Whether it declares an extension. */
bool exchange_extends(const struct exchange *x, const char *name);
/* A member of the modern _meta by its short name. */
json_t *exchange_meta(const struct exchange *x, const char *name);

/* -- requests of ours (legacy) -------------------------------------------------------------------
 */

/* A request to the client. `answered` gets its result, or NULL when the client refused, and both
 * are gone afterwards. */
struct question {
	struct list link;
	struct str id;
	struct arena arena;
	void (*answered)(struct question *q, const json_t *result);
	void *data;
};

/* Takes the params. */
struct question *session_ask(struct session *s, struct channel *c, const char *method,
	json_t *params, void (*answered)(struct question *q, const json_t *result), void *data);
/* The answer is not waited for any more. */
void question_drop(struct question *q);

/* -- methods -------------------------------------------------------------------------------------
 */

enum { IN_LEGACY = 1 << ERA_LEGACY, IN_MODERN = 1 << ERA_MODERN };

struct method {
	const char *name;
	unsigned eras;
	void (*handle)(struct exchange *x);
	bool cached; /* its result has ttlMs and cacheScope in the modern era */
	bool before; /* allowed before the handshake of the legacy era */
};

extern const struct method methods[];
extern const size_t method_count;

#define PROTOCOL_MODERN "2026-07-28"
#define META_PREFIX "io.modelcontextprotocol/"
#define TASKS_EXTENSION META_PREFIX "tasks"
#define RUN_META "dev.roux/run"
