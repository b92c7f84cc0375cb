#pragma once

#include "base/buf.h"
#include "data/json.h"

/* The output of an agent whose stream is `jsonl`: one object a line.
 *
 *   {"type":"text","text":…}     more of the answer
 *   {"type":"tool","name":…}     what it does now; the next object of another type ends that
 *   {"type":"usage",…}           the newest counts
 *   {"type":"result","text":…}   the whole answer
 *
 * Other objects, and lines that are not JSON, are passed over. */
struct jsonl_stream {
	struct buf line;   /* not yet ended */
	struct buf text;   /* what the text objects have said */
	struct buf result; /* what a result has said */
	struct buf tool;   /* that runs; empty: none */
	bool has_result;
	bool skipping; /* a line that is too long */
	json_t *usage; /* owned; NULL: none came */
};

enum { JSONL_LINE_BYTES = 8 << 20 };

void jsonl_feed(struct jsonl_stream *s, struct str bytes);
/* The answer as far as it is known: of the result, else of the text. The last line counts also when
 * it has no end. Borrowed. */
struct str jsonl_final(struct jsonl_stream *s);
/* What can be shown while it runs. Borrowed. */
struct str jsonl_text(const struct jsonl_stream *s);
void jsonl_done(struct jsonl_stream *s);
