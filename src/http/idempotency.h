#pragma once

#include "base/buf.h"
#include "base/list.h"
#include "base/sha256.h"
#include "http/decode.h"

/* Replies that are given again: two clicks start one run. */

struct http_request;

enum { IDEMPOTENT_MAX = 256, IDEMPOTENT_MS = 600000, IDEMPOTENCY_KEY_MAX = 64 };

/* A reply as it was, but for the headers that every reply has. */
struct kept_reply {
	unsigned status;
	struct arena arena;
	http_field_vec headers;
	struct buf body;
};

struct idempotent {
	struct list link; /* oldest first */
	struct buf key;   /* principal, route and the client's key */
	char body[SHA256_HEX];
	uint64_t since_ms;
	struct http_request *first; /* that is being carried out; NULL: done, `reply` has it */
	VEC(struct http_request *) waiting;
	struct kept_reply reply;
};

struct idempotency {
	struct list entries;
	size_t count;
};

void idempotency_init(struct idempotency *t);
void idempotency_done(struct idempotency *t);
/* The entry of a key, or a fresh one whose `first` is NULL and whose `since_ms` is 0. */
struct idempotent *idempotency_find(struct idempotency *t, struct str key, uint64_t now_ms);
void idempotent_free(struct idempotency *t, struct idempotent *one);
/* A request that waits has ended. */
void idempotent_forget(struct idempotent *one, const struct http_request *q);
