#pragma once

#include "template/text.h"

/* What the placeholders of a text stand for: the part of the `{name}` dialect that looks values up.
 */

enum {
	HOPS_MAX = 5,      /* defaults that lead to defaults */
	STEPS_MAX = 20000, /* placeholders resolved for one text: defaults can multiply */
};

/* What a name stands for. */
struct value {
	enum { VALUE_ABSENT, VALUE_JSON, VALUE_TEXT } kind;
	const json_t *json; /* borrowed */
	struct buf text;
};

#define AUTO_VALUE __attribute__((cleanup(value_done))) struct value
void value_done(struct value *v);
void value_write(const struct value *v, struct buf *ret);
bool value_true(const struct value *v);

/* One resolution: what went wrong is kept here until it is known whether it matters. */
struct resolver {
	const struct scope *scope;
	unsigned hops;
	size_t steps;
	struct buf message, hint;
	struct str lacks; /* the value that is missing; empty: it is not that */
	bool fatal; /* not a missing value but a chain without end: never taken as literal text */
};

#define AUTO_RESOLVER __attribute__((cleanup(resolver_done))) struct resolver
void resolver_done(struct resolver *rs);
/* Turns what went wrong into an issue. */
void resolver_complain(const struct resolver *rs, struct where w, struct report *r);

/* Everything but inline defaults. False only on errors; nothing given is VALUE_ABSENT. */
bool resolver_look_up(struct resolver *rs, struct str name, struct value *ret);
/* *bad, unless NULL, is the part that could not be resolved. */
bool resolver_parts(
	struct resolver *rs, const struct part *parts, size_t count, struct buf *ret, size_t *bad);
bool resolver_expr(struct resolver *rs, struct str expr, size_t underscores, struct buf *ret);

/* Say what is wrong with a name. Both return false. */
bool resolver_missing(struct resolver *rs, struct str name, const char *form);
bool resolver_no_array(struct resolver *rs, struct str name, const struct value *v);

/* What to write behind a name in order to give it a value of the kind that is wanted; NULL: any. */
extern const char array_form[];

/* A default is found late: what it says is resolved where it is used. The exception is one that is
 * exactly {name}: it is bound where it is declared if `name` is bound there already, so that
 * {"model": "{model}"} means the parent's model. */
struct default_hit {
	const struct preset *preset;
	bool generated; /* bound to the number of an enclosing copy */
	int64_t number;
	size_t underscores;
};

bool default_find(
	const struct scope *s, struct str name, const struct scope *use, struct default_hit *ret);

/* A name that is arithmetic when nothing of that name is given: {index-1}. */
bool name_is_arithmetic(struct str name);
static inline bool one_placeholder(const struct part *parts, size_t count)
{
	return count == 1 && parts[0].placeholder;
}

static inline bool bare_value(const struct placeholder *p)
{
	return p->kind == PLACEHOLDER_VALUE && p->type.kind == TYPE_NONE;
}
