/* Parts of a log as lines, and what is in it. The cost is that of the part, whatever the size of
 * the log. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/logs.h"
#include "app/past/nodes.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "runs/dir/open.h"

/* -- the file ------------------------------------------------------------------------------------
 */

int run_log_open(struct run_handle *h, struct str node, uint64_t attempt, enum log_stream stream)
{
	struct executions n;

	if (!node.len)
		return run_open_path(run_log_path(h, stream), O_RDONLY);
	int e = run_executions(h, node, attempt, &n);
	if (e < 0)
		return e;
	if (!n.number)
		return -ENOENT;
	struct run_node found = { .path = node, .number = n.number };
	return run_open_path(run_node_path(h, &found, stream), O_RDONLY);
}

static int read_at(int fd, uint64_t from, size_t count, struct buf *ret)
{
	size_t begin = ret->len;

	buf_reserve(ret, count + 1);
	while (count) {
		ssize_t n = pread(fd, ret->p + ret->len, count, (off_t)from);

		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		ret->len += (size_t)n;
		from += (uint64_t)n;
		count -= (size_t)n;
	}
	if (ret->len > begin)
		ret->p[ret->len] = '\0';
	return 0;
}

/* [from, to) with its secrets masked, also those that begin or end outside of it. */
static int read_masked(
	int fd, struct mask *mask, uint64_t from, uint64_t to, uint64_t size, struct buf *ret)
{
	uint64_t margin = mask_longest(mask);
	uint64_t before = MIN(from, margin), behind = MIN(size - to, margin);
	int e = read_at(fd, from - before, (size_t)(before + (to - from) + behind), ret);

	if (e < 0)
		return e;
	mask_bytes(mask, ret);
	buf_drop(ret, MIN((size_t)before, ret->len));
	if (ret->len > to - from)
		buf_truncate(ret, (size_t)(to - from));
	return 0;
}

/* -- lines ---------------------------------------------------------------------------------------
 */

/* Where the line begins that has the byte `at`; of a very long one, where its part does. */
static uint64_t line_begin(int fd, uint64_t at)
{
	AUTO_BUF text = BUF_INIT;
	uint64_t from = at > SLICE_LINE ? at - SLICE_LINE : 0;

	if (!at || read_at(fd, from, (size_t)(at - from), &text) < 0)
		return at;
	for (size_t i = text.len; i; i--)
		if (text.p[i - 1] == '\n')
			return from + i;
	return from ? at : 0;
}

struct telling {
	struct str text;
	uint64_t from, size;
	bool whole;
	log_line_fn *see;
	void *data;
};

/* The next line at `at`: its length with its end; 0: there is none. */
static size_t next_line(const struct telling *t, size_t at, struct log_line *ret)
{
	size_t end = str_find(t->text, '\n', at), len = end - at;
	bool ended = end < t->text.len;

	if (at >= t->text.len)
		return 0;
	*ret = (struct log_line){ .offset = t->from + at, .ended = ended };
	if (len > SLICE_LINE) {
		ret->cut = true;
		ret->ended = false;
		ret->text = utf8_cut(str_sub(t->text, at, SLICE_LINE), SLICE_LINE);
		if (!ret->text.len)
			ret->text = str_sub(t->text, at, SLICE_LINE);
		return ret->text.len;
	}
	ret->text = str_sub(t->text, at, len);
	if (ended)
		return len + 1;
	/* The rest of it is behind what was read. */
	if (t->from + t->text.len < t->size)
		return 0;
	return t->whole ? 0 : len;
}

static size_t tell(const struct telling *t, size_t from, size_t lines)
{
	struct log_line line;
	size_t n;

	for (; lines && (n = next_line(t, from, &line)); lines--, from += n)
		t->see(t->data, &line);
	return from;
}

