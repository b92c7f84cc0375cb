#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lang.h"

static void *check(void *p)
{
	if (p)
		return p;
	(void)fputs("roux: out of memory\n", stderr);
	abort();
}

void *mem_alloc(size_t size)
{
	return check(malloc(size ? size : 1));
}

void *mem_zero(size_t size)
{
	return check(calloc(1, size ? size : 1));
}

void *mem_resize(void *p, size_t count, size_t size)
{
	if (size && count > SIZE_MAX / size)
		return check(NULL);
	return check(realloc(p, MAX(count * size, (size_t)1)));
}

void *mem_dup(const void *p, size_t size)
{
	void *copy = mem_alloc(size);

	if (size)
		memcpy(copy, p, size);
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_dup(s, strlen(s) + 1);
}
