#pragma once

#include "render/page/report.h"

/* The pieces that the page is made of. */

void report_style(struct buf *b);

/* A word with its colour. */
void page_state(struct buf *b, enum shown_state state, const char *words);
/* Path and, where there is one, label. */
void page_node(struct buf *b, struct str path, struct str label);
/* A box that scrolls by itself, also by keyboard; ended by `</div>`. */
void page_scroll(struct buf *b, const char *label);
/* A text in a fixed font, its lines wrapped; `output` as a command printed it. */
void page_pre(struct buf *b, struct str text, bool output);
/* A section that begins with a heading and a count (0: none); ended by `</section>`. */
void page_section(struct buf *b, const char *id, const char *title, uint64_t count);
void report_graph(const struct run_report *facts, struct buf *b);
void report_timeline(const struct run_report *facts, struct buf *b);
void report_failures(const struct run_report *facts, struct buf *b);
void report_outputs(const struct run_report *facts, struct buf *b);
void report_lists(const struct run_report *facts, struct buf *b);
