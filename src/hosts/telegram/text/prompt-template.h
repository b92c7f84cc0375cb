#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* Files of prompts as commands of the chat: prompts/fix-tests.md is /fix_tests. */

enum { TEMPLATE_NAME_BYTES = 32 };

/* The command of a file's name without its ending: lower case, every run of other characters than
 * letters, digits and _ one _, none at the ends, at most 32. Empty when nothing is left. In the
 * arena. */
struct str template_command_name(struct arena *a, struct str stem);

struct template_command {
	struct str name;
	size_t index; /* of the file */
};

/* The commands of files in the order of their names, sorted; of equal ones the first file has it. A
 * reserved name is left out: `reserved` says which. Returns how many. In the arena. */
size_t template_commands(struct arena *a, const struct str *stems, size_t count,
	bool (*reserved)(void *data, struct str name), void *data, struct template_command **ret);

/* The text without its front matter, the lines between two `---`. Borrowed. */
struct str template_body(struct str file);

/* Words of arguments: spaces and tabs separate, ' and " quote, nothing escapes. Empty ones are left
 * out. Returns how many; in the arena. */
size_t template_words(struct arena *a, struct str args, struct str **ret);

/* $1 …, $@ and $ARGUMENTS (all), ${@:n} (from the n-th), ${@:n:m} (m of them). What is put in is
 * not read again. */
void template_substitute(struct buf *b, struct str body, const struct str *words, size_t count);
/* The same with the arguments as they were written. */
void template_expand(struct buf *b, struct str body, struct str args);
