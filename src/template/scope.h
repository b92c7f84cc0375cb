#pragma once

#include "base/map.h"
#include "template/placeholder.h"

struct place;
struct presets;

/* One default: its value and, when it is a text with placeholders in it, the text cut up. */
struct preset {
	struct str name;
	const json_t *value;
	const struct part *parts;
	size_t part_count;         /* 0: nothing to resolve */
	const struct place *place; /* of its value, or of the declaration; NULL: the node's */
	/* Where a name that is all of the text is looked for before the scopes around; NULL: only
	 * there. An import node that is a recipe's whole template has the recipe's defaults here.
	 */
	const struct presets *around;
};

/* The `defaults` of one node, or the shorthand defaults of its `args`. */
struct presets {
	struct preset *at;
	size_t count;
	struct map *index; /* by name, when there are many; NULL: few */
};

/* Once all are there. */
void presets_index(struct presets *p, struct arena *a);

/* The names that a text may use, as a chain of small layers: one for each node that adds something,
 * innermost first. Looked up in the order of docs/reference.md, "Where a name is looked up". */
struct scope {
	const struct scope *up;
	const json_t *values; /* runtime values: set at the root only */
	json_t *vars;         /* step recipes: the variables, which steps set; NULL: those above */
	const struct presets *defaults; /* of the node; NULL: none */
	const struct presets *args;     /* shorthand defaults; NULL: inherited */
	bool repeats;                   /* a copy: index and count are known */
	int64_t index, count;
};

/* Adds the default to `ret`, cutting its text. `value` must live as long as the arena. */
void preset_compile(
	struct arena *a, struct str name, const json_t *value, enum dialect d, struct preset *ret);
/* Whether it is {"x": "{x}"}: it only passes on what is called so around it. */
bool preset_passes(const struct preset *p);
const struct preset *presets_find(const struct presets *p, struct str name);

/* The innermost copy that `s` is in, or NULL. */
const struct scope *scope_repeat(const struct scope *s);
/* The variables of a step recipe, an object; NULL: there are none. */
json_t *scope_vars(const struct scope *s);
/* A runtime value, or NULL. */
const json_t *scope_value(const struct scope *s, struct str name);
/* The number behind index, prev, next, repeat of a copy. */
int64_t scope_generated(const struct scope *copy, struct str bare);
/* Calls `see` with every name that has a value here. */
void scope_names(const struct scope *s, void (*see)(void *data, struct str name), void *data);
