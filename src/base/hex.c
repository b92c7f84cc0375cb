#include "base/hex.h"

static const char digits[] = "0123456789abcdef";

void hex_write(const unsigned char *bytes, size_t count, char *ret)
{
	for (size_t i = 0; i < count; i++) {
		ret[2 * i] = digits[bytes[i] >> 4];
		ret[2 * i + 1] = digits[bytes[i] & 15];
	}
	ret[2 * count] = '\0';
}

void hex_number(uint64_t n, size_t count, char *ret)
{
	ret[count] = '\0';
	for (; count > 0; n >>= 4)
		ret[--count] = digits[n & 15];
}
