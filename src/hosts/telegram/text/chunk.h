#pragma once

#include "base/arena.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/markdown.h"

/* Texts as messages of at most MESSAGE_UNITS units each. A keyboard belongs to the last one, a
 * reply to the first. */

struct chunks {
	struct str *at; /* none is empty */
	size_t count;
};

/* Markdown as HTML: whole blocks as long as they fit; one that does not fit into a message is cut
 * between lines, words or clusters, its tags closed and opened again. Everything is in the arena.
 * No chunk when there is nothing to show. */
void chunk_markdown(struct arena *a, struct str markdown, const struct markdown_options *options,
	struct chunks *ret);

/* Text without markup: as it is when it fits, else cut between paragraphs, lines or clusters. */
void chunk_plain(struct arena *a, struct str text, struct chunks *ret);
