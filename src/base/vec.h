#pragma once

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

/* A growing array of T on the heap: `VEC(int) numbers = { 0 };`. */
#define VEC(T)                   \
	struct {                 \
		T *at;           \
		size_t len, cap; \
	}

#define vec_push(v, ...)                                                           \
	do {                                                                       \
		if ((v)->len == (v)->cap) {                                        \
			(v)->cap = (v)->cap ? (v)->cap + (v)->cap / 2 + 1 : 4;     \
			(v)->at = mem_resize((v)->at, (v)->cap, sizeof(*(v)->at)); \
		}                                                                  \
		(v)->at[(v)->len++] = (__VA_ARGS__);                               \
	} while (0)

/* Room for `more`, for what is known to be many. */
#define vec_reserve(v, more)                                                       \
	do {                                                                       \
		size_t vec_need = (v)->len + (more);                               \
		if (vec_need > (v)->cap) {                                         \
			(v)->cap = vec_need;                                       \
			(v)->at = mem_resize((v)->at, (v)->cap, sizeof(*(v)->at)); \
		}                                                                  \
	} while (0)

#define vec_pop(v) ((v)->at[--(v)->len])

#define vec_done(v)                      \
	do {                             \
		free((v)->at);           \
		(v)->at = NULL;          \
		(v)->len = (v)->cap = 0; \
	} while (0)

/* `item` points at each element in turn. */
#define vec_each(item, v) \
	for (__typeof__((v)->at + 0) item = (v)->at; item && item < (v)->at + (v)->len; item++)
