#include "base/map.h"

static size_t hash(struct str s)
{
	size_t h = 14695981039346656037u; /* FNV-1a */

	for (size_t i = 0; i < s.len; i++)
		h = (h ^ (unsigned char)s.p[i]) * 1099511628211u;
	return h ^ (h >> 29);
}

static struct map_entry *find(const struct map *m, struct str key)
{
	if (!m->bucket_count)
		return NULL;
	struct map_entry *e = m->buckets[hash(key) & (m->bucket_count - 1)];
	while (e && !str_eq(e->key, key))
		e = e->chain;
	return e;
}

static void link_in(struct map *m, struct map_entry *e)
{
	struct map_entry **bucket = &m->buckets[hash(e->key) & (m->bucket_count - 1)];

	e->chain = *bucket;
	*bucket = e;
}

static void grow(struct map *m, struct arena *a)
{
	m->bucket_count = m->bucket_count ? m->bucket_count * 2 : 8;
	m->buckets = arena_array(a, struct map_entry *, m->bucket_count);
	map_each (e, m)
		link_in(m, e);
}

void *map_get(const struct map *m, struct str key)
{
	struct map_entry *e = find(m, key);

	return e ? e->value : NULL;
}

void **map_put(struct map *m, struct arena *a, struct str key)
{
	struct map_entry *e = find(m, key);

	if (e)
		return &e->value;
	if (m->count >= m->bucket_count)
		grow(m, a);
	e = arena_new(a, struct map_entry);
	e->key = arena_str(a, key);
	link_in(m, e);
	if (m->last)
		m->last->next = e;
	else
		m->first = e;
	m->last = e;
	m->count++;
	return &e->value;
}
