#pragma once

#include "base/buf.h"

/*
 * Markup inside a paragraph: links and images, code, styles, backslashes.
 *
 *   [label](https://x "title")   ![alt](https://x)   <https://x>     a link with a plain label
 *   `code`  ``a ` b``                                                code
 *   ***x*** ___x___  **x** __x__  *x* _x_  ~~x~~                     bold italic, bold, italic,
 * struck
 *   \*                                                               the character itself
 *
 * Only http, https and mailto become links; of others the label is left. A style opens where no
 * letter, digit or backslash is before it and no space behind it, and closes the other way round.
 * It may cross a line end. What overlaps stays literal, so that tags are always properly nested.
 * Time and memory are linear in the text, whatever it is. Texts are valid UTF-8.
 */

/* As HTML. `prefix` is put behind every line end. */
void inline_html(struct buf *b, struct str text, struct str prefix);
/* As a reader sees it, not escaped. */
void inline_plain(struct buf *b, struct str text);
