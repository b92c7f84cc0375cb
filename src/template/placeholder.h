#pragma once

#include "base/arena.h"
#include "template/type.h"

/* What stands between the braces of a placeholder (docs/reference.md, "Placeholders"). */
enum placeholder_kind {
	PLACEHOLDER_VALUE,     /* {name}, {name:type}; also {index-1} while no such name is given */
	PLACEHOLDER_DEFAULT,   /* {name=text}, {name:type=text} */
	PLACEHOLDER_ITEM,      /* {name[index]} */
	PLACEHOLDER_SPREAD,    /* {name[*]}: one word for each item */
	PLACEHOLDER_FALLBACK,  /* {name??text} */
	PLACEHOLDER_CONDITION, /* {name?text:other}, {!name?text:other} */
	PLACEHOLDER_EXPR,      /* {index*2}, {_(index+1)} */
};

struct placeholder {
	enum placeholder_kind kind;
	struct str content; /* everything between the braces */
	struct str name;
	struct type type;
	struct str text, other;
	struct str index;   /* of an item: a name, or digits */
	struct str expr;    /* arithmetic, without its padding */
	size_t underscores; /* padding of it */
	bool negated;
};

enum dialect { DIALECT_NOW, DIALECT_0_9 };

/* What is wrong with a brace group, as the ends of two sentences: "'{a:float}' " WHAT SUBJECT, and
 * HINT EXAMPLE. Subject and example may be empty. */
struct placeholder_mistake {
	const char *what, *hint;
	struct str subject, example;
};

/* False when it is none of the forms; *wrong then says why. */
bool placeholder_parse(struct str content, enum dialect dialect, struct placeholder *ret,
	struct placeholder_mistake *wrong);

/* A text cut into literal runs and brace groups. */
struct part {
	struct str text;                       /* the literal, or the group with its braces */
	const struct placeholder *placeholder; /* NULL: literal */
};

/* Cuts `text` at its brace groups. Groups that are not placeholders are given to `bad`, which says
 * whether to keep them as literal text; without `bad` the whole text is then one literal.
 * Returns the number of parts, SIZE_MAX when `bad` said no. Parts and groups point into `text`. */
typedef bool placeholder_bad_fn(
	void *data, struct str group, const struct placeholder_mistake *wrong);
size_t placeholder_cut(struct arena *a, struct str text, enum dialect dialect, struct part **ret,
	placeholder_bad_fn *bad, void *data);

/* The next brace group at or after `from`: `{`, one or more characters that are not braces, `}`. */
bool brace_group(struct str text, size_t from, size_t *begin, size_t *end);

/* index, prev, next or repeat behind any number of underscores. */
bool repeat_name(struct str name, struct str *bare, size_t *underscores);
