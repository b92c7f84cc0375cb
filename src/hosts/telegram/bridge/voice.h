#pragma once

#include "data/json.h"

struct bridge;

/* `path` is the voice file; NULL: there is none, and `why` says what went wrong, empty when no
 * handler is configured. */
typedef void voice_fn(void *data, const char *path, struct str why);

/* Speaks "text" of an object, with "lang" and "rate", by the outbound handlers for voice: the first
 * that makes a file wins. Borrowed for the call. `done` may be called before this returns. */
void voice_make(struct bridge *b, const json_t *voice, voice_fn *done, void *data);
