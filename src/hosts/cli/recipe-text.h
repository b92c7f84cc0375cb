#pragma once

#include "app/recipes.h"

/* Recipes, for people and as the documents that commands print. */

/* All of them, or only the tools, a line each, below their directories. A directory that cannot be
 * read is an issue in `r`; the others are told all the same. The packaged ones are only counted,
 * unless `packaged` or there are no others. */
void recipe_text_list(struct app *app, bool tools, bool packaged, struct buf *b, struct report *r);
/* One in full. */
void recipe_text_show(const struct recipe_ref *ref, struct buf *b);
/* Its usage line and arguments, like a command of its own. */
void recipe_text_help(const struct recipe_ref *ref, struct buf *b);

/* {"recipes":[…]}, or {"tools":[…]}. */
void recipe_json_list(struct app *app, bool tools, struct buf *b, struct report *r);
void recipe_json_show(const struct recipe_ref *ref, struct buf *b);
