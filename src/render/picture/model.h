#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "render/picture/looks.h"
#include "render/picture/picture.h"

struct graph;
struct node;

/* What all three formats show: boxes in groups, and arrows between them. */

/* A flag that changes the flow, as a few words, or what became of the node. x, y from the item's
 * corner, in the SVG. */
struct mark {
	struct str text;
	bool state;
	int x, y, w;
};

/* What the picture says about an item. */
struct item_text {
	struct str word;    /* of a group: "parallel", "sequence", …; of a step its type */
	struct str title;   /* label or command line, cut; of a group its label or nothing */
	struct str detail;  /* the command line beneath a label, cut; may be empty */
	struct str tip;     /* everything, in lines */
	struct str what;    /* the beginning of it: what the graph says, no state and no path */
	bool labelled;      /* the title is a label */
	bool cut;           /* the tip says more than the picture shows */
	struct mark *marks; /* the state is the last one */
	size_t mark_count;
};

/* What became of it in a run. */
struct item_state {
	bool known;
	enum shown_state state; /* of several the worst */
};

/* Where the SVG has it; set by picture_layout(). Arrows from above come in at x + port. */
struct item_box {
	int x, y, w, h, port;
	size_t per_column; /* of ITEM_PARALLEL: 0 for branches side by side, else in columns */
	int lane_left, lane_right; /* of a child in a column: where the bars beside it are */
	int lane;    /* of ITEM_CONDITION: where the arrow goes down that passes its step by */
	int diamond; /* how high a diamond is; its marks are beneath it */
};

struct item {
	enum item_kind kind;
	enum item_look look;
	unsigned id;             /* unique in the picture, from 1 */
	unsigned depth;          /* how many groups it is in */
	const struct node *node; /* NULL: not a node of the graph */
	struct str path;         /* of the node, `*` for the index of a copy; empty: none */
	bool bare;               /* a group without a frame of its own */
	bool again;              /* has an arrow to itself, on its left */
	bool never;              /* its `when` is false */
	bool recovery;           /* runs between attempts */
	bool copies;             /* stands for copies that run at once */
	struct item **children;  /* of a group: at least one */
	size_t child_count;
	struct item *fork, *join; /* of ITEM_PARALLEL */
	struct item *recover;     /* NULL: none */

	struct item_text text;
	struct item_state state;
	struct item_box box;
};

enum arrow_kind {
	ARROW_NEXT,
	ARROW_BRANCH,  /* from the fork or to the join */
	ARROW_AGAIN,   /* from a repeated body to itself */
	ARROW_ROUND,   /* the same of a while loop */
	ARROW_RECOVER, /* there and back between attempts */
	ARROW_SKIP,    /* from a condition past its step; may lead out of groups */
};

/* Both ends have the same parent; groups are ends like any other item, unless they are bare. */
struct arrow {
	enum arrow_kind kind;
	const struct item *from, *to;
};

struct picture {
	struct arena arena;
	struct str title, description;
	struct item *start, *root, *end;
	VEC(struct arrow) arrows;
	unsigned items, commands, groups;
	bool run;        /* items have states */
	bool steps;      /* it is a step recipe */
	unsigned legend; /* what occurs, a bit for each enum legend */
	const struct graph *graph;
	int width, height; /* of the SVG, once it is written */
};

enum {
	PICTURE_ITEMS_MAX = 2000,
	PICTURE_DEPTH_MAX = 40,
	PICTURE_CHILDREN_MAX = 60,  /* of one group; with more */
	PICTURE_CHILDREN_SHOWN = 50 /* … only these are drawn */
};

/* Draws about `items_max` items at most. The graph's texts are copied. */
void picture_build(struct picture *p, const struct graph *g, const struct picture_options *options,
	unsigned items_max);
void picture_done(struct picture *p);

/* The first and last item inside a group that is not a group itself; of others, the item. */
const struct item *item_entry(const struct item *i);
const struct item *item_exit(const struct item *i);
bool item_is_group(const struct item *i);
/* What an arrow touches: `i`, or inside a bare group its first or last child. */
const struct item *item_first(const struct item *i);
const struct item *item_last(const struct item *i);

/* The lines that stand for an item without any drawing: word and title, detail, marks. Lines are
 * separated by '\n'. */
void item_lines(const struct item *i, struct buf *b);

/* The writers. */
void svg_write(struct picture *p, struct buf *ret);
void dot_write(const struct picture *p, struct buf *ret);
void mermaid_write(const struct picture *p, struct buf *ret);
