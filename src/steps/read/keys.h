#pragma once

#include "steps/read/fields.h"

/* Reads mappings of a step recipe by the table of keys. */

struct key_reader {
	struct step_recipe *recipe;
	struct arena *a;
	struct report *r; /* mistakes; warnings go to the recipe */
};

/* One mapping. */
struct key_object {
	enum key_in in;
	const json_t *value;
	const struct place *place;
	struct str what; /* "step 'a': ", what every message about it begins with; may be empty */
	void *into;      /* the struct that the offsets of its keys belong to */
};

struct place *key_place(const struct key_reader *kr, const struct key_object *o, struct str name);
/* Neither null nor an empty text, list or mapping: what does not count as present where a key is
 * not allowed. */
bool key_present(const json_t *value);

/* Whether it is what other tools call the command of a step. */
bool key_is_shell(struct str name);
/* A member without a key in the table, which is a mistake or a warning. */
void key_unknown(const struct key_reader *kr, const struct key_object *o, struct str name);
/* Checks one value against its key and stores it. False with issues added. */
bool key_read(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *value, const struct place *place);
/* All members of the mapping, and whether those that are required are there. */
void keys_read(const struct key_reader *kr, const struct key_object *o);
/* What the keys of that mapping hold when they are left out, as the table says, in the members of
 * `into` that are numbers, booleans and words. */
void keys_default(enum key_in in, void *into);
/* A mapping inside `o`, which is there and is one. */
struct key_object key_inside(
	const struct key_reader *kr, const struct key_object *o, const struct key *k, void *into);

/* The elements of a list of texts. The array lives in the arena. */
bool key_texts(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *list, const struct place *place, const struct str **ret, size_t *count);
/* The members of `env` or `update_context`. */
bool key_pairs(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *mapping, const struct place *place, const struct recipe_pair **ret,
	size_t *count);
