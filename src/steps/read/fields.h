#pragma once

#include "data/json.h"
#include "steps/read/recipe.h"

/* Every key of a step recipe: one table that feeds reading, checking, hints, `roux schema steps`
 * and the reference page. */

/* The mappings that have keys of their own. */
enum key_in {
	KEY_IN_RECIPE,
	KEY_IN_STEP,
	KEY_IN_RETRY,
	KEY_IN_RECURSION,
	KEY_IN_RATE_LIMITING,
	KEY_IN_BACKOFF,
	KEY_IN_ORCHESTRATOR,
	KEY_IN_ORCHESTRATOR_CONFIG,
	KEY_IN_STAGE,
	KEY_IN_APPROVAL,
	KEY_IN_COUNT,
};

/* What it may hold, as a mask; null counts as absent everywhere. */
enum key_type {
	KEY_TEXT = 1 << 0,
	KEY_INTEGER = 1 << 1,
	KEY_NUMBER = 1 << 2, /* whole numbers too */
	KEY_BOOL = 1 << 3,
	KEY_LIST = 1 << 4,
	KEY_MAPPING = 1 << 5,
	KEY_ANY = (1 << 6) - 1,
};

/* What stands inside a list or mapping. */
enum key_items {
	KEY_ITEMS_ANY,
	KEY_ITEMS_TEXTS,
	KEY_ITEMS_NAMES,
	KEY_ITEMS_MAPPINGS,
	KEY_ITEMS_STEPS,
	KEY_ITEMS_STAGES,
	KEY_ITEMS_SCALARS, /* of a mapping of names that a process takes */
	KEY_ITEMS_KEYS,    /* a mapping with keys of its own: `inside` */
	KEY_ITEMS_BY_NAME, /* a mapping of variables */
};

/* Whether it names a variable; only results may not have a reserved name. */
enum key_name { KEY_NAME_NOT, KEY_NAME_RESULT, KEY_NAME_OTHER };

/* Into what it is read. */
enum key_store {
	KEY_STORE_NOT, /* read by hand */
	KEY_STORE_TEXT,
	KEY_STORE_VALUE,
	KEY_STORE_BOOL,
	KEY_STORE_INT,
	KEY_STORE_DOUBLE,
	KEY_STORE_WORD,    /* an enum, by the place in `words` */
	KEY_STORE_SECONDS, /* as milliseconds */
};

struct key {
	struct str name;
	enum key_in in;
	unsigned types;
	const char *wanted;   /* "expected …" of a diagnostic */
	const char *summary;  /* for people */
	const char *example;  /* what to write instead of a value of another type; NULL: a hint says
				 what it is for */
	const char *fallback; /* as JSON; NULL: nothing */
	double minimum, maximum;  /* of numbers; a maximum of 0 is none */
	const char *const *words; /* the texts it may hold; NULL: any */
	enum key_name is_name;    /* of a variable */
	enum key_items items;
	enum key_in inside; /* of KEY_ITEMS_KEYS */
	enum key_store store;
	size_t offset;
	bool required;
	bool filled;    /* a required text must not be blank */
	bool duration;  /* a text such as "10s" is as good as a number */
	bool extension; /* roux's own: not in the portable format */

	/* of a step */
	bool needs_always;    /* the loop below; otherwise it is ignored with a warning */
	enum step_loop needs; /* STEP_FOREACH: with that only; STEP_WHILE: with either loop */
	unsigned used_by;     /* types as a mask; 0: all of them */
	unsigned refused_by;  /* elsewhere it is ignored with a warning */
	unsigned needed_by;
};

extern const struct key step_keys[];
extern const size_t step_key_count;

/* A key of that mapping, or NULL. */
const struct key *key_find(enum key_in in, struct str name);
/* The nearest name, for a misspelt one; empty when there is none. */
struct str key_nearest(enum key_in in, struct str name);
/* Whether it holds a text such as "10s"; then its milliseconds. */
bool key_duration(const struct key *k, const json_t *value, double *ret_ms);
bool key_accepts(const struct key *k, const json_t *value);
/* Whether unknown keys of that mapping are a mistake; otherwise they are ignored with a warning. */
bool key_strict(enum key_in in);

/* The limit of a try of a step that has no `timeout`; 0: none. */
uint64_t step_timeout_ms(enum step_type type);
/* What `as` is when it is left out. */
#define STEP_AS "item"

/* The types of steps in order, then NULL. */
extern const char *const step_type_names[];
