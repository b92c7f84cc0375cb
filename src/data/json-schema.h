#pragma once

#include "data/json.h"

/* Whether a value is what a JSON Schema (draft 2020-12) says. Keywords that are not known say
 * nothing, as the standard has it; `format` neither. References lead only into the schema itself.
 */

/* `path` is where in the value, as a text such as items[2].name; empty: the value itself. False:
 * enough has been told. */
typedef bool json_schema_fn(void *data, struct str path, struct str message);

/* True: the value satisfies it. */
bool json_schema_check(const json_t *schema, const json_t *value, json_schema_fn *tell, void *data);

/* Whether the schema can be used: no references to elsewhere or nowhere, at most 32 levels deep and
 * 2,000 schemas in it. False with an issue added. */
bool json_schema_usable(const json_t *schema, struct report *r);