/* Where the last `lines` of the text begin. */
static size_t last_lines(struct telling *t, size_t from, size_t lines)
{
	size_t *begins = mem_alloc(lines * sizeof(*begins)), count = 0, at = from, n;
	struct log_line line;

	for (; (n = next_line(t, at, &line)); at += n)
		begins[count++ % lines] = at;
	size_t begin = count > lines ? begins[count % lines] : from;
	free(begins);
	return begin;
}

int run_log_lines(struct run_handle *h, const struct log_slice *s, log_line_fn *see, void *data,
	struct log_found *ret)
{
	AUTO_CLOSE int fd = run_log_open(h, s->node, s->attempt, s->stream);
	AUTO_BUF text = BUF_INIT;
	size_t lines = s->lines && s->lines < SLICE_LINES ? s->lines : SLICE_LINES, begin = 0;
	struct stat st;

	*ret = (struct log_found){ 0 };
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	uint64_t size = (uint64_t)st.st_size, at = MIN(s->at, size), from, to;
	if (s->kind == SLICE_FROM) {
		from = at == size ? size : line_begin(fd, at);
		to = MIN(size, from + SLICE_BYTES);
	} else {
		to = s->kind == SLICE_TAIL ? size : at;
		from = to > SLICE_BYTES ? to - SLICE_BYTES : 0;
	}
	int e = read_masked(fd, s->mask, from, to, size, &text);
	if (e < 0)
		return e;
	struct telling t = { .text = buf_str(&text),
		.from = from,
		.size = s->kind == SLICE_BACK ? to : size,
		.whole = s->whole,
		.see = see,
		.data = data };
	if (s->kind != SLICE_FROM) {
		/* The first line may be only a part. */
		if (from) {
			size_t first = str_find(t.text, '\n', 0);

			begin = first < t.text.len && first <= SLICE_LINE ? first + 1 : 0;
		}
		begin = last_lines(&t, begin, lines);
	}
	size_t end = tell(&t, begin, lines);
	*ret = (struct log_found){ .offset = from + begin, .next = from + end, .size = size };
	return 0;
}

int64_t log_count_lines(int fd, uint64_t from, uint64_t until)
{
	enum { PIECE = 256 << 10 };
	AUTO_FREE char *piece = mem_alloc(PIECE);
	int64_t count = 0;

	while (from < until) {
		ssize_t n =
			pread(fd, piece, MIN((size_t)PIECE, (size_t)(until - from)), (off_t)from);

		if (n <= 0)
			return n < 0 ? -errno : count;
		for (const char *p = piece, *end = piece + n;
			(p = memchr(p, '\n', (size_t)(end - p))); p++)
			count++;
		from += (uint64_t)n;
	}
	return count;
}

/* -- finding -------------------------------------------------------------------------------------
 */

enum { FIND_CONTEXT = 120, FIND_PIECE = 1 << 20 };

struct log_find {
	int fd;
	struct buf text; /* in lower case when case does not count */
	bool nocase;
	size_t rare; /* the place in it of the letter that is looked for first */
	uint64_t at;
	struct mask *mask; /* a reference */
	struct buf piece;
	bool over;
};

/* How often letters come in logs, the rarest first; what is not here is rarer. */
static int rarity(char c)
{
	static const char common[] = "zqjxkvbwfygpumhcldrinsoate0123456789 ";
	const char *p = c ? strchr(common, c) : NULL;

	return p ? (int)(p - common) + 1 : 0;
}

