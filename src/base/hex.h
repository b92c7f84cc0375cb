#pragma once

#include <stddef.h>

/* Two lower-case digits a byte, and a NUL. */
void hex_write(const unsigned char *bytes, size_t count, char *ret);
