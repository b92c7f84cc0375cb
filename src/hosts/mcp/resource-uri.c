#include "hosts/mcp/resource-uri.h"

#include "hosts/mcp/uri.h"

enum { SEGMENTS = 4 };

void resource_uri_done(struct resource_uri *u)
{
	struct buf *all[] = { &u->id, &u->name, &u->stream, &u->step, &u->offset, &u->limit,
		&u->after };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		buf_done(all[i]);
}

/* Takes the segments of a path apart. False: it is malformed. */
static bool split(struct str path, struct buf *segments, size_t *count)
{
	*count = 0;
	for (size_t at = 0; at <= path.len; (*count)++) {
		size_t end = str_find(path, '/', at);

		if (*count == SEGMENTS) {
			*count = SEGMENTS + 1; /* more than anything has */
			return true;
		}
		if (!uri_unescape(str_sub(path, at, end - at), &segments[*count]))
			return false;
		struct str text = buf_str(&segments[*count]);
		if (!text.len || str_eq(text, S("..")) || str_eq(text, S(".")))
			return false;
		at = end + 1;
	}
	return true;
}

static enum resource_kind kind_of(const struct buf *s, size_t count)
{
	struct str first = buf_str(&s[0]), third = buf_str(&s[2]);

	if (count == 1 && str_eq(first, S("recipes")))
		return RESOURCE_RECIPES;
	if (count == 1 && str_eq(first, S("runs")))
		return RESOURCE_RUNS;
	if (count == 1 && str_eq(first, S("doctor")))
		return RESOURCE_DOCTOR;
	if (count == 2 && str_eq(first, S("recipes")))
		return RESOURCE_RECIPE;
	if (!str_eq(first, S("runs")) || count < 2)
		return RESOURCE_NONE;
	if (count == 2)
		return RESOURCE_RUN;
	if (count == 3 && str_eq(third, S("log")))
		return RESOURCE_LOG;
	if (count == 3 && str_eq(third, S("events")))
		return RESOURCE_EVENTS;
	return count == 4 && str_eq(third, S("artifacts")) ? RESOURCE_ARTIFACT : RESOURCE_NONE;
}

/* One `name=value`. */
static bool take(struct resource_uri *u, struct str pair)
{
	size_t equals = str_find(pair, '=', 0);
	struct str name = str_sub(pair, 0, equals);
	const struct {
		struct str name;
		enum resource_kind kind;
		struct buf *into;
	} known[] = {
		{ S("stream"), RESOURCE_LOG, &u->stream },
		{ S("step"), RESOURCE_LOG, &u->step },
		{ S("offset"), RESOURCE_LOG, &u->offset },
		{ S("limit"), RESOURCE_LOG, &u->limit },
		{ S("after"), RESOURCE_EVENTS, &u->after },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known) && equals < pair.len; i++)
		if (known[i].kind == u->kind && str_eq(known[i].name, name) && !known[i].into->len)
			return uri_unescape(str_from(pair, equals + 1), known[i].into);
	return false;
}

static bool read_query(struct resource_uri *u, struct str query)
{
	for (size_t at = 0; at <= query.len && query.len;) {
		size_t end = str_find(query, '&', at);

		if (!take(u, str_sub(query, at, end - at)))
			return false;
		at = end + 1;
	}
	return true;
}

bool resource_uri_read(struct str uri, struct resource_uri *ret)
{
	struct str scheme = S("roux://");
	struct buf segments[SEGMENTS] = { { 0 } };
	size_t count;

	*ret = (struct resource_uri){ 0 };
	for (size_t i = 0; i < uri.len; i++)
		if ((unsigned char)uri.p[i] <= ' ' || uri.p[i] == 0x7f || uri.p[i] == '#')
			return false;
	if (!str_starts(uri, scheme))
		return true; /* of another kind altogether */
	struct str rest = str_from(uri, scheme.len);
	size_t mark = str_find(rest, '?', 0);
	bool ok = split(str_sub(rest, 0, mark), segments, &count);
	if (ok) {
		ret->kind = kind_of(segments, count);
		buf_swap(&ret->id, &segments[1]);
		buf_swap(&ret->name, &segments[3]);
		ok = mark == rest.len || ret->kind == RESOURCE_NONE ||
		     read_query(ret, str_from(rest, mark + 1));
	}
	for (size_t i = 0; i < SEGMENTS; i++)
		buf_done(&segments[i]);
	return ok;
}
