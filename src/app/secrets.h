#pragma once

#include "app/launch.h"
#include "graph/event.h"

/* Values that are not shown (async-runs.md section 14). */

/* Whether somebody said that the value of that name is a secret: no text of it is shown. */
bool secret_declared(const struct launch *l, struct str name);
/* The same, or it is named like one: it is not shown under its name. */
bool secret_name(const struct launch *l, struct str name);

/* The texts of a run's secrets. */
struct mask;

/* Of the members of `values` that are named in the two arrays. NULL when there are none. */
struct mask *mask_new(const json_t *values, const json_t *names, const json_t *more);
/* Those of a launch, with what its recipe says. */
struct mask *mask_of(const struct launch *l);
/* One that has nothing in it yet, for a run that gets to know more. */
struct mask *mask_open(const struct launch *l);
void mask_add(struct mask *m, const json_t *value);
/* Another owner. */
struct mask *mask_ref(struct mask *m);
void mask_free(struct mask *m);

/* `text` with every secret in it replaced: itself when there is none, else in the arena. */
struct str mask_text(const struct mask *m, struct str text, struct arena *a);
/* The event with its texts masked, in the arena. */
void mask_event(const struct mask *m, const struct event *e, struct event *ret, struct arena *a);
