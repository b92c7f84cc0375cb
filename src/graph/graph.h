#pragma once

#include "graph/node.h"

/* A declared argument: from `args` of any node, or typed inline. */
struct argument {
	struct declaration declaration;
	const struct place *place; /* of the entry of `args`, or */
	const struct text *text;   /* the text with the placeholder that types it; NULL: an entry */
	struct str content;        /* of that placeholder */
};

/* Which recipe a node was written in. */
struct origin {
	struct str id, path; /* of the file */
	struct str alias;    /* how its importer calls it; empty: the entry */
	const struct origin *up;
};

struct importer;
struct step_graph;

/* What an import node stands for. */
struct imported {
	const json_t *recipe; /* the object: flags and `template` */
	const struct place *place;
	const json_t *defaults;          /* of its root, as the import binds them; borrowed */
	const struct importer *importer; /* for the import nodes in it */
	/* It is a step recipe, which the node calls: makes its graph for that one node. `given` has
	 * the names that have values there. NULL with issues. NULL: it is a template recipe. */
	struct graph *(*steps)(const struct importer *i, const json_t *given, struct report *r);
};

/* Finds what `{"name": ALIAS}` means in one file. */
struct importer {
	const struct origin *origin;
	bool (*find)(const struct importer *i, struct str alias, const struct place *place,
		struct imported *ret, struct report *r);
};

/* A graph as read, with everything that was said about it. Immutable; shared by reference. */
struct graph {
	struct arena arena;
	unsigned references;
	struct doc doc; /* of a template; a recipe's files belong to `keep` */
	json_t *made;   /* values that were made while reading: kept alive here */
	json_t *values; /* of a recipe: runtime values that a caller's own win over; may be NULL */
	const json_t *args; /* of a recipe: the declarations that its callers see; NULL: none */
	bool args_imported; /* they are those of the recipe that it stands for */
	void *keep;         /* what the places of a recipe point into */
	void (*keep_free)(void *keep);
	enum dialect dialect;
	const struct node *root;
	const struct text *output; /* of the root; NULL: standard output */
	struct str output_raw;     /* as written; empty: none */
	VEC(struct argument) arguments;
	struct step_graph *steps; /* of a step recipe; NULL: a template or another recipe */
	bool calls;               /* it imports step recipes, so a run needs a host for steps */
	struct report extensions; /* notes: what is not in the portable standard */
	struct report warnings;   /* found while reading: kept, so that every host can show them */
};

/* Reads the graph of a recipe: `place` is its root object, which may be spread over several files.
 * `keep` outlives the graph and is ended with it, also when reading fails. NULL with issues added.
 */
struct graph *graph_read_recipe(
	const struct imported *recipe, void *keep, void (*keep_free)(void *keep), struct report *r);

struct graph *graph_ref(struct graph *g);
void graph_unref(struct graph *g);

/* Reads a template. `name` is what diagnostics call the text. Text that begins with {, [ or " and
 * is JSON is JSON, anything else a command line. NULL with issues in `r` when there is a mistake;
 * all mistakes of the text are found in one go, and the warnings are then in `r` as well. Both
 * texts are copied. */
struct graph *graph_read(struct str name, struct str text, enum dialect dialect, struct report *r);
