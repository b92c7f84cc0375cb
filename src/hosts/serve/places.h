#pragma once

#include "app/app.h"

/* Where a server of one state root keeps its files. Made in an arena of the caller. */
struct serve_places {
	struct str dir;     /* <state root>/serve */
	struct str lock;    /* serve.lock in it: held by the server that runs */
	struct str socket;  /* below $XDG_RUNTIME_DIR, else in it */
	struct str runtime; /* a directory of this user for files that live for a minute */
};

void serve_places_find(struct app *a, struct arena *arena, struct serve_places *ret);

/* Holds the lock. The descriptor; -EWOULDBLOCK: another server runs; -errno. */
int serve_places_lock(const struct serve_places *p);
