#pragma once

#include "base/buf.h"

/* Texts of people, files and commands on their way into a page: one function for each place that a
 * text can stand in. Nothing in them can end the element, the quoted attribute or the URL, nothing
 * is invisible (control characters and those that turn the direction of writing are shown as
 * marks), and what is not UTF-8 is U+FFFD. */

/* Between tags; line ends and tabs are kept. */
void html_text(struct buf *b, struct str s);
/* In an attribute between double quotes: on one line. */
void html_attr(struct buf *b, struct str s);
/* One segment of a path or one value of a query, %-coded. */
void html_url(struct buf *b, struct str s);

/* A character as it may be shown: itself, or the mark that stands for it. */
void shown_char(struct buf *b, uint32_t c);
/* The same of a whole text, unescaped: for JSON. */
void shown_text(struct buf *b, struct str s);

/* The first `max` characters of a text, with an ellipsis behind what was cut. */
void html_cut(struct buf *b, struct str s, size_t max);

/* <time datetime="…">2026-11-16 08:30:05</time>, UTC; the script shows the viewer's zone. */
void html_time(struct buf *b, uint64_t real_ms);
