#pragma once

#include "data/json.h"

/* Types of arguments (docs/reference.md, "Types"). */
enum type_kind {
	TYPE_NONE, /* nothing said: any value, as it is */
	TYPE_STRING,
	TYPE_PATH,
	TYPE_INT,
	TYPE_NUMBER,
	TYPE_BOOL,
	TYPE_ARRAY,
	TYPE_ENUM,
	TYPE_OBJECT, /* never written: a variable of a step recipe that begins as a mapping */
	TYPE_WORDS, /* of `args` alone, and roux's own: a text that is split as a shell would, or an
		       array */
};

struct type {
	enum type_kind kind;
	struct str members; /* of an enum: what stands between the parentheses */
};

/* One entry of `args`: `name`, `name:type`, `name=default`, `name:type=default`. */
struct declaration {
	struct str name;
	struct type type;
	struct str fallback; /* the default; fallback.p is NULL when there is none */
	bool unknown_type;   /* it names a type that is not known: behaves as text */
};

/* What can be declared, as a hint says it. */
#define DECLARATION_TYPES "types are string, path, int, number, bool, array, words and enum(a,b)"

bool type_parse(struct str text, struct type *ret);
/* `name`, `name:type`, each with `=default` behind it; spaces around the parts mean nothing. */
bool declaration_parse(struct str text, struct declaration *ret);
/* As the standard spells it, without spaces and default. */
void declaration_write(const struct declaration *d, struct buf *b);
const char *type_name(enum type_kind kind);

/* [A-Za-z_][A-Za-z0-9_-]*: the length of the name that `text` begins with. */
size_t name_length(struct str text);
bool name_valid(struct str text);

/* The value as its type has it, a new reference; NULL when it does not fit. */
json_t *type_normalise(const struct type *type, json_t *value);
/* What the type expects, for a diagnostic: "a whole number", "one of check, fix". */
void type_describe(const struct type *type, struct buf *b);
/* The n-th member of an enum, trimmed; p is NULL past the last. */
struct str type_member(const struct type *type, size_t n);

/* The text form of a value (docs/reference.md, "Values as text"). */
void template_text(struct buf *b, const json_t *value);
bool template_truthy(const json_t *value);
bool template_text_truthy(struct str text);
