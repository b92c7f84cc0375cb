#pragma once

#include "app/recipes.h"
#include "graph/plan.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/secret-opts.h"

/* Options of every command that reads a template. */
struct template_opts {
	unsigned dialect;
	bool template;
	struct opt_list values;
	struct secret_opts secrets;
};
extern const struct opt dialect_opts[1];
extern const struct opt template_opts[1];
extern const struct opt values_opts[1];

enum dialect template_dialect(const struct template_opts *o);
bool template_is_0_9(const struct template_opts *o);
/* For struct command: an option that is really a field of a node, such as --timeout. */
bool template_unknown_option(struct str name, struct report *r);

/* What the words of a command line mean: the template, or where `any` a recipe, then its values.
 * NULL with issues added. *stdin_used: standard input was read. */
struct recipe_ref *template_ref(struct cli *cli, const struct template_opts *o, bool any,
	size_t count, const char *const *words, bool *stdin_used);
/* A plan of a template. */
struct plan *template_plan(struct cli *cli, const struct template_opts *o, size_t count,
	const char *const *words, bool *stdin_used);
