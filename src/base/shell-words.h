#pragma once

#include "base/buf.h"

/* A command as people read it: words joined by spaces, quoted where a shell would need it, on one
 * line and without control characters and marks that turn the text around. */
void command_display(struct buf *b, const char *const *argv, size_t count);

/* A text as it stands between the quotes of such a word: '…', or $'…', which shells read back as
 * one line and in which there is nothing that a terminal would obey. */
void quoted_inside(struct buf *b, struct str word);
void quoted_inside_ansi(struct buf *b, struct str word);
