#pragma once

#include "app/recipes.h"
#include "hosts/cli/cli.h"

struct template_opts;

/* Where a template's values come from: --values files, --lines, then name=value and name:=JSON
 * words; later ones win. NULL with issues added. *stdin_used: standard input was read. Words
 * without a name behind a recipe are put into *positions, which may be NULL, for values_open(). */
json_t *values_read(struct cli *cli, const struct template_opts *o, size_t count,
	const char *const *words, struct opt_list *positions, bool *stdin_used);
/* Opens what the operand means and gives the words without a name to the arguments that it declares
 * and that have no value yet, in order. NULL with issues added: all that is wrong with the values,
 * when that is what is wrong. */
struct recipe_ref *values_open(struct cli *cli, const char *operand, const struct recipe_open *o,
	const struct opt_list *positions);

/* Takes standard input when `operand` is "-". False, with an issue, when it is taken already. */
bool values_claim_stdin(struct cli *cli, const char *operand, bool *stdin_used);

/* Warnings that stand in no file are about the values: a misspelt name, say. They are told before
 * the run, which may take hours, and so are slips. */
void values_warn(struct cli *cli, struct report *warnings);