static char small(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

struct log_find *log_find_open(int fd, struct str text, uint64_t from, struct mask *mask)
{
	struct log_find *f = mem_new(struct log_find);

	f->fd = fd;
	f->at = from;
	f->mask = mask ? mask_ref(mask) : NULL;
	f->nocase = true;
	for (size_t i = 0; i < text.len; i++)
		f->nocase &= !(text.p[i] >= 'A' && text.p[i] <= 'Z');
	buf_add(&f->text, text);
	for (size_t i = 1; i < text.len; i++)
		if (rarity(small(text.p[i])) < rarity(small(text.p[f->rare])))
			f->rare = i;
	f->over = !text.len;
	return f;
}

void log_find_close(struct log_find *f)
{
	if (!f)
		return;
	if (f->fd >= 0)
		(void)close(f->fd);
	mask_free(f->mask);
	buf_done(&f->text);
	buf_done(&f->piece);
	free(f);
}

uint64_t log_find_at(const struct log_find *f)
{
	return f->at;
}

static bool matches(const struct log_find *f, const char *p)
{
	for (size_t i = 0; i < f->text.len; i++)
		if (small(p[i]) != f->text.p[i])
			return false;
	return true;
}

/* The first match at or behind `from`; s.len: none. */
static size_t next_nocase(const struct log_find *f, struct str s, size_t from)
{
	char low = f->text.p[f->rare], high = low >= 'a' && low <= 'z' ? (char)(low - 32) : low;
	size_t a = from, b = low == high ? s.len : from;
	bool know_a = false, know_b = low == high;

	while (s.len >= f->text.len) {
		const char *p;

		if (!know_a) {
			p = a < s.len ? memchr(s.p + a, low, s.len - a) : NULL;
			a = p ? (size_t)(p - s.p) : s.len;
			know_a = true;
		}
		if (!know_b) {
			p = b < s.len ? memchr(s.p + b, high, s.len - b) : NULL;
			b = p ? (size_t)(p - s.p) : s.len;
			know_b = true;
		}
		size_t at = MIN(a, b);
		if (at == s.len)
			return s.len;
		if (at >= f->rare && at - f->rare >= from && at - f->rare + f->text.len <= s.len &&
			matches(f, s.p + at - f->rare))
			return at - f->rare;
		if (a == at) {
			a++;
			know_a = false;
		}
		if (b == at) {
			b++;
			know_b = low == high;
		}
	}
	return s.len;
}

static size_t next_match(const struct log_find *f, struct str s, size_t from)
{
	if (f->nocase)
		return next_nocase(f, s, from);
	const char *p =
		from < s.len ? memmem(s.p + from, s.len - from, f->text.p, f->text.len) : NULL;
	return p ? (size_t)(p - s.p) : s.len;
}

static struct log_hit hit_of(struct str s, size_t at, size_t len, uint64_t offset)
{
	size_t from = at, to = at + len;

	while (from && s.p[from - 1] != '\n' && at - from < FIND_CONTEXT)
		from--;
	while (to < s.len && s.p[to] != '\n' && to - at - len < FIND_CONTEXT)
		to++;
	return (struct log_hit){ .offset = offset,
		.before = str_sub(s, from, at - from),
		.match = str_sub(s, at, len),
		.after = str_sub(s, at + len, to - at - len) };
}

bool log_find_step(struct log_find *f, size_t bytes, log_hit_fn *see, void *data)
{
	for (size_t done = 0; done < bytes && !f->over; done += FIND_PIECE) {
		/* What is before it is context, and part of a secret. */
		uint64_t lead =
			MIN(f->at, (uint64_t)MAX((size_t)FIND_CONTEXT, mask_longest(f->mask)));
		size_t tail = f->text.len + FIND_CONTEXT + mask_longest(f->mask);

		buf_reset(&f->piece);
		if (read_at(f->fd, f->at - lead, (size_t)lead + FIND_PIECE + tail, &f->piece) < 0) {
			f->over = true;
			break;
		}
		mask_bytes(f->mask, &f->piece);
		struct str s = buf_str(&f->piece);
		size_t end = MIN((size_t)lead + FIND_PIECE, s.len);
		for (size_t at = (size_t)lead; (at = next_match(f, s, at)) < end; at++) {
			struct log_hit hit = hit_of(s, at, f->text.len, f->at - lead + at);

			if (see(data, &hit))
				continue;
			f->at = hit.offset + 1;
			return true;
		}
		f->over = s.len < (size_t)lead + FIND_PIECE;
		f->at = f->at - lead + end;
	}
	return !f->over;
}
