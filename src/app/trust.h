#pragma once

#include "app/recipes.h"

/* Project recipes that hosts may run for a model or a chat. The user records the SHA-256 of a
 * recipe's file and of every file that it imports or calls by name, in trust.json of the state
 * root; when one of them changes the recipe is not trusted any more. A person who types the
 * recipe's name needs none of this. */

const char *trust_name(enum trust trust);

/* Of the recipe as it was read: what runs_start() then runs. */
enum trust recipe_ref_trust(const struct recipe_ref *ref);
/* What a host asks that acts for a model or a chat. */
static inline bool recipe_ref_trusted(const struct recipe_ref *ref)
{
	enum trust trust = recipe_ref_trust(ref);

	return trust == TRUST_GIVEN || trust == TRUST_NEEDLESS;
}
/* The same, before it starts one. False: refused in the report. */
bool recipe_ref_check_trust(const struct recipe_ref *ref, struct report *r);

/* Records it. False with issues: it is not a project's recipe, or the file cannot be written. */
bool trust_give(struct recipe_ref *ref, struct report *r);
/* Forgets the recipe of a file, which need not be there. *ret_was: it was recorded. False with
 * issues: the file cannot be written. */
bool trust_withdraw(struct app *a, struct str path, bool *ret_was, struct report *r);

/* One that is recorded, the oldest first. Borrowed until the visitor returns. */
struct trusted_recipe {
	struct str path, when;
	size_t files;     /* how many sums are recorded */
	enum trust trust; /* TRUST_NONE: there is no such recipe any more */
};

typedef void trusted_fn(void *data, const struct trusted_recipe *one);
/* False with issues added. */
bool trust_each(struct app *a, trusted_fn *fn, void *data, struct report *r);
