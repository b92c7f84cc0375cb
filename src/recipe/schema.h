#pragma once

#include "base/buf.h"

/* JSON Schema (2020-12) of recipes, made from the tables that read them. */
void schema_recipe(struct buf *b);
