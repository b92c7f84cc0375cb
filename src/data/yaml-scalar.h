#pragma once

#include "data/json.h"

enum yaml_type { YAML_ANY, YAML_STR, YAML_INT, YAML_FLOAT, YAML_BOOL, YAML_NULL };

/* A plain scalar by the rules of YAML 1.1, as the value that it is; with a type other than
 * YAML_ANY, any scalar whose tag asks for that. NULL: it cannot be had from this text. A new
 * reference. */
json_t *yaml_scalar(struct str text, enum yaml_type type);
