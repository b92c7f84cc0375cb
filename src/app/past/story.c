/* What the commands of a run have printed, in the order in which it came. */
#include "runs/dir/story.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/logs.h"
#include "app/past/handle.h"
#include "app/past/nodes.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/node-path.h"
#include "base/plain-text.h"
#include "runs/dir/follower.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"
#include "runs/dir/run-dir.h"

enum { LINE_BYTES = 4096, CHUNK = 64 * 1024 };

/* One execution that has printed something. */
struct teller {
	struct str path;
	uint64_t number;
	struct str name;    /* "1.0 lint f/2.sh" */
	uint64_t at[2];     /* how far its two files have been told */
	struct buf rest[2]; /* a line that has no end yet */
	bool noted;         /* there are lines of the story about it */
};

struct story {
	struct run_handle *run;
	struct arena arena;
	struct map tellers; /* path and number → struct teller */
	struct follower lines;
	struct str under;
	bool begun;
	struct buf out; /* lines that have not been handed on */
	/* During a read: */
	story_fn *write;
	void *data;
	int error; /* -errno */
};

static void hand_on(struct story *s)
{
	if (s->out.len && !s->error)
		s->error = s->write(s->data, buf_str(&s->out));
	buf_reset(&s->out);
}

static struct teller *teller_of(struct story *s, struct str path, uint64_t number)
{
	AUTO_BUF key = BUF_INIT;

	buf_printf(&key, "%.*s %" PRIu64, STR(path), number);
	void **place = map_put(&s->tellers, &s->arena, buf_str(&key));
	if (!*place) {
		struct teller *t = arena_new(&s->arena, struct teller);

		t->path = t->name = arena_str(&s->arena, path);
		t->number = number;
		*place = t;
	}
	return *place;
}

static void name_teller(struct story *s, struct teller *t, struct str label, struct str item)
{
	AUTO_BUF name = BUF_INIT;

	if (!label.len && !item.len)
		return;
	text_name(&name, t->path, label, item);
	t->name = arena_str(&s->arena, buf_str(&name));
}

/* -- lines ---------------------------------------------------------------------------------------
 */

static void put_line(struct story *s, const struct teller *t, struct str line)
{
	buf_addc(&s->out, '[');
	text_plain(&s->out, t->name);
	buf_adds(&s->out, "] ");
	text_plain(&s->out, str_ends(line, S("\r")) ? str_sub(line, 0, line.len - 1) : line);
	buf_addc(&s->out, '\n');
	if (s->out.len > CHUNK)
		hand_on(s);
}

static void put_text(struct story *s, struct teller *t, bool err, struct str text)
{
	struct buf *rest = &t->rest[err];

	while (text.len) {
		size_t end = str_find(text, '\n', 0);
		size_t take = MIN(end, LINE_BYTES - rest->len);

		buf_add(rest, str_sub(text, 0, take));
		if (take == end && end == text.len)
			return; /* its line continues */
		put_line(s, t, buf_str(rest));
		buf_reset(rest);
		text = str_from(text, take == end ? end + 1 : take);
	}
}

static void put_rest(struct story *s, struct teller *t)
{
	for (int err = 0; err < 2; err++) {
		if (t->rest[err].len)
			put_line(s, t, buf_str(&t->rest[err]));
		buf_reset(&t->rest[err]);
	}
}

/* A line in place of what is not there. */
static void put_missing(struct story *s, struct teller *t, bool err, int error)
{
	AUTO_BUF text = BUF_INIT;
	const char *stream = err ? "error" : "output";

	if (error == ENOENT || error == ENOTDIR)
		buf_printf(&text, "(standard %s is gone)", stream);
	else
		buf_printf(&text, "(cannot read standard %s: %s)", stream, strerror(error));
	put_line(s, t, buf_str(&text));
}

