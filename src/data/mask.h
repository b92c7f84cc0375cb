#pragma once

#include "base/arena.h"
#include "data/json.h"

/* Texts that must not be shown: the values of secrets. However many there are, a text is masked in
 * time that grows with its own length only. */
struct mask;

/* One without any text. The caller ends it with mask_free(). */
struct mask *mask_open(void);
/* A further reference, which needs a mask_free() of its own. */
struct mask *mask_ref(struct mask *m);
/* `m` may be NULL. */
void mask_free(struct mask *m);

/* A shorter text would hide half of everything. */
enum { MASK_SHORTEST = 4, MASK_SHORTEST_LINE = 8 };
/* From now on every text in `value` is masked, unless it is too short: the strings and numbers of
 * an array or an object too, and the whole of that as JSON, names included. Each line of a text
 * with several is one by itself, and numbers and wholes are masked as JSON and as step recipes
 * write them. A text that is an object or an array counts as one, too.
 */
void mask_add(struct mask *m, const json_t *value);
void mask_add_text(struct mask *m, struct str text);
/* The members of `values` that are named in the array. Either may be NULL. */
void mask_add_named(struct mask *m, const json_t *values, const json_t *names);

/* Of the members of `values` that are named in the two arrays. NULL when there is no text. */
struct mask *mask_new(const json_t *values, const json_t *names, const json_t *more);
/* The same mask; NULL, and it is ended, when it has no text. */
struct mask *mask_or_null(struct mask *m);

/* `text` with every secret in it replaced: itself when there is none, else in the arena, with a NUL
 * behind it. `m` may be NULL. */
struct str mask_text(struct mask *m, struct str text, struct arena *a);
/* The same for a part of a longer text: what at a cut edge can be a piece of a secret, of as many
 * bytes as a text needs to be masked at all, is replaced too. */
enum mask_cut { MASK_CUT_FRONT = 1, MASK_CUT_BACK = 2 };
struct str mask_part(struct mask *m, struct str text, unsigned cut, struct arena *a);
/* The next piece of a text that comes in pieces; `kept` belongs to that text and is empty at first.
 * What may be the beginning of a secret stays there until more comes or the piece is the last. The
 * result is in the arena. */
struct str mask_piece(
	struct mask *m, struct buf *kept, struct str piece, bool last, struct arena *a);
/* The same in place, each byte of a secret a star, so that offsets stay true. */
void mask_bytes(struct mask *m, struct buf *text);
/* How many texts it hides, each way in which one may be written counted. */
size_t mask_count(const struct mask *m);
/* Those of them that were given as they are, behind the first `from`, as an array: a new reference.
 */
json_t *mask_texts(const struct mask *m, size_t from);
/* The length of the longest secret; 0 when `m` is NULL. */
size_t mask_longest(const struct mask *m);
/* `value` with every string in it masked: a new reference. `m` may be NULL. */
json_t *mask_json(struct mask *m, const json_t *value);
/* The same of a value that a caller or a command made: the names of members are masked as well,
 * which in what roux makes are the same for everyone. */
json_t *mask_value(struct mask *m, const json_t *value);
/* The same of an object, or an array of such, whose own members have names that roux knows, and
 * values that others made: messages, recipes. */
json_t *mask_members(struct mask *m, const json_t *value);

/* The issues with their texts masked. `m` may be NULL. */
void mask_report(struct mask *m, struct report *r);

/* What stands in place of a secret. */
#define MASKED "***"
