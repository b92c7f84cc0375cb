#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"

/* What outgrows its first bytes is mostly a page of text: it gets there in few steps. */
enum { BUF_FIRST = 64, BUF_SMALL = 4096, PRINTF_ROOM = 48 };

void buf_done(struct buf *b)
{
	free(b->p);
	*b = BUF_INIT;
}

void buf_reset(struct buf *b)
{
	buf_truncate(b, 0);
}

void buf_truncate(struct buf *b, size_t len)
{
	if (len >= b->len)
		return;
	b->len = len;
	b->p[len] = '\0';
}

void buf_drop(struct buf *b, size_t n)
{
	if (!n) /* it may have no bytes at all yet */
		return;
	memmove(b->p, b->p + n, b->len - n);
	buf_truncate(b, b->len - n);
}

void buf_reserve(struct buf *b, size_t more)
{
	size_t need = b->len + more + 1;

	if (need <= b->cap)
		return;
	size_t cap = b->cap ? b->cap : BUF_FIRST;
	while (cap < need)
		cap *= cap < BUF_SMALL ? 4 : 2;
	b->p = mem_resize(b->p, cap, 1);
	b->cap = cap;
	b->p[b->len] = '\0';
}

void buf_add(struct buf *b, struct str s)
{
	if (!s.len)
		return;
	buf_reserve(b, s.len);
	memcpy(b->p + b->len, s.p, s.len);
	b->len += s.len;
	b->p[b->len] = '\0';
}

void buf_addc(struct buf *b, char c)
{
	if (b->len + 1 >= b->cap)
		buf_reserve(b, 1);
	b->p[b->len++] = c;
	b->p[b->len] = '\0';
}

void buf_fill(struct buf *b, char c, size_t count)
{
	buf_reserve(b, count);
	memset(b->p + b->len, c, count);
	b->len += count;
	b->p[b->len] = '\0';
}

void buf_vprintf(struct buf *b, const char *fmt, va_list args)
{
	va_list again;

	/* Most texts fit at once: formatting them only to know how long they are costs as much. */
	buf_reserve(b, PRINTF_ROOM);
	va_copy(again, args);
	int n = vsnprintf(b->p + b->len, b->cap - b->len, fmt, args);
	if (n >= 0 && (size_t)n >= b->cap - b->len) {
		buf_reserve(b, (size_t)n);
		n = vsnprintf(b->p + b->len, (size_t)n + 1, fmt, again);
	}
	b->len += (size_t)MAX(n, 0);
	b->p[b->len] = '\0';
	va_end(again);
}

void buf_add_number(struct buf *b, uint64_t n, unsigned digits)
{
	char text[24];
	size_t at = sizeof(text);

	do {
		text[--at] = (char)('0' + n % 10);
		n /= 10;
	} while (n || sizeof(text) - at < digits);
	buf_add(b, (struct str){ text + at, sizeof(text) - at });
}

void buf_add_int(struct buf *b, int64_t n)
{
	if (n < 0)
		buf_addc(b, '-');
	buf_add_number(b, n < 0 ? -(uint64_t)n : (uint64_t)n, 1);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	buf_vprintf(b, fmt, args);
	va_end(args);
}

void buf_swap(struct buf *a, struct buf *b)
{
	struct buf t = *a;

	*a = *b;
	*b = t;
}

char *buf_take(struct buf *b)
{
	char *p = mem_resize(b->p, b->len + 1, 1);

	p[b->len] = '\0';
	*b = BUF_INIT;
	return p;
}
