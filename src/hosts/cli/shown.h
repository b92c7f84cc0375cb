#pragma once

#include "app/runs.h"
#include "hosts/cli/ending.h"

/* What a run came to, for people, and as an exit status. */

struct stream_lines;

/* Failures, warnings and the last word: what `roux run` and `roux wait` print on standard error.
 * `stream` has shown what commands printed while they ran; NULL: nothing was. */
void shown_result(struct run_handle *h, const struct ending_options *o,
	const struct stream_lines *stream, struct buf *b);
/* One line about a run that a resume has found complete. */
void shown_complete(struct run_handle *h, struct buf *b);
/* `strict` counts tolerated failures, `tolerate` forgives the others. */
int shown_exit(struct run_handle *h, const struct ending_options *o);
/* How the status of a run is coloured on a terminal, as a parameter of SGR; NULL: not at all. */
const char *shown_colour(struct str status, uint64_t failed);
/* Whether what is written to `fd` may have colours. */
bool shown_colours(int fd);
/* The status document as `roux status` prints it. */
void shown_status(const json_t *document, bool colours, struct buf *b);
