#pragma once

#include "base/buf.h"

/* story.jsonl of a run directory: in which order what its commands printed has come. The bytes are
 * in the files of outputs.h; a line says up to where one of them had grown. So it stays small
 * whatever is printed, and what a command printed is on disk once.
 *
 *   {"p":"1.0","a":1,"s":"out","n":4096,"l":"lint","i":"f/2.sh"}   label and item: on the first
 * line
 *   {"p":"1.0","a":1,"s":"end"}                                    of one that has printed
 * something
 */
#define STORY_FILE "story.jsonl"

enum story_kind { STORY_OUT, STORY_ERR, STORY_END };

struct story_line {
	enum story_kind kind;
	struct str path;
	uint64_t number;        /* of the execution: `a` of leaves.jsonl */
	uint64_t bytes;         /* of that stream, so far */
	struct str label, item; /* empty: none, or not the first line */
};

/* Adds one line with its end. */
void story_write(struct buf *b, const struct story_line *line);
/* Texts are borrowed from `arena`. False: it is not such a line. */
struct arena;
bool story_read(struct str text, struct arena *arena, struct story_line *ret);
