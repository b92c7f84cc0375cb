#pragma once

#include "base/buf.h"

/* Names in braces that stand for values. One table says which name is known where; compiling,
 * resolving, `doctor` and the hints all read it. */
enum prompt_placeholder {
	PH_DATE,
	PH_BIN,
	PH_MODEL,
	PH_PROMPT,
	PH_ROLE,
	PH_ROLE_FILE,
	PH_PROMPT_FILE,
	PH_AGENT,
	PH_MODE,
	PH_PROVIDER,
	PH_STEP,
	PH_FILE,
	PH_FILE_CONTENTS,
	PH_COMMAND,
	PH_COMMAND_OUTPUT,
	PH_INSTRUCTIONS,
	PH_COUNT,
};

/* Where a text stands, as bits. */
enum text_kind {
	IN_AGENT = 1, /* an agent's command; ${name} is not ours there */
	IN_STEP = 2,  /* the same, launched by a step of a recipe */
	IN_ROLE = 4,
	IN_CONTEXT = 8,
	IN_TASK = 16,
};

/* The name without braces. */
struct str placeholder_name(enum prompt_placeholder p);
/* Where it is known: a mask of enum text_kind. */
unsigned placeholder_places(enum prompt_placeholder p);
/* False when nothing has that name. */
bool placeholder_find(struct str name, enum prompt_placeholder *ret);

/* A pair of braces with a name between them: {name}, lower case, no spaces. */
struct braces {
	size_t offset, length; /* in the text, braces included */
	struct str name;
};

/* The next one at or after `from`, whatever its name. Of {{x}} only the inner pair counts. */
bool braces_next(struct str text, size_t from, struct braces *ret);

/* Whether the placeholder that begins at `at` is known in `kinds`. */
bool placeholder_at(
	struct str text, size_t at, unsigned kinds, enum prompt_placeholder *ret, size_t *length);

/* A mask of 1 << placeholder: which ones that are known in `kinds` stand in the text. */
uint32_t placeholders_in(struct str text, unsigned kinds);

struct placeholder_values {
	struct str at[PH_COUNT];
};

/* Adds `text` with the placeholders of `mask` replaced: one pass, left to right; what was inserted
 * is not looked at again. */
void placeholders_replace(
	struct buf *b, struct str text, uint32_t mask, const struct placeholder_values *v);
