#pragma once

/* What every unit test needs; cmocka.h wants the first four before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/lang.h"
#include "base/str.h"

/* Bytes against a C string. */
#define assert_str(got, want) unit_str((got), str_of(want), __FILE__, __LINE__)
/* Bytes against bytes. */
#define assert_bytes(got, want) unit_str((got), (want), __FILE__, __LINE__)

static inline void unit_str(struct str got, struct str want, const char *file, int line)
{
	if (str_eq(got, want))
		return;
	print_error("got  \"%.*s\" (%zu bytes)\nwant \"%.*s\" (%zu bytes)\n", STR(got), got.len,
		STR(want), want.len);
	_fail(file, line);
}
