#pragma once

#include "base/report.h"
#include "cmdline/command.h"

/*
 * Scripts that complete roux's command line, made from the command table and complete in
 * themselves. What only roux knows, they ask it for when it is needed: `roux complete recipes`,
 * `roux complete statuses`, `roux complete runs COMMAND`, `roux complete nodes -- WORD...` and
 * `roux complete tools -- WORD...` print one word a line, and a failure is an empty list.
 */

/* The names of the shells, in the order they are offered; ends with NULL. */
extern const char *const completion_shells[];

/* Adds the script for `shell`; fails when there is none for it. */
bool completion_script(struct str shell, const struct command *const *commands, size_t count,
	struct buf *b, struct report *r);

/* The script of each shell. */
void completion_bash(const struct command *const *commands, size_t count, struct buf *b);
void completion_zsh(const struct command *const *commands, size_t count, struct buf *b);
void completion_fish(const struct command *const *commands, size_t count, struct buf *b);

/* Whether a shell can offer anything for the operands of `c`. */
bool completion_has_operand(const struct command *c);
/* Whether its operands behind the first are name=value words of a recipe. */
bool completion_takes_values(const struct command *c);
/* What its second operand is: a node of the run that is its first, a tool that its first word is
 * about; else COMPLETE_NONE. */
enum complete_kind completion_second(const struct command *c);
/* Adds the names of commands that are not hidden, each after a space; words of a list; those that
 * the first operand of `c` may be. */
void completion_add_commands(const struct command *const *commands, size_t count, struct buf *b);
void completion_add_operands(const struct command *c, struct buf *b);
void completion_add_words(const char *const *words, struct buf *b);
