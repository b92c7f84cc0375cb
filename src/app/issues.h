#pragma once

#include "base/report.h"

/* The issues of `kinds` as the JSON array that every document has:
 * [{"file","line","column","message","hint"}, …] */
void issues_json(const struct report *r, unsigned kinds, struct buf *b);
/* The document of a wrong request: {"ok":false,"status":…,"error":…,"errors":[…]}. */
void issues_document(const struct report *r, struct buf *b);
