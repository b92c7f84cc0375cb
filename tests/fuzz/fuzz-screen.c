/* What an agent that is tried draws on its terminal: any bytes, in any pieces. */
#include "app/agents/screen.h"
#include "base/utf8.h"

#include "fuzz.h"

static void show(struct str bytes, size_t piece, struct buf *ret)
{
	struct screen s;

	screen_init(&s);
	for (size_t at = 0; at < bytes.len; at += piece)
		screen_feed(
			&s, str_sub(bytes, at, piece < bytes.len - at ? piece : bytes.len - at));
	HOLDS(s.row < SCREEN_ROWS && s.column <= SCREEN_COLUMNS);
	HOLDS(s.top < s.bottom && s.bottom <= SCREEN_ROWS);
	screen_text(&s, ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str bytes = fuzz_str(data, size);
	AUTO_BUF whole = BUF_INIT;
	AUTO_BUF pieces = BUF_INIT;

	show(bytes, size ? size : 1, &whole);
	show(bytes, 1, &pieces);
	HOLDS(str_eq(buf_str(&whole), buf_str(&pieces)));
	HOLDS(utf8_valid(buf_str(&whole)));
	return 0;
}
