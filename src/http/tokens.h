#pragma once

#include <sys/stat.h>

#include "base/report.h"
#include "base/sha256.h"
#include "base/vec.h"
#include "http/rate.h"
#include "http/secret.h"

/* What scripts and agents identify themselves with: serve/tokens.json, of which only the sums are
 * kept. `roux serve token` changes the file, a server reads it. */

struct token {
	struct arena arena;
	struct str name;
	char sum[SHA256_HEX];
	unsigned scopes;
	bool given; /* by tokens_add_given(): not in the file */
	uint64_t created, seen;
	struct rate requests, mutations;
};

struct tokens {
	struct str dir;   /* empty: there is no file */
	struct stat seen; /* the file that was read; zeroed: there was none */
	VEC(struct token *) at;
	VEC(struct token *) old; /* removed while requests may still name them */
	bool changed;
};

/* A missing file has no tokens. False with an issue: it cannot be read. */
bool tokens_open(struct tokens *t, struct str dir, struct report *r);
void tokens_close(struct tokens *t);
/* Whether the file is another one than that which was read. */
bool tokens_are_stale(const struct tokens *t);
/* Reads the file again; when that fails those that are known stay. */
bool tokens_reload(struct tokens *t, struct report *r);

struct token *tokens_find(struct tokens *t, struct str secret, uint64_t real_ms);

/* The reason of the refusal when the name is in use. */
#define TOKEN_EXISTS "exists"

/* Each changes the file, while no other process does. `scopes` is a mask of enum http_scope. */
bool tokens_add(struct str dir, struct str name, unsigned scopes, char secret[SECRET_HEX],
	struct report *r);
bool tokens_remove(struct str dir, struct str name, struct report *r);
/* One that no file has: of --token-file. */
void tokens_add_given(struct tokens *t, struct str name, struct str secret, unsigned mask);
/* When it was last used is written once an hour. */
void tokens_save_seen(struct tokens *t);

/* "read,run" as a mask, and back. False with an issue. */
bool scopes_read(struct str text, unsigned *ret, struct report *r);
void scopes_write(struct buf *b, unsigned mask);
