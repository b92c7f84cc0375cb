#pragma once

#include "recipe/file.h"

/* `{repo}` in a recipe of a project: the directory that has `.roux`, as in its imports, so that a
 * recipe can say `"cwd": "{repo}"` wherever it is called from. It is a default of the file, and an
 * author who says what `repo` is (in `args`, `defaults`, `values` or as `{repo=…}`) is not
 * contradicted. Called when `object` has been made. False with issues. */
bool repo_value_add(struct recipe_set *set, struct recipe_file *f, struct report *r);
