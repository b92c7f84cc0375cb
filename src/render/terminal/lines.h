#pragma once

#include "graph/event.h"

/* The events of a run as plain lines, for pipes and logs: one line for each that people want to
 * hear of, without colours. The descriptor is borrowed. */
struct plain_lines;

struct plain_lines *plain_lines_new(int fd);
/* Flushes first. */
void plain_lines_free(struct plain_lines *l);

/* An event_fn. Lines are kept until there are 4 KiB of them … */
void plain_lines_event(void *lines, const struct event *e);
/* … or until the end of a turn of the loop, where the host calls this. */
void plain_lines_flush(struct plain_lines *l);

/* Says what has been running for long, so that silence is not taken for death; call it every half
 * minute or so. `mono_ms` is the clock of the events. */
void plain_lines_beat(struct plain_lines *l, uint64_t mono_ms);
