#include "hosts/mcp/text.h"

enum { CONTINUES = 3 }; /* bytes that may follow the first one of a character */

static bool is_continuation(char c)
{
	return ((unsigned char)c & 0xc0) == 0x80;
}

static size_t length_of(char c)
{
	unsigned char b = (unsigned char)c;

	return b >= 0xf0 ? 4 : b >= 0xe0 ? 3 : b >= 0xc0 ? 2 : 1;
}

struct str text_whole(struct str part, size_t *ret_skipped)
{
	size_t skip = 0, back = 1;

	while (skip < CONTINUES && skip < part.len && is_continuation(part.p[skip]))
		skip++;
	if (ret_skipped)
		*ret_skipped = skip;
	part = str_from(part, skip);
	while (back <= CONTINUES && back <= part.len && is_continuation(part.p[part.len - back]))
		back++;
	if (back <= part.len && length_of(part.p[part.len - back]) > back)
		part.len -= back;
	return part;
}
