#pragma once

#include <stdbool.h>

/* What happens when a turn has ended. */

enum stop_reason { STOP_DONE, STOP_ABORTED, STOP_ERROR };

enum ending_kind {
	ENDING_NO_TURN, /* what ended was not a turn of the chat */
	ENDING_ABORTED,
	ENDING_ERROR,
	ENDING_TEXT,
	ENDING_FILES, /* there is no text, but there are attachments */
	ENDING_EMPTY,
};

struct ending_facts {
	bool has_turn;
	enum stop_reason stop;
	bool has_text, has_files;
	bool held; /* /abort keeps waiting turns for folding */
};

struct ending_plan {
	enum ending_kind kind;
	bool end_preview; /* it is not turned into the answer; after an abort or an error it stays,
			   * with a mark */
	bool dispatch_next;
	bool send_error;
	bool send_notice; /* a line that stands before the attachments */
};

struct ending_plan ending_plan(const struct ending_facts *f);
/* "text", "attachments-only", … */
const char *ending_kind_name(enum ending_kind kind);
