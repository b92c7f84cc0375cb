/* Parts of what a run has printed, with its secrets masked. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/logs.h"
#include "app/past/handle.h"
#include "app/record/freeze.h"
#include "base/file.h"
#include "runs/dir/events.h"
#include "runs/dir/open.h"

/* A descriptor, or -errno. */
static int open_log(struct run_handle *h, const struct log_window *w)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF word = BUF_INIT;
	struct run_node n = { 0 };

	if (!w->node.len)
		return run_open_path(run_log_path(h, w->stream), O_RDONLY);
	buf_add(&word, w->node);
	if (!run_node_find(h, buf_cstr(&word), 0, &n, &ignored) || n.group)
		return -ENOENT;
	return run_open_path(run_node_path(h, &n, w->stream), O_RDONLY);
}

/* -- a part of it --------------------------------------------------------------------------------
 */

static int read_at(int fd, uint64_t from, size_t count, struct buf *ret)
{
	buf_reserve(ret, count);
	while (count) {
		char piece[16 * 1024];
		ssize_t n = fd_read_at(fd, piece, MIN(count, sizeof(piece)), (off_t)from);

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

/* The name of a secret that is neither written down nor in the environment; empty: there is none.
 */
static struct str missing_secret(const json_t *start)
{
	json_t *name;
	size_t i;

	json_array_foreach(json_object_get(start, "secret_env"), i, name)
	{
		const json_t *variable = json_object_get(
			json_object_get(start, "secret_vars"), json_string_value(name));

		if (!getenv(json_string_value(variable ? variable : name)))
			return json_str(name);
	}
	return S("");
}

bool run_mask(struct run_handle *h, struct mask **ret, struct report *r)
{
	AUTO_REPORT ignored = REPORT_INIT;
	bool known = true;

	*ret = run_dir(h).len ? freeze_mask(run_dir(h), &known) : NULL;
	if (known)
		return true;
	mask_free(*ret);
	*ret = NULL;
	AUTO_JSON *start = freeze_json(run_dir(h), "start.json", true, &ignored);
	struct str missing = missing_secret(start);
	if (missing.len)
		return report_error(r, (struct where){ 0 },
			"the secret '%.*s' of the run '%.*s' is not in the environment of this "
			"process",
			STR(missing), STR(run_id(h)));
	/* What is wrong with the file is not told: it may have the secret. */
	return report_error(r, (struct where){ 0 },
		"the secrets of the run '%.*s' are not known: its %s cannot be read",
		STR(run_id(h)), start ? "values.json" : "start.json");
}
