#pragma once

#include <stddef.h>

/* What C leaves out. Nothing here has state. */

#define PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define UNUSED __attribute__((unused))
#define NORETURN __attribute__((noreturn))
/* What leads to a call of it is hardly ever executed, and is kept apart from what is. */
#define COLD __attribute__((cold))
#define ARRAY_SIZE(a) (sizeof(a) / sizeof(*(a)))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

#define container_of(ptr, type, member) ((type *)(void *)((char *)(ptr)-offsetof(type, member)))

/* Hands a pointer over: the variable is NULL afterwards, so its clean-up does nothing. */
#define TAKE(p)                                 \
	__extension__({                         \
		__typeof__(p) *taken_ = &(p);   \
		__typeof__(p) value_ = *taken_; \
		*taken_ = NULL;                 \
		value_;                         \
	})

/* A state that cannot be reached unless roux itself has a bug. */
#define UNREACHABLE(why) lang_unreachable(__FILE__, __LINE__, why)
NORETURN void lang_unreachable(const char *file, int line, const char *why);

/* Local variables that clean up after themselves. */
#define AUTO_FREE __attribute__((cleanup(lang_auto_free)))
#define AUTO_CLOSE __attribute__((cleanup(lang_auto_close)))
void lang_auto_free(void *pointer_to_pointer);
void lang_auto_close(const int *fd);

/* Closes *fd if it is open and leaves -1 behind; errno is kept. */
void close_fd(int *fd);

/* Hands a descriptor over: *fd is -1 afterwards. */
static inline int take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}
