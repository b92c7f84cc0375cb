#pragma once

#include "graph/node.h"
#include "render/picture/model.h"

/* What the makers of the items of a picture share: template.c and steps.c. */

enum {
	COLUMNS_TEXT = 42,
	COLUMNS_MARK = 34,
	MARKS_MAX = 14,
};

struct builder {
	struct picture *picture;
	const struct picture_options *options; /* NULL: none */
	struct arena *arena;
	unsigned budget; /* items that may still be made */
	/* Conditions whose arrow past their step has no end yet. */
	VEC(const struct item *) open;
};

struct item *build_item(struct builder *b, enum item_kind kind, unsigned depth);
/* The box that stands for what is left out. */
struct item *build_more(struct builder *b, struct str text, struct str tip, unsigned depth);
struct item *build_more_children(struct builder *b, size_t count, unsigned depth);
void build_arrow(
	struct builder *b, enum arrow_kind kind, const struct item *from, const struct item *to);
/* How many of a group's children are drawn; the rest becomes one box. */
size_t build_reserve(struct builder *b, size_t count);

/* A text of the graph without what the picture may not show. */
struct str build_shown(struct builder *b, struct str s);
/* What fits of a text; the whole of it goes to the tip. */
struct str build_text(
	struct builder *b, struct item *i, struct buf *tip, struct str s, unsigned columns);
/* A mark with that text, which is emptied. */
void build_mark(struct builder *b, struct item *i, struct buf *tip, struct buf *text);
void build_duration(struct buf *b, uint64_t ms);
/* What is known of the node at `path`. False: nothing. */
bool build_find_state(struct builder *b, struct str path, struct picture_state *ret);
/* As the last mark. */
void build_add_state(struct builder *b, struct item *i, const struct picture_state *s);
/* What became of the node at `path`, as the last mark and in the tip. False: nothing is known. */
bool build_state(struct builder *b, struct item *i, struct str path, struct buf *tip);
/* Adds where the node is, and keeps the tip. `what` is how much of it the graph itself says. */
void build_tip(struct builder *b, struct item *i, struct buf *tip, size_t what);

/* The root of a template. */
struct item *build_template(struct builder *b, const struct node *root);
/* The root of a step recipe. */
struct item *build_steps(struct builder *b, const struct node *root);
