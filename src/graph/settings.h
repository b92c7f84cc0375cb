#pragma once

#include "graph/node.h"

/* Numbers of a node that may be written as text: read when the node is, resolved when it starts. */

enum setting_kind {
	SETTING_MS,       /* delay, timeout: a plain decimal, or with a unit; empty text: unset */
	SETTING_ATTEMPTS, /* retry: a whole number from 1; empty text: 1 */
};

/* `value` is a number or a text. False with an issue added. */
bool setting_read(struct arena *a, const struct place *place, const char *field,
	const json_t *value, enum setting_kind kind, enum dialect d, struct setting *ret,
	struct report *r);
bool setting_resolve(const struct setting *setting, const char *field, enum setting_kind kind,
	const struct scope *s, uint64_t *ret, struct report *r);

/* `repeat`: a number of copies, or the length of an array. */
bool count_read(struct arena *a, const struct place *place, const json_t *value, struct count *ret,
	struct report *r);
bool count_resolve(
	const struct count *count, const struct scope *s, uint64_t *ret, struct report *r);
