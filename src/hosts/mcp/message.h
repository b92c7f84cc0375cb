#pragma once

#include "data/json.h"

/* One message of JSON-RPC 2.0 as a client has sent it. Ids and tokens are given back as they came,
 * digit for digit, so they are kept as text. */

/* Every code that an error may have. */
enum rpc_error {
	RPC_PARSE = -32700,
	RPC_REQUEST = -32600,
	RPC_METHOD = -32601,
	RPC_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NOT_FOUND = -32002, /* of a resource, in the legacy era */
	RPC_HEADER = -32020,
	RPC_CAPABILITY = -32021,
	RPC_VERSION = -32022,
};

enum message_kind { MESSAGE_REQUEST, MESSAGE_NOTIFICATION, MESSAGE_RESPONSE, MESSAGE_BAD };

struct message_limits {
	size_t depth;     /* levels of arrays and objects */
	size_t arguments; /* bytes of the arguments of a call */
};

struct message {
	enum message_kind kind;
	struct str id; /* as it was written, in the text; empty: none that can be given back */
	struct str method;
	json_t *root;
	json_t *params;            /* borrowed; NULL: none */
	struct str progress_token; /* as written, in the text; empty: none */
	/* Of a bad one: */
	enum rpc_error code;
	struct buf reason;
};

/* Always fills `ret`, which the caller ends with message_done(). The text has to live as long. */
void message_read(struct str text, const struct message_limits *limits, struct message *ret);
void message_done(struct message *m);

/* The value of a member of the object that `text` is, as it is written there; the last one of
 * several. Empty: there is none, or it is not an object. */
struct str message_raw(struct str text, struct str name);
/* Whether a text is a JSON string or an integer: what an id or a token may be. */
bool message_is_id(struct str raw);
