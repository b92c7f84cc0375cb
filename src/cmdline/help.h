#pragma once

#include "cmdline/command.h"

/* Plain text of at most 80 columns, for a terminal, a pipe or a page. */

/* All commands that are not hidden, in the order given, and where to begin. */
void help_overview(const struct command *const *commands, size_t count, struct buf *b);
/* Everything the table says about one command. */
void help_command(const struct command *c, struct buf *b);
