#pragma once

#include "app/mask.h"
#include "app/record/launch.h"
#include "graph/event.h"

/* Values that are not shown (async-runs.md section 14). */

/* Whether the request or the recipe declares that name as a secret: no text of its value is shown.
 */
bool secret_declared(const struct launch *l, struct str name);
/* The same, or it is named like one: it is not shown under its name. */
bool secret_name(const struct launch *l, struct str name);

/* The secrets of a launch, including those that its recipe declares. The caller ends it with
 * mask_free(), as those of the next two calls. */
struct mask *mask_of(const struct launch *l);
/* The same for a run whose secrets turn up while it runs: mask_add() may follow. */
struct mask *mask_open(const struct launch *l);
void mask_add(struct mask *m, const json_t *value);
/* A further reference. */
struct mask *mask_ref(struct mask *m);

/* The event with its texts masked, in the arena. */
void mask_event(const struct mask *m, const struct event *e, struct event *ret, struct arena *a);
/* The issues with their texts masked. `m` may be NULL. */
void mask_report(const struct mask *m, struct report *r);
