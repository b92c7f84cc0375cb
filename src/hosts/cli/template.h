#pragma once

#include "app/recipes.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/secret-opts.h"

/* Options of every command that reads a template. */
struct template_opts {
	unsigned dialect;
	bool template;
	struct opt_list values, lines, lines0;
	struct secret_opts secrets;
};
extern const struct opt dialect_opts[1];
extern const struct opt template_opts[1];
extern const struct opt values_opts[1];
extern const struct opt lines_opts[2];

/* recipes_open(), after a line about a project whose recipes are not used, if that may matter. */
struct recipe_ref *cli_open_recipe(
	struct cli *cli, const char *operand, const struct recipe_open *o);
/* That line; NULL: all recipes are asked for. */
void cli_note_project(struct cli *cli, const char *operand);

bool template_is_0_9(const struct template_opts *o);
/* For struct command: an option that is really a field of a node, such as --timeout. */
bool template_unknown_option(struct str name, struct report *r);

/* What the words of a command line give: a template, or where `any` a recipe, then its values. */
struct template_given {
	struct cli *cli;
	struct recipe_ref *ref;
	json_t *values, *secrets, *secret_env, *secret_vars;
	bool stdin_used; /* standard input was read */
};

/* False with issues added. template_close() in any case. */
bool template_open(struct template_given *g, const struct template_opts *o, bool any, size_t count,
	const char *const *words);
void template_close(struct template_given *g);
