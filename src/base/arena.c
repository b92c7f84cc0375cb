#include "base/arena.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* Most arenas hold a few words: their first block is one that malloc() has at hand. */
enum { ARENA_FIRST = 1024 - 64, ARENA_BLOCK = 4096 - 64 };

struct arena_block {
	struct arena_block *next;
	size_t used, size;
	max_align_t data[];
};

void arena_done(struct arena *a)
{
	while (a->block) {
		struct arena_block *next = a->block->next;

		free(a->block);
		a->block = next;
	}
}

void arena_reset(struct arena *a)
{
	struct arena_block *keep = a->block;

	if (!keep)
		return;
	struct arena rest = { keep->next };
	arena_done(&rest);
	keep->next = NULL;
	memset(keep->data, 0, keep->used);
	keep->used = 0;
}

void *arena_alloc(struct arena *a, size_t size)
{
	size_t step = _Alignof(max_align_t);
	size_t need = (size + step - 1) / step * step;
	struct arena_block *b = a->block;

	if (!b || b->size - b->used < need) {
		size_t room = MAX(need, (size_t)(b ? ARENA_BLOCK : ARENA_FIRST));

		/* Of small ones calloc() knows less than malloc(): it asks no cache. */
		b = room > ARENA_FIRST ? mem_zero(sizeof(*b) + room) : mem_alloc(sizeof(*b) + room);
		if (room <= ARENA_FIRST)
			memset(b->data, 0, room);
		b->used = 0;
		b->size = room;
		b->next = a->block;
		a->block = b;
	}
	void *p = (char *)b->data + b->used;
	b->used += need;
	return p;
}

char *arena_cstr(struct arena *a, struct str s)
{
	char *p = arena_alloc(a, s.len + 1);

	if (s.len)
		memcpy(p, s.p, s.len);
	return p;
}

struct str arena_str(struct arena *a, struct str s)
{
	return (struct str){ arena_cstr(a, s), s.len };
}

struct str arena_vprintf(struct arena *a, const char *fmt, va_list args)
{
	char first[256]; /* most texts fit: formatting them twice only to know their length costs */
	va_list again;

	va_copy(again, args);
	int n = vsnprintf(first, sizeof(first), fmt, args);
	char *p = arena_alloc(a, (size_t)MAX(n, 0) + 1);
	if (n > 0 && (size_t)n < sizeof(first))
		memcpy(p, first, (size_t)n);
	else if (n > 0)
		(void)vsnprintf(p, (size_t)n + 1, fmt, again);
	va_end(again);
	return (struct str){ p, (size_t)MAX(n, 0) };
}

struct str arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	struct str s = arena_vprintf(a, fmt, args);
	va_end(args);
	return s;
}
