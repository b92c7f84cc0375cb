#pragma once

#include "data/doc.h"

#include "fuzz.h"

/* What the fuzzers of formats share: every value of a document has its place in the text. */

/* Calls `check` for the value and all that is in it, at most `*left` times. */
static inline void walk_places(struct arena *a, const struct place *p, const json_t *value,
	unsigned *left, void check(const struct place *p, const json_t *value))
{
	const char *key;
	json_t *item;
	size_t i;

	if (!*left)
		return;
	--*left;
	check(p, value);
	if (json_is_array(value))
		json_array_foreach(value, i, item)
			walk_places(a, place_element(a, p, i), item, left, check);
	else if (json_is_object(value))
		json_object_foreach((json_t *)value, key, item)
			walk_places(a, place_member(a, p, str_of(key)), item, left, check);
}

/* The bytes of a string value are found inside of its text, in order. `check` looks at one: `at` of
 * the value, which stands `in` the text of `w`. */
static inline void walk_string(const struct place *p, struct where w, struct str s,
	void check(struct str text, struct where w, struct where in, struct str s, size_t at))
{
	size_t last = w.offset;

	for (size_t at = 0; at < s.len; at += 1 + s.len / 8) {
		struct where in = place_where_in(p, at, 1);

		HOLDS(in.offset >= w.offset && in.offset + in.length <= w.offset + w.length);
		HOLDS(in.offset >= last);
		last = in.offset;
		check(p->doc->source.text, w, in, s, at);
	}
}

/* Ways that lead nowhere end somewhere in the text all the same. */
static inline void check_strangers(
	struct arena *a, const struct place *root, const uint8_t *data, size_t size)
{
	const struct place *p = root;

	for (size_t i = 0; i < size && i < 8; i++) {
		p = data[i] & 1 ? place_element(a, p, data[i] >> 1)
				: place_member(a, p, fuzz_str(data + i, MIN(size - i, (size_t)2)));
		struct where w = place_where(p);
		HOLDS(w.offset + w.length <= root->doc->source.text.len);
		w = place_where_in(p, data[i], 3);
		HOLDS(w.offset + w.length <= root->doc->source.text.len);
	}
}
