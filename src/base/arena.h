#pragma once

#include <stdarg.h>

#include "base/lang.h"
#include "base/str.h"

/* Memory that ends all at once. What is loaded lives here and is immutable afterwards. */
struct arena {
	struct arena_block *block;
};

#define ARENA_INIT ((struct arena){ 0 })

void arena_done(struct arena *a);
/* Zeroed and aligned for anything. */
void *arena_alloc(struct arena *a, size_t size);
struct str arena_str(struct arena *a, struct str s);
/* The same with a NUL behind it. */
char *arena_cstr(struct arena *a, struct str s);
struct str arena_printf(struct arena *a, const char *fmt, ...) PRINTF(2, 3);
struct str arena_vprintf(struct arena *a, const char *fmt, va_list args);
/* Forgets everything and keeps one block for the next use. */
void arena_reset(struct arena *a);

#define arena_new(a, T) ((T *)arena_alloc(a, sizeof(T)))
#define arena_array(a, T, n) ((T *)arena_alloc(a, sizeof(T) * (size_t)(n)))