/* Tells its file up to `to`. */
static void put_file(struct story *s, struct teller *t, bool err, uint64_t to)
{
	AUTO_BUF name = BUF_INIT;
	AUTO_BUF dir = BUF_INIT;

	if (to <= t->at[err] || !node_path_within(t->path, s->under) ||
		!output_file(&name, t->path, t->number, err))
		return;
	buf_add(&dir, run_dir(s->run));
	AUTO_CLOSE int fd = run_open(buf_cstr(&dir), buf_cstr(&name), O_RDONLY);
	AUTO_FREE char *chunk = mem_alloc(CHUNK);
	while (fd >= 0 && !s->error && t->at[err] < to) {
		ssize_t n = fd_read_at(fd, chunk, (size_t)MIN(to - t->at[err], (uint64_t)CHUNK),
			(off_t)t->at[err]);

		if (n <= 0) {
			put_missing(s, t, err, n < 0 ? errno : ENOENT);
			break;
		}
		put_text(s, t, err, (struct str){ chunk, (size_t)n });
		t->at[err] += (uint64_t)n;
	}
	if (fd < 0)
		put_missing(s, t, err, -fd);
	t->at[err] = to;
}

/* -- the story -----------------------------------------------------------------------------------
 */

static bool see_line(void *data, const struct followed_line *text)
{
	struct story *s = data;
	struct arena a = ARENA_INIT;
	struct story_line line;

	if (story_read(text->text, &a, &line)) {
		struct teller *t = teller_of(s, line.path, line.number);

		t->noted = true;
		name_teller(s, t, line.label, line.item);
		if (line.kind == STORY_END)
			put_rest(s, t);
		else
			put_file(s, t, line.kind == STORY_ERR, line.bytes);
	}
	arena_done(&a);
	return true;
}

static bool note_line(void *data, const struct followed_line *text)
{
	struct story *s = data;
	struct arena a = ARENA_INIT;
	struct story_line line;

	if (story_read(text->text, &a, &line))
		teller_of(s, line.path, line.number)->noted = true;
	arena_done(&a);
	return true;
}

/* Commands that were reused, or ran when roux did not write stories yet: what they printed comes
 * first, one after the other. */
static void see_leaf(void *data, struct str path, const struct leaf_record *leaf)
{
	struct story *s = data;

	if (!leaf->ended || !(leaf->out_bytes || leaf->err_bytes))
		return;
	struct teller *t = teller_of(s, path, leaf->number);
	if (t->noted)
		return;
	const struct past_name *n = past_name_find(s->run, path);
	if (n)
		name_teller(s, t, n->label, n->item);
	put_file(s, t, true, leaf->err_bytes);
	put_file(s, t, false, leaf->out_bytes);
	put_rest(s, t);
}

static void begin(struct story *s)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct follower first;

	s->begun = true;
	follower_init(&first, arena_cstr(&a, run_dir(s->run)), STORY_FILE, 0);
	(void)follower_read(&first, note_line, s);
	follower_done(&first);
	struct leaves *leaves = leaves_read(run_file(&a, run_dir(s->run), LEAVES_FILE), &ignored);
	if (leaves)
		leaves_each(leaves, see_leaf, s);
	leaves_free(leaves);
	arena_done(&a);
}

int run_story_read(struct story *s, bool last, story_fn *write, void *data)
{
	s->write = write;
	s->data = data;
	if (!s->begun)
		begin(s);
	int e = follower_read(&s->lines, see_line, s);
	if (last)
		map_each (entry, &s->tellers)
			put_rest(s, entry->value);
	hand_on(s);
	return s->error ? s->error : e;
}

struct story *run_story_open(struct run_handle *h, struct str under)
{
	struct story *s = mem_new(struct story);

	s->run = h;
	s->under = under.len ? arena_str(&s->arena, under) : S(".");
	follower_init(&s->lines, arena_cstr(&s->arena, run_dir(h)), STORY_FILE, 0);
	return s;
}

void run_story_close(struct story *s)
{
	if (!s)
		return;
	map_each (entry, &s->tellers) {
		struct teller *t = entry->value;

		buf_done(&t->rest[0]);
		buf_done(&t->rest[1]);
	}
	follower_done(&s->lines);
	buf_done(&s->out);
	arena_done(&s->arena);
	free(s);
}
