#pragma once

#include "app/recipes.h"
#include "hosts/cli/cli.h"

struct template_opts;

/* Where a template's values come from: --values files, --lines, then name=value and name:=JSON
 * words; later ones win. NULL with issues added. *stdin_used: standard input was read. Words
 * without a name behind a recipe are put into *positions, which may be NULL, for values_place(). */
json_t *values_read(struct cli *cli, const struct template_opts *o, size_t count,
	const char *const *words, struct opt_list *positions, bool *stdin_used);
/* Gives them to the arguments that the recipe declares and that have no value yet, in order. False
 * with issues added. */
bool values_place(struct cli *cli, const struct recipe_ref *ref, const struct opt_list *positions,
	json_t *values);

/* Takes standard input when `operand` is "-". False, with an issue, when it is taken already. */
bool values_claim_stdin(struct cli *cli, const char *operand, bool *stdin_used);

/* Warnings that stand in no file are about the values: a misspelt name, say. They are told before
 * the run, which may take hours, and so are slips. */
void values_warn(struct report *warnings);
