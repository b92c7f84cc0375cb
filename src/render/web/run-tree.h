#pragma once

#include "base/buf.h"
#include "base/node-view.h"

/* The nodes of a run as nested lists: <ol> for one after the other, <ul> for at once. It wraps on a
 * narrow page, is read out in order, is found by the browser's search and copied as text. `data-p`
 * (the path) and `data-s` (the state) are all that a script needs to keep an item up to date. */

/* One item, in the order of a walk; its children follow it with a greater depth. */
struct tree_item {
	struct node_view view;
	unsigned depth; /* the first item has 0 */
	bool open;      /* a group whose children follow, all or some */
	size_t hidden;  /* children that do not follow */
	uint64_t from;  /* of an opened large group: the index of its first child that follows */
};

/* Links of a page: its own path and what else stands behind `?`. Escaped by the functions below. */
struct tree_links {
	struct str run;   /* the id */
	struct str query; /* of this page without `open`, already %-coded, ends with & when there is
			     any: "view=tree&" */
	struct str open;  /* the value of `open` now: paths with commas */
	bool print;       /* without links that change the page */
};

/* How many children of a large group a page shows. */
enum { TREE_PAGE = 200, TREE_SMALL = 12, TREE_NEWS = 20, TREE_ITEMS = 500 };

void tree_html(
	struct buf *b, const struct tree_item *items, size_t count, const struct tree_links *links);
/* The same as rows of a table. */
void tree_table(
	struct buf *b, const struct tree_item *items, size_t count, const struct tree_links *links);

/* "9,871 done · 64 running · 3 failed": what `counts` of a group say. */
void tree_counts(struct buf *b, const uint64_t *counts);
/* "/runs/ID/nodes/1.0": the page of a node. */
void tree_node_url(struct buf *b, struct str run, struct str path);
/* <span class="st" data-s="failed">failed</span>: sign, word and colour by the style sheet. */
void state_html(struct buf *b, enum shown_state s);
