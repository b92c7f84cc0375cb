#pragma once

#include "base/buf.h"

/* JSON Schema (2020-12) of templates, made from the table that parses them. */
void schema_template(struct buf *b);
