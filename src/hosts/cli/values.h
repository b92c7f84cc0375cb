#pragma once

#include "app/recipes.h"
#include "hosts/cli/cli.h"

/* Where a template's values come from: --values files, then name=value and name:=JSON words; later
 * ones win. NULL with issues added. *stdin_used: standard input was read. */
json_t *values_read(struct cli *cli, const struct opt_list *files, size_t count,
	const char *const *words, bool *stdin_used);

/* Takes standard input when `operand` is "-". False, with an issue, when it is taken already. */
bool values_claim_stdin(struct cli *cli, const char *operand, bool *stdin_used);

/* Warnings that stand in no file are about the values: a misspelt name, say. They are told before
 * the run, which may take hours, and so are slips. */
void values_warn(struct report *warnings);
