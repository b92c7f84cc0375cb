#pragma once

#include "data/json.h"

/* What became of a run in one line, and what to type next: the same words wherever a run is shown.
 * The document is run_summary() or run_status_document() of app/runs.h. */

/* How its failures are judged: as the options of `run` and `wait` say. */
struct ending_options {
	bool strict, tolerate;
};

/* "done, 2 failed (5 attempts; exit status 3, --tolerate makes it 0)", "failed at 2 'deploy' (exit
 * 1)"; of a run under way, how far it is. `o` may be NULL. */
void ending_words(const json_t *document, const struct ending_options *o, struct buf *b);
/* The command that shows what went wrong, … */
void ending_see(const json_t *document, struct buf *b);
/* … and the one that does it again or continues it. Each leaves `b` empty when there is none. */
void ending_again(const json_t *document, struct buf *b);
