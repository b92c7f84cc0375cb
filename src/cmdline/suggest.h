#pragma once

#include "base/report.h"
#include "cmdline/command.h"

/* Adds the words of a NULL-terminated list: "svg, dot or mermaid". */
void suggest_list(const char *const *words, struct buf *b);
/* Hints at the nearest word to the issue added last. False: none is near. */
bool suggest_word(const char *const *words, struct str wanted, struct report *r);

/* Reports that `name` is not a command, with the nearest that is. Returns false. */
bool suggest_command(
	const struct command *const *commands, size_t count, struct str name, struct report *r);
