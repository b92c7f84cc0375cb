#include "remote/line-reader.h"

bool line_reader_take(struct line_reader *r, struct str bytes,
	void (*see)(void *data, struct str line), void *data)
{
	bool ok = true;

	r->offset += bytes.len;
	while (bytes.len) {
		size_t end = str_find(bytes, '\n', 0);
		struct str piece = str_sub(bytes, 0, end);

		if (!r->skipping && r->rest.len + piece.len >= LINE_MAX_BYTES) {
			r->skipping = true;
			ok = false;
		}
		if (end == bytes.len) {
			if (!r->skipping)
				buf_add(&r->rest, piece);
			break;
		}
		if (!r->skipping && !r->rest.len) {
			see(data, piece);
		} else if (!r->skipping) {
			AUTO_BUF line = BUF_INIT;

			buf_swap(&line, &r->rest);
			buf_add(&line, piece);
			see(data, buf_str(&line));
		}
		r->skipping = false;
		buf_reset(&r->rest);
		bytes = str_from(bytes, end + 1);
	}
	return ok;
}

void line_reader_done(struct line_reader *r)
{
	buf_done(&r->rest);
}
