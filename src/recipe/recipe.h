#pragma once

#include "recipe/arguments.h"
#include "recipe/discover.h"

struct plan;
struct step_recipe;

/* A recipe, loaded: its graph and everything else its file says. */
struct recipe {
	struct graph *graph;      /* keeps the files */
	struct recipe_set *set;   /* all its files; belongs to the graph */
	struct recipe_file *file; /* the entry */
	enum recipe_layer layer;
	bool by_path; /* asked for by its path, not by its id */
	struct public_arguments *arguments;
	const struct step_recipe *steps; /* of a step recipe; belongs to the graph */
};

/* Loads what a RECIPE operand means. NULL with every mistake in `r`. A disabled recipe can be
 * looked at but not launched: `launch` refuses it. `given` has the values that a step recipe may
 * count on; NULL: none; json_null(): they are not known yet, and it is not checked for them. */
struct recipe *recipe_open(const struct recipe_dirs *dirs, struct str operand, bool launch,
	const json_t *given, struct report *r);
/* Loads one file of a known layer, whatever its state. */
struct recipe *recipe_open_file(
	const struct recipe_dirs *dirs, struct str path, enum recipe_layer layer, struct report *r);
/* Loads `text` as if it were the file `path`; diagnostics call it `name`. */
struct recipe *recipe_open_text(const struct recipe_dirs *dirs, struct str path, struct str name,
	struct str text, const json_t *given, struct report *r);
/* Loads a recipe from its files as they were: `sources` is an array of {"path","text"}, the entry
 * first. The disk is not looked at. */
struct recipe *recipe_open_frozen(const struct recipe_dirs *dirs, const json_t *sources,
	enum recipe_layer layer, const json_t *given, struct report *r);
void recipe_free(struct recipe *recipe);

/* How the user calls it: its path as it was given, or its id. */
struct str recipe_called(const struct recipe *recipe);
/* Members of the entry's object. */
struct str recipe_description(const struct recipe *recipe);
bool recipe_async(const struct recipe *recipe);
bool recipe_disabled(const struct recipe *recipe);
/* {"accepts":[…],"emits":[…]} with the elements that count: a new reference, NULL when there is
 * none. */
json_t *recipe_mailbox(const struct recipe *recipe);
/* The names that it and the recipes it imports declare as secret: a new reference, an array. */
json_t *recipe_secrets(const struct recipe *recipe);
/* Those that one object, of a recipe or a template, lists. */
void recipe_add_secrets(json_t *names, const json_t *object);
/* {name: {"path":…, …}} as declared, in order: a new reference. */
json_t *recipe_artifacts(const struct recipe *recipe);
/* Their paths with the values of a plan put in: {name: path}, a new reference. NULL with issues. */
json_t *recipe_artifact_paths(const struct recipe *recipe, const struct plan *p, struct report *r);
