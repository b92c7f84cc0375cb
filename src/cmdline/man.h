#pragma once

#include "cmdline/command.h"

/* Parts of the man page as scdoc(5) source, to stand in the prose below `# COMMANDS` and
 * `# OPTIONS`; both begin with text or a heading of the second level. */

/* Each command that is not hidden: how it is called, what it does, its details. */
void man_commands(const struct command *const *commands, size_t count, struct buf *b);
/* The options of one command, below a heading with its name. */
void man_options(const struct command *c, struct buf *b);
