#pragma once

#include <stddef.h>

/* Memory from the heap. No call returns NULL: without memory there is nothing sensible to do,
 * so roux says so and aborts. Whatever is fed from outside has a limit of its own. */

void *mem_alloc(size_t size);
void *mem_zero(size_t size);
void *mem_resize(void *p, size_t count, size_t size);
void *mem_dup(const void *p, size_t size);
char *mem_strdup(const char *s);

#define mem_new(T) ((T *)mem_zero(sizeof(T)))
