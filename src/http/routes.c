#include <string.h>

#include "http/door.h"

static bool fits(const char *path, const struct str *segments, size_t count)
{
	struct str pattern = str_of(path);
	size_t i = 0;

	for (size_t at = 1; at <= pattern.len; i++) {
		size_t end = str_find(pattern, '/', at);
		struct str part = str_sub(pattern, at, end - at);

		if (i == count || (part.len && part.p[0] == '{' ? !segments[i].len
								: !str_eq(part, segments[i])))
			return false;
		at = end + 1;
	}
	return i == count;
}

/* A segment that is written out wins over a parameter: the route with the fewest fits best. */
static size_t parameters(const char *path)
{
	size_t n = 0;

	for (; *path; path++)
		n += *path == '{';
	return n;
}

static void add_method(struct buf *b, const char *method)
{
	if (b->len)
		buf_adds(b, ", ");
	buf_adds(b, method);
	if (strcmp(method, "GET") == 0)
		buf_adds(b, ", HEAD");
}

bool routes_have(const struct http *h, const char *path)
{
	vec_each (t, &h->tables)
		for (size_t i = 0; i < t->count; i++)
			if (strcmp(t->at[i].path, path) == 0)
				return true;
	return false;
}

bool routes_find(struct http_request *q, struct str *ret_allow)
{
	struct str method = q->head ? S("GET") : q->method;
	AUTO_BUF allow = BUF_INIT;
	size_t best = SIZE_MAX;
	bool found = false;

	vec_each (t, &q->http->tables)
		for (size_t i = 0; i < t->count; i++) {
			const struct http_route *r = &t->at[i];

			if (!fits(r->path, q->segments, q->segment_count))
				continue;
			found = true;
			if (!str_eq(str_of(r->method), method)) {
				if (!r->refuses)
					add_method(&allow, r->method);
			} else if (parameters(r->path) < best) {
				best = parameters(r->path);
				q->route = r;
				q->table = t;
			}
		}
	*ret_allow = arena_str(&q->arena, buf_str(&allow));
	return found;
}
