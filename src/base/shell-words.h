#pragma once

#include "base/buf.h"

/* A command as people read it: words joined by blanks, quoted where a shell would need it, on one
 * line and without control characters. */
void command_display(struct buf *b, const char *const *argv, size_t count);
