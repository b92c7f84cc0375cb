#pragma once

#include <stdarg.h>

#include "base/lang.h"
#include "base/str.h"

/* An owned, growing run of bytes, always followed by a NUL. */
struct buf {
	char *p; /* NULL until something is added; use buf_cstr() for a C string */
	size_t len, cap;
};

#define BUF_INIT ((struct buf){ 0 })
#define AUTO_BUF __attribute__((cleanup(buf_done))) struct buf

void buf_done(struct buf *b);
/* Empties it and keeps its memory. */
void buf_reset(struct buf *b);
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, struct str s);
void buf_addc(struct buf *b, char c);
void buf_fill(struct buf *b, char c, size_t count);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF(2, 3);
/* At least `digits` of them (not over 20). For what is written by the thousand, as events are:
 * printf() would take as long as all the rest of it. */
void buf_add_number(struct buf *b, uint64_t n, unsigned digits);
void buf_add_int(struct buf *b, int64_t n);
void buf_vprintf(struct buf *b, const char *fmt, va_list args);
void buf_truncate(struct buf *b, size_t len);
/* Takes the first `n` bytes away. */
void buf_drop(struct buf *b, size_t n);
void buf_swap(struct buf *a, struct buf *b);
/* Hands the memory over, cut to size; never NULL. The buffer is empty afterwards. */
char *buf_take(struct buf *b);

/* Here, where the length of a literal is known. */
static inline void buf_adds(struct buf *b, const char *text)
{
	buf_add(b, str_of(text));
}

static inline struct str buf_str(const struct buf *b)
{
	return (struct str){ b->p ? b->p : "", b->len };
}

static inline const char *buf_cstr(const struct buf *b)
{
	return b->p ? b->p : "";
}
