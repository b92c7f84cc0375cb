#include "data/doc.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "data/json-scan.h"
#include "data/markdown.h"

void doc_done(struct doc *d)
{
	json_decref(d->root);
	d->root = NULL;
}

struct place *place_member(struct arena *a, const struct place *up, struct str key)
{
	struct place *p = arena_new(a, struct place);

	*p = (struct place){ .doc = up->doc, .up = up, .key = arena_str(a, key) };
	return p;
}

struct place *place_element(struct arena *a, const struct place *up, size_t index)
{
	struct place *p = arena_new(a, struct place);

	*p = (struct place){ .doc = up->doc, .up = up, .index = index };
	return p;
}

/* The text is walked again only for diagnostics. It has been parsed before, so it is valid JSON and
 * the walk needs no errors of its own; it only must never run past the end. */

/* Behind what was scanned, at most the end of the text. */
static size_t behind(struct str t, size_t end)
{
	return end ? end : t.len;
}

/* Past a comma or colon, to what follows it. */
static size_t past_sign(struct str t, size_t at)
{
	return json_scan_blank(t, MIN(json_scan_blank(t, at) + 1, t.len));
}

struct found {
	size_t key, value; /* offsets */
};

static bool find_member(struct str t, size_t at, struct str key, struct found *ret)
{
	bool hit = false;
	AUTO_BUF name = BUF_INIT;

	for (at = json_scan_blank(t, at + 1); at < t.len && t.p[at] == '"';) {
		size_t key_at = at;

		buf_reset(&name);
		json_scan_decode(t, at, &name);
		at = past_sign(t, behind(t, json_scan_string(t, at)));
		if (str_eq(buf_str(&name), key)) {
			/* No return yet: of duplicates the last one counts. */
			*ret = (struct found){ key_at, at };
			hit = true;
		}
		at = past_sign(t, behind(t, json_scan_value(t, at)));
	}
	return hit;
}

static bool find_element(struct str t, size_t at, size_t index, struct found *ret)
{
	at = json_scan_blank(t, at + 1);
	for (; index > 0 && at < t.len; index--)
		at = past_sign(t, behind(t, json_scan_value(t, at)));
	*ret = (struct found){ at, at };
	return at < t.len;
}

/* The part of the text that is JSON, and the place whose value it is. */
struct section {
	struct str text;
	size_t offset;
	const struct place *root;
};

static bool find(const struct section *s, const struct place *p, struct found *ret)
{
	struct str t = s->text;

	if (p == s->root) {
		size_t at = json_scan_blank(t, str_starts(t, S("\xEF\xBB\xBF")) ? 3 : 0);

		*ret = (struct found){ at, at };
		return at < t.len;
	}
	struct found up;
	if (!p->up || !find(s, p->up, &up))
		return false;
	if (p->key.p)
		return up.value < t.len && t.p[up.value] == '{' &&
		       find_member(t, up.value, p->key, ret);
	return up.value < t.len && t.p[up.value] == '[' && find_element(t, up.value, p->index, ret);
}

static const struct place *root_of(const struct place *p)
{
	while (p->up)
		p = p->up;
	return p;
}

/* The innermost region of a Markdown recipe that a place is in, and the place that it is all of. */
static const struct markdown_region *region_of(const struct place *p, const struct place **all)
{
	const struct doc *d = p->doc;
	char number[24];

	*all = p;
	if (!p->up)
		return NULL;
	if (!p->up->up) {
		for (size_t i = 0; i < d->region_count; i++)
			if (str_eq(d->regions[i].key, p->key))
				return &d->regions[i];
		return NULL;
	}
	const struct markdown_region *around = region_of(p->up, all);
	if (!around || *all != p->up || !around->inner)
		return around;
	(void)snprintf(number, sizeof(number), "%zu", p->index);
	const struct markdown_region *own =
		map_get(around->inner, p->key.p ? p->key : str_of(number));
	if (own)
		*all = p;
	return own ? own : around;
}

