#pragma once

#include "base/buf.h"
#include "graph/event.h"

/* The live tree of a run on a terminal: a few rows at the bottom that are drawn again and again,
 * and taken off at the end. Nothing is drawn in the first moments of a run, so a quick command
 * leaves no flicker. The descriptor is borrowed. */
struct live_view;

/* `colour`: whether escape sequences for colours may be used. */
struct live_view *live_view_new(int fd, bool colour);
void live_view_free(struct live_view *v);

/* An event_fn. Learns from the event and writes nothing. */
void live_view_event(void *view, const struct event *e);

/* Draws if there is anything new, no more than twenty times a second; call it every 100 ms or so
 * while a run works, since elapsed times move by themselves. `mono_ms` is the clock of the events.
 * A terminal that takes nothing (Ctrl-S) is left alone, so it cannot hold up the run. */
void live_view_tick(struct live_view *v, uint64_t mono_ms);

/* The terminal may have another size: the next tick draws all of it again. */
void live_view_resize(struct live_view *v);

/* Puts lines above the tree that stay. Escape sequences and control characters are taken out. */
void live_view_print(struct live_view *v, struct str text);

/* What a line that stays says of it: how long it took and how many commands ended. False: the tree
 * was never drawn. */
bool live_view_summary(const struct live_view *v, struct buf *b);

/* Takes the tree off the screen and leaves the cursor where it began. A tick shows it again unless
 * the run has ended. */
void live_view_hide(struct live_view *v);
