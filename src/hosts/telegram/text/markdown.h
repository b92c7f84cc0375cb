#pragma once

#include "base/arena.h"
#include "base/buf.h"

/*
 * Markdown as Telegram's HTML, line by line: what an agent writes, in the form in which it wrote
 * it. Numbers of items, blank lines between blocks and line ends are kept; see text/inline.h for
 * what is inside a line and text/table.h for tables.
 *
 * Takes any bytes; what is not UTF-8 becomes U+FFFD. The result always satisfies html_valid(). Time
 * and memory are linear in the text.
 */

struct markdown_options {
	bool narrow_tables; /* those wider than TABLE_CELLS become lists */
};

enum block_kind {
	BLOCK_TEXT, /* a paragraph */
	BLOCK_LIST,
	BLOCK_HEADING,
	BLOCK_RULE,
	BLOCK_CODE,
	BLOCK_TABLE,
	BLOCK_QUOTE,
};

struct block {
	enum block_kind kind;
	struct str html;
	size_t before;     /* line ends between the block before and this one; 0 for the first */
	size_t begin, end; /* its lines in blocks.source, the last line end excluded */
	bool closed;       /* of code: its fence is closed, or it has none */
};

struct blocks {
	struct str source; /* the Markdown, cleaned, with \n for every line end */
	struct block *at;
	size_t count;
};

/* Everything is in the arena. */
void markdown_blocks(struct arena *a, struct str markdown, const struct markdown_options *options,
	struct blocks *ret);

/* The plain form that is shown while the first block is still growing: no tags, marks of items as
 * `-`, links by their labels, fences left out. */
void markdown_plain(struct buf *b, struct str markdown);
