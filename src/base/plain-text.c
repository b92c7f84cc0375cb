#include "base/plain-text.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/bidi.h"
#include "base/utf8.h"
#include "base/width.h"

/* Above this, only the end of what came at once is looked at. */
enum { LOOK_BACK_BYTES = 4096 };

enum { REPLACEMENT = 0xFFFD };

enum filter_state {
	FILTER_TEXT,
	FILTER_ESCAPE,
	FILTER_CSI,    /* ESC [ … letter */
	FILTER_STRING, /* OSC, DCS and their kin, up to BEL or ESC \ */
};

/* Marks that change the order of the text around them, ask for the other form of an emoji or glue
 * emoji together: with them, no two terminals agree where a row ends. */
static bool unruly(uint32_t c)
{
	return (c >= 0x80 && c < 0xA0) || c == 0xAD || c == 0x061C ||
	       (c >= 0x200B && c <= 0x200F) || (c >= 0x2028 && c <= 0x202E) ||
	       (c >= 0x2060 && c <= 0x206F) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF ||
	       (c >= 0xE0000 && c <= 0xE0FFF);
}

static size_t length_by_first(unsigned char first)
{
	if (first >= 0xF0)
		return 4;
	return first >= 0xE0 ? 3 : 2;
}

/* A character that never got its end. */
static void drop_held(struct text_filter *f, text_put_fn *put, void *data)
{
	if (!f->held)
		return;
	f->held = 0;
	put(data, REPLACEMENT);
}

static void take_high(struct text_filter *f, unsigned char byte, text_put_fn *put, void *data)
{
	bool first = byte >= 0xC2 && byte <= 0xF4;
	uint32_t c;

	if (first)
		drop_held(f, put, data);
	else if (!f->held || byte >= 0xC0) {
		drop_held(f, put, data);
		put(data, REPLACEMENT);
		return;
	}
	f->hold[f->held++] = (char)byte;
	if (f->held < length_by_first((unsigned char)f->hold[0]))
		return;
	(void)utf8_decode((struct str){ f->hold, f->held }, 0, &c);
	f->held = 0;
	if (c == UTF8_INVALID)
		put(data, REPLACEMENT);
	else if (!unruly(c))
		put(data, c);
}

/* A control character: true. Line ends also end a sequence, or one that was cut off would swallow
 * everything after it. */
static bool take_control(struct text_filter *f, unsigned char byte, text_put_fn *put, void *data)
{
	if (byte >= 0x20 && byte != 0x7F)
		return false;
	if (byte == 0x1B) {
		f->state = FILTER_ESCAPE;
	} else if (byte == '\n' || byte == '\r') {
		f->state = FILTER_TEXT;
		put(data, byte);
	} else if (byte == 0x18 || byte == 0x1A || (byte == '\a' && f->state == FILTER_STRING)) {
		f->state = FILTER_TEXT;
	} else if (f->state == FILTER_TEXT && (byte == '\t' || byte == '\b')) {
		put(data, byte == '\t' ? ' ' : byte);
	}
	return true;
}

/* A byte inside a sequence: true when it belongs to it. */
static bool take_sequence(struct text_filter *f, unsigned char byte, text_put_fn *put, void *data)
{
	if (f->state == FILTER_STRING)
		return true;
	if (f->state == FILTER_TEXT)
		return false;
	if (byte >= 0x80) {
		f->state = FILTER_TEXT;
		return false;
	}
	if (f->state == FILTER_CSI) {
		if (byte < 0x40)
			return true;
		f->state = FILTER_TEXT;
		if (strchr("EFGHf", byte)) /* the cursor goes elsewhere: how spinners begin anew */
			put(data, '\r');
	} else if (byte == '[') {
		f->state = FILTER_CSI;
	} else if (strchr("]PX^_", byte)) {
		f->state = FILTER_STRING;
	} else if (byte >= 0x30) {
		f->state = FILTER_TEXT;
	}
	return true;
}

void text_filter_feed(struct text_filter *f, struct str bytes, text_put_fn *put, void *data)
{
	for (size_t i = 0; i < bytes.len; i++) {
		unsigned char byte = (unsigned char)bytes.p[i];

		if (byte < 0x80)
			drop_held(f, put, data);
		if (take_control(f, byte, put, data) || take_sequence(f, byte, put, data))
			continue;
		if (byte < 0x80)
			put(data, byte);
		else
			take_high(f, byte, put, data);
	}
}

static void put_plain(void *data, uint32_t c)
{
	if (c != '\b')
		utf8_add(data, c < 0x20 ? ' ' : c);
}

/* Nearly all that is shown by the thousand: names and commands. It is shown as it is. */
static bool is_printable(struct str text)
{
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] < ' ' || text.p[i] > '~')
			return false;
	return true;
}

void text_plain_lines(struct buf *b, struct str text)
{
	for (size_t at = 0; at < text.len;) {
		size_t end = str_find(text, '\n', at);

		text_plain(b, str_sub(text, at, end - at));
		if (end < text.len)
			buf_addc(b, '\n');
		at = end + 1;
	}
}

