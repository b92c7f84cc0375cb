#pragma once

#include "app/trust.h"
#include "recipe/recipe.h"

/* trust.json as it was read, for many questions: a new reference, an empty object when there is
 * none. One that others may write is not used; that is a warning. NULL with an issue added. */
json_t *trust_read(struct app *a, struct report *r);
enum trust trust_of(const json_t *trusted, const struct recipe *recipe);
