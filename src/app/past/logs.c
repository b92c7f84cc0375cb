#include "app/logs.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/past/handle.h"
#include "base/file.h"
#include "base/run-status.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"

static const char *const names[] = { [LOG_STDOUT] = "stdout.log", [LOG_STDERR] = "stderr.log" };

const char *run_log_path(struct run_handle *h, enum log_stream stream)
{
	struct buf *path = &h->log_paths[stream];

	buf_reset(path);
	buf_printf(path, "%.*s/%s", STR(run_dir(h)), names[stream]);
	return buf_cstr(path);
}

/* `wanted`: the file has to be there. */
static int read_behind(
	const char *path, bool wanted, struct log_cursor *c, size_t max, struct buf *ret)
{
	AUTO_CLOSE int fd = run_open_path(path, O_RDONLY);
	struct stat st;

	if (fd < 0)
		return fd == -ENOENT && !wanted ? 0 : fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_ino != c->file || (uint64_t)st.st_size < c->at)
		c->at = c->file ? 0 : c->at;
	c->file = st.st_ino;
	while (max) {
		char piece[16 * 1024];
		ssize_t n = fd_read_at(fd, piece, MIN(max, sizeof(piece)), (off_t)c->at);

		if (n <= 0)
			return n < 0 ? -errno : 0;
		buf_add(ret, (struct str){ piece, (size_t)n });
		c->at += (uint64_t)n;
		max -= (size_t)n;
	}
	return 0;
}

int run_log_read(struct run_handle *h, struct log_cursor *c, size_t max, struct buf *ret)
{
	if (!run_dir(h).len)
		return 0; /* it is not recorded */
	/* A run that is done has left its output, empty or not. */
	bool wanted = c->stream == LOG_STDOUT && h->ended && status_ok(run_status(h));

	return read_behind(run_log_path(h, c->stream), wanted, c, max, ret);
}

const char *run_node_path(struct run_handle *h, const struct run_node *n, enum log_stream stream)
{
	struct buf *path = &h->log_paths[stream];

	buf_reset(path);
	buf_printf(path, "%.*s/", STR(run_dir(h)));
	if (!output_file(path, n->path, n->number, stream == LOG_STDERR))
		buf_adds(path, OUTPUTS_DIR "/-");
	return buf_cstr(path);
}

int run_node_read(struct run_handle *h, const struct run_node *n, struct log_cursor *c, size_t max,
	struct buf *ret)
{
	bool wanted = c->stream == LOG_STDERR ? n->has_err : n->has_out;

	return read_behind(run_node_path(h, n, c->stream), wanted, c, max, ret);
}

int run_kept_read(const char *dir, const char *name, size_t max, struct buf *ret)
{
	return run_read(dir, name, max, ret);
}
