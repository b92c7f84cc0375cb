#pragma once

#include "data/json.h"

struct markdown_region;

enum { RECIPE_MAX_BYTES = 1 << 20 }; /* of the file of a recipe, whatever its format */

/* A text as read: a JSON value, or one plain command line. */
struct doc {
	struct source source;
	json_t *root; /* owned */
	bool plain;   /* the whole text is the one string */
	bool markdown;
	const struct markdown_region *regions; /* of a Markdown recipe: where its members stand */
	size_t region_count;
	const struct locator *locator; /* of another format; NULL: JSON and the above */
};

/* A value of a document, known by the way to it. Lives in the arena of the reader of the document;
 * the root has no `up`. Where it stands in the text is found when a diagnostic needs it. */
struct place {
	const struct doc *doc;
	const struct place *up;
	struct str key; /* member of an object, or */
	size_t index;   /* element of an array when key.p is NULL */
};

/* How a format other than JSON finds a place in its text again. */
struct locator {
	struct where (*value)(const struct place *p);
	struct where (*key)(const struct place *p);
	struct where (*within)(const struct place *p, size_t index, size_t len);
};

void doc_done(struct doc *d);

struct place *place_member(struct arena *a, const struct place *up, struct str key);
struct place *place_element(struct arena *a, const struct place *up, size_t index);

/* The whole value. */
struct where place_where(const struct place *p);
/* The name of a member. */
struct where place_key_where(const struct place *p);
/* Both for a warning or a note of `r`: nowhere when that only counts. To find a place takes as long
 * as to read the text before it. */
struct where place_where_for(const struct report *r, const struct place *p);
struct where place_key_where_for(const struct report *r, const struct place *p);
/* `len` bytes at `index` of a string value as it reads after its escapes are undone. */
struct where place_where_in(const struct place *p, size_t index, size_t len);
