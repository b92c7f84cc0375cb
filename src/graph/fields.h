#pragma once

#include "data/json.h"
#include "template/placeholder.h"

/* The fields of a node: one table that feeds reading, "unknown field" hints, `roux schema` and the
 * reference page. */
enum field_id {
	FIELD_LABEL,
	FIELD_PARALLEL,
	FIELD_WHEN,
	FIELD_ARGS,
	FIELD_DEFAULTS,
	FIELD_TIMEOUT,
	FIELD_DELAY,
	FIELD_OUTPUT,
	FIELD_RETRY,
	FIELD_FAILURE,
	FIELD_RECOVER,
	FIELD_REPEAT,
	FIELD_CWD,
	FIELD_ENV,
	FIELD_QUORUM,
	FIELD_TTY,
	FIELD_NEEDS,
	FIELD_RUNS_ON,
	FIELD_TEMPLATE,
	/* only in the 0.9 dialect */
	FIELD_MODE,
	FIELD_CRITICAL,
	FIELD_PIPE,
	FIELD_COUNT,
};

/* JSON types as a mask. */
enum field_type {
	FIELD_IS_STRING = 1 << 0,
	FIELD_IS_NUMBER = 1 << 1,
	FIELD_IS_BOOL = 1 << 2,
	FIELD_IS_ARRAY = 1 << 3,
	FIELD_IS_OBJECT = 1 << 4,
};

struct field {
	const char *name;
	unsigned types;           /* what it may hold; null counts as absent */
	unsigned old_types;       /* in the 0.9 dialect; 0: it does not exist there */
	const char *wanted;       /* "expected …" of a diagnostic */
	const char *old_wanted;   /* in the 0.9 dialect; NULL: the same */
	const char *summary;      /* for people */
	const char *const *words; /* the texts it may hold; NULL: any */
	const char *items;        /* type of an array's elements: "string", "node"; NULL: any */
	double minimum;           /* of a number */
	bool whole;               /* whole numbers only */
	bool node;                /* holds a template */
	bool extension;           /* roux's own: not in the portable standard */
	const char *instead;      /* of a retired field: what to write now */
};

extern const struct field node_fields[FIELD_COUNT];

/* The field of that name in a dialect, or FIELD_COUNT. */
enum field_id field_find(struct str name, enum dialect d);
bool field_accepts(const struct field *f, enum dialect d, const json_t *value);
/* A word that other tools have for something that roux writes differently: what to write. NULL: no
 * such word. *ret: the field that does it, or FIELD_COUNT. */
const char *field_foreign(struct str name, enum field_id *ret);
/* Whether a member that is not known was probably meant as `template`. */
bool field_means_template(struct str name, enum dialect d);
/* For its author alone: `x-…` and `//`. */
bool field_private(struct str name);
/* The nearest known name, for a misspelt one; empty when there is none. */
struct str field_nearest(struct str name, enum dialect d);
