/* Parts of what a run has printed, with its secrets masked. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/logs.h"
#include "app/past/handle.h"
#include "app/record/freeze.h"
#include "base/file.h"
#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

/* -- what one command printed --------------------------------------------------------------------
 */

/* The command that is meant, and which execution of it was the last. */
struct meant {
	struct arena arena;
	struct str wanted, path;
	uint64_t number;
};

static bool see_start(void *data, struct str line, uint64_t seq)
{
	struct meant *m = data;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *event = NULL;

	(void)seq;
	if (!str_contains(line, S("\"command.start\"")))
		return true;
	event = json_read(&(struct source){ S("event"), line }, &ignored);
	struct str path = json_text_of(event, "path");
	if (str_eq(path, m->wanted) || str_eq(json_text_of(event, "label"), m->wanted))
		m->path = arena_str(&m->arena, path);
	return true;
}

static bool see_leaf(void *data, const struct leaf_line *line)
{
	struct meant *m = data;

	if (line->kind == LEAF_START && str_eq(line->path, m->path))
		m->number = line->record.number;
	return true;
}

/* Adds the name of the file below the run's directory. False: there is none. */
static bool node_log(struct run_handle *h, const struct log_window *w, struct buf *name)
{
	struct meant m = { .wanted = w->node };
	AUTO_BUF dir = BUF_INIT;
	AUTO_BUF leaves = BUF_INIT;

	buf_add(&dir, run_dir(h));
	(void)events_each(buf_cstr(&dir), 0, see_start, &m);
	buf_printf(&leaves, "%s/%s", buf_cstr(&dir), LEAVES_FILE);
	if (m.path.len)
		(void)leaf_lines_each(buf_cstr(&leaves), see_leaf, &m);
	bool found = m.number && output_file(name, m.path, m.number, w->stream == LOG_STDERR);
	arena_done(&m.arena);
	return found;
}

static int open_log(struct run_handle *h, const struct log_window *w)
{
	AUTO_BUF dir = BUF_INIT;
	AUTO_BUF name = BUF_INIT;

	if (!w->node.len)
		return run_open_path(run_log_path(h, w->stream), O_RDONLY);
	buf_add(&dir, run_dir(h));
	return node_log(h, w, &name) ? run_open(buf_cstr(&dir), buf_cstr(&name), O_RDONLY)
				     : -ENOENT;
}

/* -- a part of it --------------------------------------------------------------------------------
 */

static int read_at(int fd, uint64_t from, size_t count, struct buf *ret)
{
	buf_reserve(ret, count);
	while (count) {
		char piece[16 * 1024];
		ssize_t n = pread(fd, piece, MIN(count, sizeof(piece)), (off_t)from);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		buf_add(ret, (struct str){ piece, (size_t)n });
		from += (uint64_t)n;
		count -= (size_t)n;
	}
	return 0;
}

int run_log_window(
	struct run_handle *h, const struct log_window *w, struct buf *buf, struct log_found *ret)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_CLOSE int fd = open_log(h, w);
	struct stat st;

	*ret = (struct log_found){ 0 };
	if (fd < 0)
		return fd == -ENOENT && !w->node.len ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	uint64_t size = (uint64_t)st.st_size;
	uint64_t from = w->tail ? (size > w->max ? size - w->max : 0) : MIN(w->offset, size);
	uint64_t end = MIN(size, from + w->max);
	/* A secret across the border is only found with what is on both sides of it. */
	uint64_t margin = mask_longest(w->mask);
	uint64_t before = MIN(from, margin), behind = MIN(size - end, margin);
	int e = read_at(fd, from - before, (size_t)(before + (end - from) + behind), &text);
	if (e < 0)
		return e;
	mask_bytes(w->mask, &text);
	size_t skip = MIN((size_t)before, text.len);
	struct str part = str_sub(buf_str(&text), skip, MIN((size_t)(end - from), text.len - skip));
	buf_add(buf, part);
	*ret = (struct log_found){ .offset = from, .next = from + part.len, .size = size };
	return 0;
}

/* -- its events ----------------------------------------------------------------------------------
 */

int run_events_each(struct run_handle *h, uint64_t from, run_event_fn *see, void *data)
{
	AUTO_BUF dir = BUF_INIT;

	buf_add(&dir, run_dir(h));
	return dir.len ? events_each(buf_cstr(&dir), from, see, data) : 0;
}

/* -- its secrets ---------------------------------------------------------------------------------
 */

bool run_mask(struct run_handle *h, struct mask **ret, struct report *r)
{
	bool known = true;

	*ret = run_dir(h).len ? freeze_mask(run_dir(h), &known) : NULL;
	if (known)
		return true;
	mask_free(*ret);
	*ret = NULL;
	return report_error(r, (struct where){ 0 },
		"a secret of the run '%.*s' is not in the environment of this process",
		STR(run_id(h)));
}
