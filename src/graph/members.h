#pragma once

#include "graph/fields.h"
#include "graph/graph.h"

/* What a graph is read with: shared by read.c, which makes nodes, and members.c, which collects
 * what a node is made from. */
struct reader {
	struct graph *g;
	struct report *r;
	struct arena *a;
	enum dialect d;
	const struct importer *importer; /* of the file that is being read; NULL: a template */
	size_t imported;                 /* nodes that came from imports */
};

/* One value of several that hold together, such as the defaults of a recipe and those of the node
 * that imports it. */
struct layer {
	const json_t *value;
	const struct place *place; /* NULL: it stands in several places */
	const struct layer *under; /* what this one wins over; NULL: nothing */
	/* The defaults of the recipe around, which a default of one bare name means; NULL: none but
	 * those of the nodes around. */
	const struct layer *around;
};

/* The members of an object node that are there and not null, by field. Those of an import come from
 * several files. */
struct members {
	const json_t *at[FIELD_COUNT];
	const struct place *place[FIELD_COUNT];
	const struct importer *importer[FIELD_COUNT];
	const struct layer
		*defaults;        /* every `defaults` and what counts as such, the nearest first */
	const struct layer *args; /* every `args`, likewise */
	struct str import;        /* the recipe that they were imported from; empty: none */
	/* Of an imported step recipe: `steps` of it, and how it is asked; NULL: of a template. */
	struct graph *(*steps)(const struct importer *i, const json_t *given, struct report *r);
	const struct importer *callee;
	const json_t *given;          /* the names that the import and the node give it */
	const struct place *misspelt; /* a member that was probably meant as `template` */
	bool complained;              /* about what there is to run */
};

/* Reads the members of one object. A member with a mistake in it is left out, and false is
 * returned.
 */
bool members_read(
	struct reader *rd, const json_t *object, const struct place *place, struct members *ret);
/* The members of a whole recipe: its own, laid under those of its `template` when that is an object
 * or an import node. Without a template when there is none that can be used. */
void members_of_recipe(struct reader *rd, const struct imported *im, struct members *ret);

/* Whether the object is an import node, `{"name": ALIAS}`. */
bool members_are_imported(const struct reader *rd, const json_t *object);
/* The members of an import node: those of the recipe that it names, with its own laid over them.
 * False, with issues added, when there is no such recipe or nothing to run in it. */
bool members_of_import(
	struct reader *rd, const json_t *object, const struct place *place, struct members *ret);
