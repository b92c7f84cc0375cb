#pragma once

#include "base/arena.h"
#include "data/json.h"

/* One kind of case, named as the file that holds such cases. `answer` gives what the code under
 * test makes of an input, in the form of `expect`; the runner compares. It borrows its arguments,
 * what it allocates is in the arena or in the result. */
struct kind {
	const char *name;
	json_t *(*answer)(struct arena *a, const json_t *input);
	/* Instead of comparing: what is wrong, or an empty string. NULL: compare. */
	struct str (*judge)(struct arena *a, const json_t *input, const json_t *expect);
};

struct kinds {
	const struct kind *list;
	size_t count;
};

extern const struct kinds kinds_of_updates, kinds_of_queue, kinds_of_turns, kinds_of_texts,
	kinds_of_files;

/* A text of a case: a string, or {"parts": [[text, times]…]} joined. */
struct str case_text(struct arena *a, const json_t *value);
/* A member that is a text; empty when it is not there. */
struct str case_member(struct arena *a, const json_t *object, const char *name);
int64_t case_number(const json_t *object, const char *name);
/* A JSON string, or null for an empty text. */
json_t *case_str_or_null(struct str s);
