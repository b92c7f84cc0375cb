#pragma once

#include "base/buf.h"

/* Texts in addresses. */

/* Adds it with everything that is not a letter, a digit or one of -._~ percent-encoded. */
void uri_escape(struct buf *b, struct str text);
/* False: it is not well-formed, or has control characters. */
bool uri_unescape(struct str text, struct buf *ret);
