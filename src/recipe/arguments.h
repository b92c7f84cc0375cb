#pragma once

#include "graph/graph.h"

/* The public arguments of a recipe: what `args` declares, else the names of the placeholders in
 * order of first appearance. */
struct public_argument {
	struct str name;
	struct type type;
	bool implied_bool; /* only used as a flag: shapes the schema, checks nothing */
	bool required;
	bool any; /* of a step recipe: it begins as null or as nothing, which tells no type */
	const json_t *fallback; /* the default: borrowed from the graph; NULL: none */
	struct str inline_text; /* an inline default; p is NULL: none */
};

struct public_arguments {
	struct arena arena;
	struct public_argument *at;
	size_t count;
	bool declared;      /* `args` says so: other names are not known to callers */
	struct str *hidden; /* then the names that the recipe uses beside them */
	size_t hidden_count;
};

/* `recipe` is the recipe's object with references resolved, `entry` its file. A name that cannot be
 * given a value is a warning. */
struct public_arguments *public_arguments_new(const struct graph *g, const json_t *recipe,
	const struct doc *entry, struct report *warnings);
/* Of a step recipe: its variables, each with what it begins with. */
struct public_arguments *public_arguments_steps(
	const json_t *context, const struct str *required, size_t required_count);
void public_arguments_free(struct public_arguments *p);

/* The default as a value of its type: a new reference. NULL: there is none. */
json_t *public_argument_default(const struct public_argument *arg);
/* {"type":"object","properties":…,"required":…,"additionalProperties":false}: a new reference.
 * Each property that is not required has its default. */
json_t *public_arguments_schema(const struct public_arguments *p, bool run_id);
/* Who gives values. A person may also set what a recipe uses without declaring it; a program that
 * acts for a model may not. */
enum caller { CALLER_PERSON, CALLER_MODEL };

/* Whether the caller's values name only arguments that the caller may give; issues with the nearest
 * name otherwise. `recipe` is what the caller calls the recipe. */
bool public_arguments_check(const struct public_arguments *p, struct str recipe,
	const json_t *values, enum caller caller, struct report *r);
