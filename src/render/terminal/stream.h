#pragma once

#include "graph/event.h"

#include "base/node-path.h"

/* What streaming steps print, as whole lines with the step's id in front: "[build] compiling". */
struct stream_lines;

/* `all`: every step as if it said `stream`. */
struct stream_lines *stream_lines_new(bool all);
void stream_lines_free(struct stream_lines *s);

/* Adds the lines that the event completes to `ret`, fit for a terminal, each with its line end. */
void stream_lines_event(struct stream_lines *s, const struct event *e, struct buf *ret);

/* "work", or "work #12" in the twelfth round of a loop. */
void step_name(struct buf *b, const struct event *e);
