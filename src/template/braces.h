#pragma once

#include "template/text.h"

/* The `{name}` dialect of texts: command templates. */

/* A control field such as `retry` or `output`. NULL with issues added when a brace group in it is
 * not a placeholder. */
const struct text *braces_text(struct arena *a, const struct place *place, struct str raw,
	enum dialect d, struct report *r);

/* Word `number` of a command line: `word` is its text after splitting, `line` where it came from.
 */
const struct text *braces_word(struct arena *a, const struct place *place, struct str line,
	size_t number, struct str word, enum dialect d, struct report *r);

/* The text of `when`: a flag's name, its negation, or one placeholder. */
const struct text *braces_guard(struct arena *a, const struct place *place, struct str raw,
	enum dialect d, struct report *r);

/* Where `len` bytes at `offset` of the text stand in the source. */
struct where braces_where(const struct text *t, size_t offset, size_t len);

/* Whether resolving the text can depend on which copy of a repeat it is in, also through the
 * defaults of `s`. */
bool braces_mentions_copy(const struct text *t, const struct scope *s);

/* {name[*]} when the word is nothing else; NULL otherwise. */
const struct placeholder *braces_spread(const struct text *t);

/* An array value by name, for `repeat` and {name[*]}: borrowed. NULL when nothing is given or it is
 * not an array. */
const json_t *braces_array(const struct scope *s, struct str name);
/* Says why there is none, at `w`: to find a place takes as long as reading the text. False. */
bool braces_no_array(const struct scope *s, struct str name, struct where w, struct report *r);
/* The text of a value by name, for `output`. False when nothing is given or it cannot be resolved;
 * an issue is added at `w`. */
bool braces_named(
	const struct scope *s, struct str name, struct where w, struct buf *ret, struct report *r);
