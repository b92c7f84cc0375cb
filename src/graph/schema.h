#pragma once

#include "data/json.h"

/* JSON Schema (2020-12) of templates, made from the table that parses them. */
void schema_template(struct buf *b);
/* The parts that a larger schema is made of: {"node", "object"} and with `imports` {"import"}: a
 * new reference. */
json_t *schema_definitions(bool imports);
