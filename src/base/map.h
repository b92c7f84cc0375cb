#pragma once

#include "base/arena.h"
#include "base/str.h"

/* From text to pointer, in order of insertion, because users see that order. Keys and entries
 * live in the arena given at each insertion; the map has nothing else to end. */
struct map_entry {
	struct str key;
	void *value;
	struct map_entry *next;  /* in order of insertion */
	struct map_entry *chain; /* in its bucket */
};

struct map {
	struct map_entry *first, *last;
	struct map_entry **buckets;
	size_t count, bucket_count;
};

#define MAP_INIT ((struct map){ 0 })

void *map_get(const struct map *m, struct str key);
/* The place of the value of `key`, inserted as NULL when new. The key is copied. */
void **map_put(struct map *m, struct arena *a, struct str key);

#define map_each(entry, m) for (struct map_entry *entry = (m)->first; entry; entry = entry->next)
