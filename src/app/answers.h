#pragma once

#include "base/report.h"

/* Documents of requests that were not carried out (docs/reference.md, "The result document"). */

/* The issues of `kinds` as the JSON array that every document has:
 * [{"file","line","column","message","hint"}, …], with "field" when it is about a value. */
void issues_json(const struct report *r, unsigned kinds, struct buf *b);
/* The document of a wrong request, or of one that the state of a run forbids, with a newline. The
 * actions of the issues have been worded (report_word()). */
void answer_document(const struct report *r, struct buf *b);
