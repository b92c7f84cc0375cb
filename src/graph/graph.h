#pragma once

#include "graph/node.h"

/* A declared argument: from `args` of any node, or typed inline. */
struct argument {
	struct declaration declaration;
	const struct place *place;
	bool inlined; /* a placeholder's type, not an entry of `args` */
};

/* A graph as read, with everything that was said about it. Immutable; shared by reference. */
struct graph {
	struct arena arena;
	unsigned references;
	struct doc doc;
	json_t *shorthand; /* keeps the defaults written in `args` alive */
	enum dialect dialect;
	const struct node *root;
	const struct text *output; /* of the root; NULL: standard output */
	struct str output_raw;     /* as written; empty: none */
	VEC(struct argument) arguments;
	struct report warnings; /* found while reading: kept, so that every host can show them */
};

struct graph *graph_ref(struct graph *g);
void graph_unref(struct graph *g);

/* Reads a template. `name` is what diagnostics call the text. Text that begins with {, [ or " and
 * is JSON is JSON, anything else a command line. NULL with issues in `r` when there is a mistake;
 * all mistakes of the text are found in one go. Both texts are copied. */
struct graph *graph_read(struct str name, struct str text, enum dialect dialect, struct report *r);
