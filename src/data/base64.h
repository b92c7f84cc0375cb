#pragma once

#include "base/buf.h"

/* Bytes as text, for what JSON cannot hold. */
void base64_write(struct buf *b, struct str bytes);
/* False when it is none. */
bool base64_read(struct str text, struct buf *ret);
