#pragma once

#include "graph/event.h"

#include "base/node-path.h"

/* What commands print while a run is under way, as whole lines with the command's name in front:
 * standard error of every command, standard output of streaming steps, or of all commands. At most
 * STREAM_LINES a second of one command are shown; how many were left out is said then. */
struct stream_lines;
enum { STREAM_LINES = 40 };

/* `all`: standard output of every command too, except that of the one whose output is the run's. */
struct stream_lines *stream_lines_new(bool all);
void stream_lines_free(struct stream_lines *s);

/* Adds the lines that the event completes to `ret`, fit for a terminal, each with its line end. */
void stream_lines_event(struct stream_lines *s, const struct event *e, struct buf *ret);

/* What has been shown of a command that failed. */
struct stream_shown {
	uint64_t lines, total; /* of standard error; all lines that it wrote */
	uint64_t out_lines;    /* of standard output */
};
/* Of one of its attempts; zeroed when nothing was. */
struct stream_shown stream_lines_shown(
	const struct stream_lines *s, struct str path, uint64_t attempt);

/* "[1.0 gpt] ", as plain lines name a node. */
void node_name(struct buf *b, const struct event *e);
/* COMMAND_LEFT in words, without the end of the line. */
void left_line(struct buf *b, const struct event *e);
/* "work", or "work #12" in the twelfth round of a loop. */
void step_name(struct buf *b, const struct event *e);
