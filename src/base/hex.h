#pragma once

#include <stddef.h>
#include <stdint.h>

/* Two lower-case digits a byte, and a NUL. */
void hex_write(const unsigned char *bytes, size_t count, char *ret);
/* The last `count` digits of a number, and a NUL. */
void hex_number(uint64_t n, size_t count, char *ret);
