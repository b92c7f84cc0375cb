#pragma once

#include "hosts/serve/site/site.h"

/* The recipe of {id}, by its id in discovery. NULL: refused. */
struct recipe_ref *ask_recipe(struct http_request *q);
/* Values and secrets as one object: a new reference. Both may be NULL. */
json_t *values_joined(const json_t *values, json_t *secrets);
