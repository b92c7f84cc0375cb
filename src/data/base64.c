#include "data/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len; i += 3) {
		size_t n = MIN(s.len - i, (size_t)3);
		uint32_t bits = 0;

		for (size_t k = 0; k < 3; k++)
			bits = bits << 8 | (k < n ? (unsigned char)s.p[i + k] : 0u);
		for (size_t k = 0; k < 4; k++)
			buf_addc(b, k <= n ? digits[bits >> (18 - 6 * k) & 63] : '=');
	}
}

bool base64_read(struct str text, struct buf *ret)
{
	uint32_t bits = 0;
	size_t have = 0;

	for (size_t i = 0; i < text.len && text.p[i] != '='; i++) {
		const char *hit = text.p[i] ? strchr(digits, text.p[i]) : NULL;

		if (!hit)
			return false;
		bits = bits << 6 | (uint32_t)(hit - digits);
		have += 6;
		if (have >= 8) {
			have -= 8;
			buf_addc(ret, (char)(bits >> have & 0xff));
		}
	}
	return true;
}
