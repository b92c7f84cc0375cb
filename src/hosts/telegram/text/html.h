#pragma once

#include "base/arena.h"
#include "base/buf.h"

/* The HTML that Telegram understands, as we write it: b i s code pre a blockquote, and
 * <pre><code class="language-x">. */

enum { MESSAGE_UNITS = 4096 }; /* of one message, counted on its source */

/* For text: & < >. */
void html_escape(struct buf *b, struct str text);
/* For the value of an attribute: also " and '. */
void html_escape_attribute(struct buf *b, struct str text);
/* An escaped copy in the arena. */
struct str html_escaped(struct arena *a, struct str text);

/* What a reader sees: without tags, entities as the characters that they mean. Also what is sent in
 * place of HTML that the service has refused. */
void html_visible(struct buf *b, struct str html);

/* Whether the service can be expected to take it: the tags above and no others, with the attributes
 * above and no others, properly nested, none inside `code` and `pre` but one `code` directly in
 * `pre`, no `blockquote` in another, every < > & of the text escaped. */
bool html_valid(struct str html);

/* One piece after the other, each of at most `units` units. */
typedef void html_piece_fn(void *data, struct str piece);

/*
 * Cuts HTML into pieces that are HTML each: tags that are open at a cut are closed before it and
 * opened again behind it, with their attributes. A cut is made at the last line end that fits,
 * where the line end is dropped; else behind the last space; else between two clusters. It is never
 * made inside a tag, an entity or a cluster. The pieces are borrowed for the call.
 *
 * For HTML that html_valid() takes and whose tags together are shorter than half a piece. Other
 * bytes do no harm, but their pieces may not be HTML, or too long.
 */
void html_split(struct str html, size_t units, html_piece_fn *piece, void *data);
