#pragma once

#include "app/record/launch.h"
#include "data/mask.h"
#include "graph/event.h"

/* Values that are not shown (docs/runs.md, "Secrets"). */

/* The names that the request or the recipe declares as secrets, as members of an object: no text of
 * their values is shown. A new reference. */
json_t *secret_names(const struct launch *l);
/* The variable of the environment that has a secret of --secret-env. */
const char *secret_variable(const struct launch *l, const char *name);
/* Whether a value of that name is not shown under it, although nothing declares it. */
bool secret_like(struct str name);

/* The texts of a value are hidden from now on, also from who reads the records later. */
void secret_keep_texts(struct launch *l, const json_t *value);
/* The same of the values that declared secrets had before they were given anew: the records have
 * what was executed with them. Not of --secret-env: what the environment had then is not known. */
void secret_keep_former(struct launch *l, const json_t *former);
/* The same of the texts of a mask, behind its first `from`. */
void secret_keep_found(struct launch *l, const struct mask *m, size_t from);

/* The secrets of a launch: what is declared, and variables of --env that are named like secrets.
 * The caller ends both with mask_free(). */
struct mask *mask_of(const struct launch *l);
/* The same for a run whose secrets turn up while it runs: never NULL. */
struct mask *mask_of_run(const struct launch *l);

/* What records show of a launch: new references. */
json_t *shown_values(const struct launch *l, struct mask *m);
json_t *shown_argv(const struct launch *l, struct mask *m);
json_t *shown_env(const struct launch *l, struct mask *m);
json_t *shown_artifacts(const struct launch *l); /* NULL: it has none */
/* Whether the variable of a NAME=VALUE is named like a secret; its two halves. */
bool secret_entry(const json_t *entry, struct str *name, struct str *value);

/* The event with its texts masked, in the arena; what commands print is left to pieces.h. */
void mask_event(struct mask *m, const struct event *e, struct event *ret, struct arena *a);
/* The event of an output as it is kept: what the command printed is as it was, what roux says about
 * it is masked. */
void mask_around(struct mask *m, const struct event *e, struct event *ret, struct arena *a);
