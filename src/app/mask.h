#pragma once

#include "base/arena.h"
#include "data/json.h"

/* Texts that must not be shown: the values of secrets (async-runs.md section 14). */
struct mask;

/* Of the members of `values` that are named in the two arrays. NULL when there are none. The caller
 * ends it with mask_free(). */
struct mask *mask_new(const json_t *values, const json_t *names, const json_t *more);
void mask_free(struct mask *m);

/* `text` with every secret in it replaced: itself when there is none, else in the arena. `m` may be
 * NULL. */
struct str mask_text(const struct mask *m, struct str text, struct arena *a);