void text_escaped(struct buf *b, struct str text)
{
	AUTO_BUF safe = BUF_INIT;

	if (is_printable(text)) {
		buf_add(b, text);
		return;
	}
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];

		if (c == '\n' || c == '\t' || c == '\r')
			buf_adds(&safe, c == '\n' ? "\\n" : c == '\t' ? "\\t" : "\\r");
		else if (c < 0x20 || c == 0x7f)
			buf_printf(&safe, "\\x%02x", c);
		else
			buf_addc(&safe, (char)c);
	}
	text_plain(b, buf_str(&safe));
}

void text_marked(struct buf *b, struct str text)
{
	uint32_t c;

	for (size_t i = 0; i < text.len;) {
		i += utf8_decode(text, i, &c);
		bool control = (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || bidi_mark(c);
		utf8_add(b, control || c == UTF8_INVALID ? 0xFFFD : c);
	}
}

void text_item(struct buf *b, struct str item)
{
	AUTO_BUF shown = BUF_INIT;

	text_escaped(&shown, item);
	if (width_text(buf_str(&shown)) <= ITEM_COLUMNS) {
		buf_add(b, buf_str(&shown));
		return;
	}
	buf_add(b, width_cut(buf_str(&shown), ITEM_COLUMNS - 1, NULL));
	buf_adds(b, "…");
}

/* Of words such as f/2.sh or v1.2-rc_1. */
static bool in_word(char c)
{
	return isalnum((unsigned char)c) || (unsigned char)c >= 0x80 || strchr("_-./", c);
}

/* Whether it is there as a word of its own: `each` does not say which item `a` is. */
static bool label_tells(struct str label, struct str item)
{
	for (size_t at = 0; at + item.len <= label.len; at++) {
		size_t end = at + item.len;

		if (str_eq(str_sub(label, at, item.len), item) &&
			(!at || !in_word(label.p[at - 1])) &&
			(end == label.len || !in_word(label.p[end])))
			return true;
	}
	return false;
}

void text_name(struct buf *b, struct str path, struct str label, struct str item)
{
	text_plain(b, path);
	if (label.len) {
		buf_addc(b, ' ');
		text_escaped(b, label);
	}
	if (item.len && !label_tells(label, item)) {
		buf_addc(b, ' ');
		text_item(b, item);
	}
}

void text_plain(struct buf *b, struct str text)
{
	struct text_filter f = { 0 };

	if (is_printable(text)) {
		buf_add(b, text);
		return;
	}
	text_filter_feed(&f, text, put_plain, b);
	drop_held(&f, put_plain, b);
}

void last_line_done(struct last_line *l)
{
	buf_done(&l->text);
	*l = (struct last_line){ 0 };
}

static void erase_last(struct buf *b)
{
	size_t len = b->len;

	while (len && ((unsigned char)b->p[len - 1] & 0xC0) == 0x80)
		len--;
	buf_truncate(b, len ? len - 1 : 0);
}

static void put_last(void *data, uint32_t c)
{
	struct last_line *l = data;

	if (c == '\n' || c == '\r') {
		l->open = false; /* the old line stays until a new one says something */
		return;
	}
	if (!l->open && (c == '\b' || utf8_blank(c)))
		return;
	if (!l->open)
		buf_reset(&l->text);
	l->open = true;
	if (c == '\b')
		erase_last(&l->text);
	else if (l->text.len + 4 <= LAST_LINE_BYTES)
		utf8_add(&l->text, c);
}

/* A flood costs no more than its end: behind a line end, nothing before it matters, unless what is
 * behind it is blank. */
static bool feed_end(struct last_line *l, struct str bytes)
{
	size_t line = str_find(bytes, '\n', bytes.len - LOOK_BACK_BYTES);
	struct last_line ahead = { 0 };
	bool says;

	text_filter_feed(&ahead.filter, str_from(bytes, line), put_last, &ahead);
	says = ahead.text.len > 0;
	if (says) {
		buf_swap(&l->text, &ahead.text);
		l->filter = ahead.filter;
		l->open = ahead.open;
	}
	last_line_done(&ahead);
	return says;
}

void last_line_feed(struct last_line *l, struct str bytes)
{
	if (bytes.len <= LOOK_BACK_BYTES || !feed_end(l, bytes))
		text_filter_feed(&l->filter, bytes, put_last, l);
}

void text_write(int fd, struct str s)
{
	while (s.len) {
		ssize_t n = write(fd, s.p, s.len);
		struct pollfd p = { .fd = fd, .events = POLLOUT };

		if (n >= 0)
			s = str_from(s, (size_t)n);
		else if (errno == EAGAIN)
			(void)poll(&p, 1, -1);
		else if (errno != EINTR)
			return;
	}
}

enum { RATE_AFTER_MS = 1000 };

void text_rate(struct buf *b, uint64_t done, uint64_t ms)
{
	double second = ms ? (double)done * 1000 / (double)ms : 0;

	if (!done || ms < RATE_AFTER_MS)
		return;
	if (second >= 100)
		buf_printf(b, ", %.0f/s", second);
	else if (second >= 1)
		buf_printf(b, ", %.1f/s", second);
	else
		buf_printf(b, ", %.1f/min", second * 60);
}
