#include <unistd.h>

#include "http/door.h"

void http_reply_file(struct http_request *q, const struct http_content *c, int fd, uint64_t size)
{
	struct str range = http_request_header(q, "Range");
	struct str only_if = http_request_header(q, "If-Range");
	uint64_t from = 0, to = size;
	enum range_kind kind = RANGE_NONE;
	AUTO_BUF part = BUF_INIT;

	if (range.len && (!only_if.len || str_eq(only_if, q->etag)))
		kind = decode_range(range, size, &from, &to);
	http_add_header(q, "Accept-Ranges", S("bytes"));
	if (kind == RANGE_BEYOND) {
		close(fd);
		buf_printf(&part, "bytes */%llu", (unsigned long long)size);
		http_add_header(q, "Content-Range", buf_str(&part));
		http_refuse(
			q, 416, NULL, NULL, "there are only %llu bytes", (unsigned long long)size);
		return;
	}
	if (kind == RANGE_PART) {
		buf_printf(&part, "bytes %llu-%llu/%llu", (unsigned long long)from,
			(unsigned long long)(to - 1), (unsigned long long)size);
		http_add_header(q, "Content-Range", buf_str(&part));
	}
	reply_content_headers(q, c);
	struct MHD_Response *response =
		MHD_create_response_from_fd_at_offset64(to - from, fd, from);
	if (!response) {
		close(fd);
		http_refuse(q, 503, NULL, NULL, "the file cannot be sent");
		return;
	}
	reply_send(q, kind == RANGE_PART ? 206 : c->status ? c->status : 200, response);
}
