#include "hosts/mcp/uri.h"

#include <string.h>

void uri_escape(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];
		bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
			     ascii_digit((char)c) || (c && strchr("-._~", c));

		if (plain)
			buf_addc(b, (char)c);
		else
			buf_printf(b, "%%%02X", c);
	}
}

static int digit(char c)
{
	if (ascii_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool uri_unescape(struct str text, struct buf *ret)
{
	for (size_t i = 0; i < text.len; i++) {
		int c = (unsigned char)text.p[i];

		if (c == '%') {
			if (i + 2 >= text.len || digit(text.p[i + 1]) < 0 ||
				digit(text.p[i + 2]) < 0)
				return false;
			c = digit(text.p[i + 1]) * 16 + digit(text.p[i + 2]);
			i += 2;
		}
		if (c < 0x20 || c == 0x7f)
			return false;
		buf_addc(ret, (char)c);
	}
	return true;
}