/* The JSON that a place is in. False: it is not in JSON. */
static bool section_of(const struct place *p, struct section *ret)
{
	const struct doc *d = p->doc;
	const struct place *top;

	if (d->plain)
		return false;
	if (!d->markdown) {
		*ret = (struct section){ d->source.text, 0, root_of(p) };
		return true;
	}
	const struct markdown_region *region = region_of(p, &top);
	if (!region || !region->json)
		return false;
	*ret = (struct section){ str_sub(d->source.text, region->offset, region->length),
		region->offset, region->member ? root_of(p) : top };
	return true;
}

/* What is not in JSON: a plain text, or the frontmatter of a Markdown recipe. */
static struct where elsewhere(const struct place *p)
{
	const struct doc *d = p->doc;
	const struct place *top;
	const struct markdown_region *region = d->markdown ? region_of(p, &top) : NULL;

	if (region)
		return (struct where){ &d->source, region->offset, region->length };
	return (struct where){ &d->source, 0, d->plain ? d->source.text.len : 0 };
}

struct where place_where(const struct place *p)
{
	struct section s;
	struct found f;

	if (p->doc->locator)
		return p->doc->locator->value(p);
	if (!section_of(p, &s))
		return elsewhere(p);
	/* What a reference put there stands in no text: its container does. */
	while (!find(&s, p, &f)) {
		if (p == s.root || !p->up)
			return elsewhere(p);
		p = p->up;
	}
	return (struct where){ &p->doc->source, s.offset + f.value,
		behind(s.text, json_scan_value(s.text, f.value)) - f.value };
}

struct where place_key_where(const struct place *p)
{
	struct section s;
	struct found f;

	if (p->doc->locator)
		return p->doc->locator->key(p);
	const struct place *all;
	const struct markdown_region *region = p->doc->markdown ? region_of(p, &all) : NULL;
	if (region && all == p && region->key_length)
		return (struct where){ &p->doc->source, region->key_offset, region->key_length };
	if (!p->key.p || !section_of(p, &s) || p == s.root || !find(&s, p, &f))
		return place_where(p);
	return (struct where){ &p->doc->source, s.offset + f.key,
		behind(s.text, json_scan_string(s.text, f.key)) - f.key };
}

struct where place_where_for(const struct report *r, const struct place *p)
{
	return report_full(r) ? (struct where){ 0 } : place_where(p);
}

struct where place_key_where_for(const struct report *r, const struct place *p)
{
	return report_full(r) ? (struct where){ 0 } : place_key_where(p);
}

/* The bytes are the text itself. */
static struct where within(struct where w, size_t index, size_t len)
{
	index = MIN(index, w.length);
	return (struct where){ w.source, w.offset + index, MIN(len, w.length - index) };
}

struct where place_where_in(const struct place *p, size_t index, size_t len)
{
	const struct place *top;
	struct section s;
	struct found f;
	size_t begin = 0, done = 0;

	if (p->doc->locator)
		return p->doc->locator->within(p, index, len);
	if (p->doc->plain)
		return within(elsewhere(p), index, len);
	if (!section_of(p, &s)) {
		const struct markdown_region *region = region_of(p, &top);

		return region && region->exact && p == top ? within(elsewhere(p), index, len)
							   : elsewhere(p);
	}
	struct str t = s.text;
	if (!find(&s, p, &f) || f.value >= t.len || t.p[f.value] != '"')
		return place_where(p);
	size_t at = f.value + 1;
	for (; at < t.len && t.p[at] != '"' && done < index + len;) {
		if (done <= index)
			begin = at;
		AUTO_BUF meant = BUF_INIT;
		size_t next = json_scan_escape(t, at, &meant);

		done += next ? meant.len : 1;
		at = next ? next : at + 1;
	}
	if (done <= index)
		begin = at;
	return (struct where){ &p->doc->source, s.offset + begin, MAX(at - begin, (size_t)1) };
}
