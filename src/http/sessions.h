#pragma once

#include "base/sha256.h"
#include "base/vec.h"
#include "http/rate.h"
#include "http/secret.h"

/* Browsers that have logged in, and the tokens with which they may. The file sessions.json has the
 * sums of secrets only, so reading it lets no one in. */

enum { SESSIONS_MAX = 32, SESSION_DAYS = 30, ONCE_MAX = 64, ONCE_MS = 600000 };

struct session {
	char sum[SHA256_HEX];
	char name[17]; /* a name for people and the audit: the beginning of the sum's sum */
	uint64_t created, seen; /* real milliseconds */
	struct rate requests, mutations;
};

struct once {
	char sum[SHA256_HEX];
	uint64_t until_ms; /* of the monotonic clock */
};

struct sessions {
	struct str dir; /* empty: kept in memory only */
	VEC(struct session *) at;
	VEC(struct once) once;
	bool changed; /* since it was written */
};

/* What cannot be read counts as no sessions. */
void sessions_init(struct sessions *s, struct str dir);
void sessions_done(struct sessions *s);

/* NULL: there is none with this secret, or it is too old. */
struct session *sessions_find(struct sessions *s, struct str secret, uint64_t real_ms);
/* The oldest makes room. `secret` is what the cookie gets. NULL: the kernel has no random bytes. */
struct session *sessions_add(struct sessions *s, uint64_t real_ms, char secret[SECRET_HEX]);
void sessions_remove(struct sessions *s, struct session *one);
/* Writes what has changed. -errno. */
int sessions_save(struct sessions *s);

/* A token for one login. False: no random bytes. */
bool once_make(struct sessions *s, uint64_t now_ms, char secret[SECRET_HEX]);
bool once_use(struct sessions *s, struct str secret, uint64_t now_ms);
