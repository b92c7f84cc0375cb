/* roux_run_log: a part of what a run has printed. */
#include <errno.h>

#include "app/logs.h"
#include "hosts/mcp/builtin-calls.h"
#include "hosts/mcp/result.h"
#include "hosts/mcp/text.h"

enum { MOST = 16 * 1024, PIECE = 256 * 1024, SEARCHED = 64 << 20 };

/* Whether a line contains one of the alternatives. */
static bool contains_one(struct str line, struct str wanted)
{
	for (size_t at = 0; at <= wanted.len;) {
		size_t end = str_find(wanted, '|', at);
		struct str one = str_sub(wanted, at, end - at);

		if (one.len && str_contains(line, one))
			return true;
		at = end + 1;
	}
	return false;
}

/* The last lines that contain it. A line that is split between two pieces is put together. */
static int search(struct run_handle *h, struct log_window *w, struct str wanted, struct buf *ret,
	struct log_found *found)
{
	AUTO_BUF text = BUF_INIT;
	uint64_t from = w->offset, searched = 0;

	w->max = PIECE;
	for (;;) {
		w->offset = from + searched;
		int e = run_log_window(h, w, &text, found);
		size_t got = (size_t)(found->next - found->offset), done = 0;

		if (e < 0)
			return e;
		searched += got;
		for (;;) {
			size_t end = str_find(buf_str(&text), '\n', done);

			if (end == text.len && got)
				break;
			struct str line = str_sub(buf_str(&text), done, end - done);
			if (contains_one(line, wanted)) {
				buf_add(ret, line);
				buf_addc(ret, '\n');
			}
			if (end == text.len)
				break;
			done = end + 1;
		}
		buf_drop(&text, done);
		if (ret->len > 4 * MOST)
			buf_drop(ret, ret->len - 2 * MOST);
		if (!got || searched > SEARCHED)
			return 0;
	}
}

/* The last lines of a text. */
static struct str last_lines(struct str text, json_int_t count)
{
	size_t from = text.len;

	while (from > 0) {
		if (from < text.len && text.p[from - 1] == '\n' && count-- == 1)
			break;
		from--;
	}
	return str_from(text, from);
}

static int read_part(struct run_handle *h, const json_t *arguments, struct log_window *w,
	struct buf *text, struct log_found *f)
{
	const json_t *offset = json_object_get(arguments, "offset");
	const json_t *tail = json_object_get(arguments, "tail");
	struct str grep = json_text_of(arguments, "grep");
	AUTO_BUF raw = BUF_INIT;
	int e;

	w->offset = (uint64_t)json_integer_value(offset);
	if (grep.len) {
		e = search(h, w, grep, &raw, f);
	} else {
		w->max = MOST;
		w->tail = !offset;
		e = run_log_window(h, w, &raw, f);
	}
	struct str part = buf_str(&raw);
	if (!grep.len)
		part = text_window(part, f);
	else if (part.len > MOST)
		part = text_whole(str_from(part, part.len - MOST), NULL);
	if (json_is_integer(tail)) {
		struct str lines = last_lines(part, json_integer_value(tail));

		if (!grep.len)
			f->offset += part.len - lines.len;
		part = lines;
	}
	buf_add(text, part);
	return e;
}

void builtin_log(struct exchange *x, const json_t *arguments)
{
	AUTO_REPORT issues = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;
	struct run_handle *h = builtin_open(x, arguments);
	struct mask *mask = NULL;
	struct log_found found = { 0 };

	if (!h)
		return;
	struct log_window w = { .node = json_text_of(arguments, "step"),
		.stream = str_eq(json_text_of(arguments, "stream"), S("stderr")) ? LOG_STDERR
										 : LOG_STDOUT };
	bool ok = run_mask(h, &mask, &issues);
	w.mask = mask;
	int e = ok ? read_part(h, arguments, &w, &text, &found) : 0;
	if (e == -ENOENT && w.node.len)
		report_error(&issues, (struct where){ 0 },
			"there is no step '%.*s' that has printed", STR(w.node));
	else if (e < 0)
		report_errno(&issues, -e, "cannot read the log");
	if (issues.errors)
		builtin_refuse(x, &issues);
	else
		builtin_answer(x, h, buf_str(&text),
			json_pack("{s:I, s:I, s:I, s:b}", "offset", (json_int_t)found.offset,
				"nextOffset", (json_int_t)found.next, "size",
				(json_int_t)found.size, "live", run_status(h) == ROUX_RUNNING));
	mask_free(mask);
	run_close(h);
}
