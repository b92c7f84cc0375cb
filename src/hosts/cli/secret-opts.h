#pragma once

#include "data/json.h"
#include "hosts/cli/cli.h"

/* Values that are shown nowhere. */
struct secret_opts {
	struct opt_list values, names, files; /* NAME=VALUE; NAME of the environment; NAME=FILE */
};
extern const struct opt secret_opts[3];

/* Puts them into `values` and their names into the two arrays; from now on diagnostics do not show
 * them. `vars` gets those whose variable has another name: name → variable. False with issues
 * added.
 */
bool secrets_take(struct cli *cli, const struct secret_opts *o, json_t *values, json_t *given,
	json_t *from_environment, json_t *vars);
