#include "data/doc.h"

#include <string.h>

#include "base/utf8.h"

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

static size_t skip_blank(struct str t, size_t at)
{
	while (at < t.len && strchr(" \t\r\n", t.p[at]) && t.p[at])
		at++;
	return at;
}

static size_t skip_string(struct str t, size_t at)
{
	for (at++; at < t.len && t.p[at] != '"'; at++)
		if (t.p[at] == '\\')
			at++;
	return MIN(at + 1, t.len);
}

static size_t skip_value(struct str t, size_t at)
{
	size_t depth = 0;

	at = skip_blank(t, at);
	do {
		if (at >= t.len)
			return t.len;
		char c = t.p[at];
		if (c == '"') {
			at = skip_string(t, at);
		} else if (c == '{' || c == '[') {
			depth++;
			at++;
		} else if (c == '}' || c == ']') {
			depth--;
			at++;
		} else if (depth == 0) {
			while (at < t.len && !strchr(" \t\r\n,]}", t.p[at]))
				at++;
		} else {
			at++;
		}
	} while (depth > 0);
	return at;
}

/* One escape of a JSON string at t.p[at] == '\\': its length, and how many bytes it stands for. */
static size_t escape(struct str t, size_t at, size_t *bytes, struct buf *ret)
{
	static const char plain[] = "\"\\/bfnrt", meaning[] = "\"\\/\b\f\n\r\t";
	unsigned unit = 0, low = 0;
	size_t len = 2;
	uint32_t c;

	if (at + 1 < t.len && t.p[at + 1] == 'u') {
		char hex[5] = { 0 };

		memcpy(hex, t.p + at + 2, MIN((size_t)4, t.len - MIN(at + 2, t.len)));
		unit = (unsigned)strtoul(hex, NULL, 16);
		len = 6;
		if (unit >= 0xD800 && unit < 0xDC00 && at + 12 <= t.len) {
			memcpy(hex, t.p + at + 8, 4);
			low = (unsigned)strtoul(hex, NULL, 16);
			len = 12;
		}
		c = low ? 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00) : unit;
	} else {
		const char *hit = at + 1 < t.len ? strchr(plain, t.p[at + 1]) : NULL;

		c = hit ? (unsigned char)meaning[hit - plain] : '?';
	}
	AUTO_BUF text = BUF_INIT;
	utf8_add(&text, c);
	*bytes = text.len;
	if (ret)
		buf_add(ret, buf_str(&text));
	return len;
}

/* The string that begins at t.p[at] == '"', with its escapes undone. */
static void decode(struct str t, size_t at, struct buf *ret)
{
	size_t bytes;

	for (at++; at < t.len && t.p[at] != '"';) {
		if (t.p[at] == '\\')
			at += escape(t, at, &bytes, ret);
		else
			buf_addc(ret, t.p[at++]);
	}
}

struct found {
	size_t key, value; /* offsets */
};

static bool find_member(struct str t, size_t at, struct str key, struct found *ret)
{
	bool hit = false;
	AUTO_BUF name = BUF_INIT;

	for (at = skip_blank(t, at + 1); at < t.len && t.p[at] == '"';) {
		size_t key_at = at;

		buf_reset(&name);
		decode(t, at, &name);
		at = skip_blank(t, skip_string(t, at));
		at = skip_blank(t, at + 1); /* the colon */
		if (str_eq(buf_str(&name), key)) {
			/* No return yet: of duplicates the last one counts. */
			*ret = (struct found){ key_at, at };
			hit = true;
		}
		at = skip_blank(t, skip_value(t, at));
		at = skip_blank(t, at + 1); /* the comma, or the end */
	}
	return hit;
}

static bool find_element(struct str t, size_t at, size_t index, struct found *ret)
{
	at = skip_blank(t, at + 1);
	for (; index > 0 && at < t.len; index--) {
		at = skip_blank(t, skip_value(t, at));
		at = skip_blank(t, at + 1);
	}
	*ret = (struct found){ at, at };
	return at < t.len;
}

static bool find(const struct place *p, struct found *ret)
{
	struct str t = p->doc->source.text;

	if (!p->up) {
		size_t at = skip_blank(t, str_starts(t, S("\xEF\xBB\xBF")) ? 3 : 0);

		*ret = (struct found){ at, at };
		return at < t.len;
	}
	struct found up;
	if (!find(p->up, &up))
		return false;
	if (p->key.p)
		return up.value < t.len && t.p[up.value] == '{' &&
		       find_member(t, up.value, p->key, ret);
	return up.value < t.len && t.p[up.value] == '[' && find_element(t, up.value, p->index, ret);
}

static struct where whole(const struct doc *d)
{
	return (struct where){ &d->source, 0, d->source.text.len };
}

struct where place_where(const struct place *p)
{
	struct str t = p->doc->source.text;
	struct found f;

	if (p->doc->plain || !find(p, &f))
		return whole(p->doc);
	return (struct where){ &p->doc->source, f.value, skip_value(t, f.value) - f.value };
}

struct where place_key_where(const struct place *p)
{
	struct str t = p->doc->source.text;
	struct found f;

	if (p->doc->plain || !p->key.p || !find(p, &f))
		return place_where(p);
	return (struct where){ &p->doc->source, f.key, skip_string(t, f.key) - f.key };
}

struct where place_where_in(const struct place *p, size_t index, size_t len)
{
	struct str t = p->doc->source.text;
	struct found f;
	size_t begin = 0, done = 0, bytes;

	if (p->doc->plain)
		return (struct where){ &p->doc->source, MIN(index, t.len),
			MIN(len, t.len - MIN(index, t.len)) };
	if (!find(p, &f) || t.p[f.value] != '"')
		return place_where(p);
	size_t at = f.value + 1;
	for (; at < t.len && t.p[at] != '"' && done < index + len;) {
		if (done <= index)
			begin = at;
		bytes = 1;
		at += t.p[at] == '\\' ? escape(t, at, &bytes, NULL) : 1;
		done += bytes;
	}
	if (done <= index)
		begin = at;
	return (struct where){ &p->doc->source, begin, MAX(at - begin, (size_t)1) };
}
