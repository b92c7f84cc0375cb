#pragma once

#include "app/app.h"
#include "data/json.h"

/* Recipes and templates: finding them, opening them, telling about them. Nothing here starts
 * anything. */

/* A recipe or a template that was opened, with the values that were given for it. It does not
 * change when its file does. */
struct recipe_ref;

enum recipe_operand {
	OPERAND_ANY,      /* a template if it looks like one, else a recipe */
	OPERAND_TEMPLATE, /* a template, never a recipe */
	OPERAND_RECIPE,   /* a recipe, never a template */
};

struct recipe_open {
	enum recipe_operand as;
	bool dialect_0_9; /* a template is read in the dialect of version 0.9 */
	bool launch;      /* refuse a recipe that is disabled: it can only be looked at */
	/* An object, which the reference shares. A step recipe is checked for values that it needs:
	 * NULL: none are given; json_null(): they are not known yet. */
	json_t *values;
};

/* What an operand means: the id of a recipe, its path, the text of a template, its JSON, @FILE, or
 * - for standard input. NULL options: all defaults. NULL with every mistake in `r`. */
struct recipe_ref *recipes_open(
	struct app *a, const char *operand, const struct recipe_open *o, struct report *r);
/* A text as if it stood in a file called `name`: a recipe when that ends with .md, .yaml or .yml,
 * else a template. What it imports is looked for beside `name`. */
struct recipe_ref *recipes_open_text(struct app *a, struct str name, struct str text,
	const struct recipe_open *o, struct report *r);
/* The same recipe with other values, from the files as they were. NULL with issues added. */
struct recipe_ref *recipe_ref_with(struct recipe_ref *ref, json_t *values, struct report *r);
struct recipe_ref *recipe_ref_share(struct recipe_ref *ref);
void recipe_ref_free(struct recipe_ref *ref);

/* Its id; empty: it is a template. Borrowed. */
struct str recipe_ref_id(const struct recipe_ref *ref);
bool recipe_ref_async(const struct recipe_ref *ref);
bool recipe_ref_is_steps(const struct recipe_ref *ref);
/* What was found when it was read, as warnings. Borrowed. */
const struct report *recipe_ref_warnings(const struct recipe_ref *ref);
/* Whether its values have only names that it declares, or, from a person, that it uses; issues with
 * the nearest name otherwise. */
bool recipe_ref_check_names(const struct recipe_ref *ref, bool person, struct report *r);

/* Whether an operand that may be either is a template. */
bool recipes_is_template(struct app *a, const char *operand);
/* Whether there is a recipe of that id or path. */
bool recipes_has(struct app *a, const char *operand);
