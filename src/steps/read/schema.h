#pragma once

#include "data/json.h"

/* JSON Schema (2020-12) of step recipes, made from the table that reads them: a new reference. It
 * says less than roux checks: what depends on other steps and on variables is not in it. */
json_t *steps_schema(void);
