#include "app/record/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/record/launch.h"
#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/plain-text.h"
#include "engine/capture.h"
#include "engine/run.h"
#include "runs/dir/events.h"
#include "runs/dir/lines.h"
#include "runs/dir/open.h"
#include "runs/dir/outputs.h"
#include "runs/dir/story.h"

enum { LINE_MAX_KEPT = 64 * 1024, ERRORS_MAX_KEPT = 1 << 20, LAST_WORD_MAX = 4096 };

/* -- opening -------------------------------------------------------------------------------------
 */

/* A disk that is full may take half a line. */
static int append(int fd, struct str lines)
{
	int r = fd_write_all(fd, lines);

	if (r < 0)
		(void)lines_drop_cut(fd);
	return r;
}

static int open_lines(struct record_files *f, const char *name, int *ret)
{
	*ret = run_open_at(f->dirfd, name, O_RDWR | O_CREAT | O_APPEND);
	int r = *ret < 0 ? *ret : lines_drop_cut(*ret);
	/* The next one who asks for it tries again. */
	if (r < 0)
		close_fd(ret);
	return r;
}

static int open_events(struct record_files *f)
{
	if (f->events >= 0)
		return 0;
	int r = open_lines(f, EVENTS_FILE, &f->events);
	off_t end = r < 0 ? r : lseek(f->events, 0, SEEK_END);
	if (r == 0 && end < 0)
		r = -errno;
	if (r == 0)
		f->events_bytes = (uint64_t)end;
	else
		close_fd(&f->events);
	return r;
}

static int open_errors(struct record_files *f)
{
	if (f->errors < 0)
		f->errors = run_open_at(f->dirfd, "stderr.log", O_WRONLY | O_CREAT | O_APPEND);
	return MIN(f->errors, 0);
}

/* An earlier result is kept under a number, whose name is written to `name`. */
static int keep_result(struct record_files *f, char name[32])
{
	for (int n = 1; n < 100000; n++) {
		(void)snprintf(name, 32, "result.%d.json", n);
		if (faccessat(f->dirfd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
			continue;
		return renameat(f->dirfd, "result.json", f->dirfd, name) < 0 && errno != ENOENT
			       ? -errno
			       : 0;
	}
	return -EEXIST;
}

static int make_output(struct record_files *f)
{
	AUTO_CLOSE int out = run_open_at(f->dirfd, "stdout.log", O_WRONLY | O_CREAT);

	f->made = out >= 0;
	return MIN(out, 0);
}

int record_files_put_away(struct record_files *f)
{
	char kept[32];
	int r = keep_result(f, kept);

	if (r < 0)
		return r;
	/* It may be another name of what a command printed: never written over, always new. */
	if ((unlinkat(f->dirfd, "stdout.log", 0) < 0 && errno != ENOENT) ||
		(f->durable && fsync(f->dirfd) < 0)) {
		r = -errno;
		(void)renameat(f->dirfd, kept, f->dirfd, "result.json");
		return r;
	}
	(void)make_output(f); /* if not now, when something is written to it */
	return 0;
}

int record_files_open_first(
	struct record_files *f, struct str dir, int own, bool resume, bool durable, uint64_t *seq)
{
	AUTO_BUF path = BUF_INIT;

	*f = (struct record_files){ .dir = dir,
		.dirfd = -1,
		.leaves = -1,
		.events = -1,
		.errors = -1,
		.story = -1,
		.out = -1,
		.durable = durable,
		.resumes = resume,
		.spares = { -1, -1, -1 } };
	*seq = 0;
	buf_add(&path, dir);
	if (own < 0)
		f->dirfd = run_open_dir(buf_cstr(&path), ".", false);
	else if ((f->dirfd = fcntl(own, F_DUPFD_CLOEXEC, 0)) < 0)
		return -errno;
	if (f->dirfd < 0)
		return f->dirfd;
	int r = open_lines(f, LEAVES_FILE, &f->leaves);
	if (r < 0 || !resume)
		return r;
	r = open_events(f);
	*seq = events_count(buf_cstr(&path));
	return r;
}

int record_files_open_rest(struct record_files *f)
{
	int r = open_events(f);

	r = r < 0 ? r : open_errors(f);
	r = r < 0 || f->resumes ? r : make_output(f);
	return r == 0 && f->durable && fsync(f->dirfd) < 0 ? -errno : r;
}

void record_files_prepare(struct record_files *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(f->spares); i++)
		if (f->spares[i] < 0)
			f->spares[i] = atomic_spare(f->dirfd);
}

/* The next one that was made beforehand; NULL: there is none. */
static int *spare(struct record_files *f)
{
	for (size_t i = 0; i < ARRAY_SIZE(f->spares); i++)
		if (f->spares[i] >= 0)
			return &f->spares[i];
	return NULL;
}

void record_files_done(struct record_files *f)
{
	close_fd(&f->dirfd);
	close_fd(&f->leaves);
	close_fd(&f->events);
	close_fd(&f->errors);
	close_fd(&f->story);
	close_fd(&f->out);
	for (size_t i = 0; i < ARRAY_SIZE(f->spares); i++)
		close_fd(&f->spares[i]);
	map_each (entry, &f->partial)
		buf_done(entry->value);
	arena_done(&f->arena);
	buf_done(&f->events_text);
	buf_done(&f->story_text);
	buf_done(&f->errors_text);
}

static int synced(const struct record_files *f, int fd, int r)
{
	return r == 0 && f->durable && fdatasync(fd) < 0 ? -errno : r;
}

int record_files_line(struct record_files *f, struct str line)
{
	return synced(f, f->leaves, fd_write_all(f->leaves, line));
}

int record_files_stdin(struct record_files *f)
{
	return run_open_at(f->dirfd, "stdin.part", O_RDWR | O_CREAT | O_TRUNC);
}

static void keep_stdin(struct record_files *f, int fd)
{
	if (fd >= 0 && f->durable)
		(void)fsync(fd);
	(void)renameat(f->dirfd, "stdin.part", f->dirfd, "stdin");
	if (f->durable)
		(void)fsync(f->dirfd);
}

/* Its length is recorded, so that one that is cut later is not taken for the whole. */
void record_files_stdin_complete(struct record_files *f)
{
	AUTO_CLOSE int fd = run_open_at(f->dirfd, "stdin.part", O_RDONLY);
	AUTO_BUF line = BUF_INIT;
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 0) {
		leaf_input_line(&line, (uint64_t)st.st_size, true, clock_real_ms());
		(void)record_files_line(f, buf_str(&line));
	}
	keep_stdin(f, fd);
}

/* The descriptor by which it was written may be open still: what it takes of a full disk is given
 * back now, for the result. */
static void drop_stdin(struct record_files *f)
{
	AUTO_CLOSE int fd = run_open_at(f->dirfd, "stdin.part", O_WRONLY | O_TRUNC);

	(void)unlinkat(f->dirfd, "stdin.part", 0);
}

void record_files_stdin_taken(struct record_files *f, uint64_t bytes, bool enough)
{
	AUTO_CLOSE int fd = enough ? run_open_at(f->dirfd, "stdin.part", O_WRONLY) : -1;
	AUTO_BUF line = BUF_INIT;

	/* First the line: a part must never be taken for the whole. */
	leaf_input_line(&line, bytes, false, clock_real_ms());
	if (fd >= 0 && ftruncate(fd, (off_t)bytes) == 0 &&
		record_files_line(f, buf_str(&line)) == 0)
		keep_stdin(f, fd);
	else
		drop_stdin(f);
}

int record_files_progress(struct record_files *f, const struct record_progress *p)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text,
		"{\n  \"phase\": \"%s\",\n  \"active\": %" PRIu64 ",\n  \"completed\": %" PRIu64
		",\n  \"failed\": %" PRIu64 ",\n  \"tolerated\": %" PRIu64 ",\n  \"expected\": ",
		p->phase, p->active, p->completed, p->failed, p->tolerated);
	if (p->expected)
		buf_printf(&text, "%" PRIu64, *p->expected);
	else
		buf_adds(&text, "null");
	buf_adds(&text, ",\n  \"updated\": \"");
	clock_rfc3339(&text, clock_real_ms());
	buf_adds(&text, "\"\n}\n");
	return atomic_write_at(f->dirfd, "progress.json", buf_str(&text),
		&(struct atomic_options){ .quick = true, .spare = spare(f) });
}

int record_files_replace(struct record_files *f, const char *name, struct str text)
{
	return atomic_write_at(f->dirfd, name, text,
		&(struct atomic_options){
			.quick = true, .durable = f->durable, .spare = spare(f) });
}

bool record_files_full(int error)
{
	return error == -ENOSPC || error == -EDQUOT;
}

int record_files_last_word(struct record_files *f, struct str text)
{
	static const char temp[] = ATOMIC_PREFIX "result";
	struct stat st;

	if (text.len > LAST_WORD_MAX)
		return -ENOSPC;
	/* Half of it is never seen under a name that is read. */
	if (renameat(f->dirfd, "progress.json", f->dirfd, temp) < 0 &&
		renameat(f->dirfd, "communication.json", f->dirfd, temp) < 0)
		return -errno;
	AUTO_CLOSE int fd = run_open_at(f->dirfd, temp, O_WRONLY);
	int r = fd < 0 ? fd : fstat(fd, &st) < 0 ? -errno : 0;
	/* Written over, in the block that it has; what was longer is cut. */
	if (r == 0)
		r = fd_write_all(fd, text);
	if (r == 0 && (uint64_t)st.st_size > text.len && ftruncate(fd, (off_t)text.len) < 0)
		r = -errno;
	if (r == 0 && f->durable && fsync(fd) < 0)
		r = -errno;
	if (r == 0 && renameat(f->dirfd, temp, f->dirfd, "result.json") < 0)
		r = -errno;
	if (r < 0)
		(void)unlinkat(f->dirfd, temp, 0);
	return r == 0 && f->durable && fsync(f->dirfd) < 0 ? -errno : r;
}

/* What has grown to its limit becomes events.1.jsonl. */
static int rotate_events(struct record_files *f)
{
	AUTO_BUF dir = BUF_INIT;
	struct line_log log;
	int fd = -1;

	buf_add(&dir, f->dir);
	line_log_init(&log, buf_cstr(&dir), EVENTS_FILE, LINES_MAX_BYTES);
	int r = line_log_rotate(&log, S(""));
	line_log_done(&log);
	r = r < 0 ? r : open_lines(f, EVENTS_FILE, &fd);
	if (r < 0)
		return r;
	close_fd(&f->events);
	f->events = fd;
	f->events_bytes = 0;
	return 0;
}

/* In which order outputs have come: for people who read, so the run does not fail when it cannot be
 * written. */
static void flush_story(struct record_files *f)
{
	if (!f->story_text.len)
		return;
	if (f->story < 0)
		f->story = run_open_at(f->dirfd, STORY_FILE, O_WRONLY | O_CREAT | O_APPEND);
	if (f->story >= 0)
		(void)fd_write_all(f->story, buf_str(&f->story_text));
	buf_reset(&f->story_text);
}

int record_files_flush(struct record_files *f)
{
	flush_story(f);
	int r = f->events_text.len ? open_events(f) : 0;
	if (r < 0)
		return r;
	/* One that cannot be rotated grows: events are worth more than that. */
	if (f->events_bytes + f->events_text.len > LINES_MAX_BYTES)
		(void)rotate_events(f);
	r = f->events_text.len ? append(f->events, buf_str(&f->events_text)) : 0;
	r = f->events_text.len ? synced(f, f->events, r) : r;
	f->events_bytes += r == 0 ? f->events_text.len : 0;
	/* What could not be written is tried once more with the next ones: they have no gaps. */
	if (r == 0)
		buf_reset(&f->events_text);
	return r;
}

/* -- what commands print -------------------------------------------------------------------------
 */

static int open_out_dir(struct record_files *f)
{
	if (f->out >= 0)
		return 0;
	f->out = run_open_dir_at(f->dirfd, OUTPUTS_DIR, true);
	if (f->out < 0)
		return f->out;
	return f->durable && fsync(f->dirfd) < 0 ? -errno : 0;
}

int record_files_open(struct record_files *f, struct str path, uint64_t number, bool err)
{
	AUTO_BUF name = BUF_INIT;
	int r = open_out_dir(f);

	if (r < 0)
		return r;
	output_name(&name, path, number, err);
	/* Of an execution that was cut short there may be something already. */
	(void)unlinkat(f->out, buf_cstr(&name), 0);
	return run_open_at(f->out, buf_cstr(&name), O_RDWR | O_CREAT | O_EXCL);
}

uint64_t record_files_why(struct record_files *f, const struct story_line *line, struct str why)
{
	AUTO_CLOSE int fd = record_files_open(f, line->path, line->number, true);

	if (fd < 0 || fd_write_all(fd, why) < 0)
		return 0;
	story_write(&f->story_text, line);
	return why.len;
}

static int sync_output(struct record_files *f, struct str path, uint64_t number, bool err)
{
	AUTO_BUF name = BUF_INIT;

	output_name(&name, path, number, err);
	AUTO_CLOSE int fd = run_open_at(f->out, buf_cstr(&name), O_RDONLY);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd; /* it printed nothing */
	return fsync(fd) < 0 ? -errno : 0;
}

/* What a command printed is safe before its end is. */
static int sync_outputs(struct record_files *f, struct str path, uint64_t number)
{
	int r = sync_output(f, path, number, false);

	r = r ? r : sync_output(f, path, number, true);
	return r ? r : fsync(f->out) < 0 ? -errno : 0;
}

static void exit_line(struct buf *b, struct str path, uint64_t number, const struct leaf_end *e)
{
	const struct leaf_record record = {
		.number = number,
		.code = e->code,
		.signal = e->signal,
		.timed_out = e->timed_out,
		.cancelled = e->cancelled,
		.gone = e->lost,
		.limit = e->limit,
		.ms = e->ms,
		.out_bytes = e->out_bytes,
		.err_bytes = e->err_bytes,
	};
	struct leaf_usage usage;

	if (e->usage)
		usage = (struct leaf_usage){ e->usage->user_us, e->usage->system_us,
			e->usage->memory_kib };
	leaf_exit_line(b, path, &record, e->usage ? &usage : NULL, clock_real_ms());
}

int record_files_leaf(
	struct record_files *f, struct str path, uint64_t number, const struct leaf_end *end)
{
	AUTO_BUF line = BUF_INIT;
	int r = f->durable && f->out >= 0 ? sync_outputs(f, path, number) : 0;

	if (r == 0 && f->torn) {
		r = lines_drop_cut(f->leaves);
		f->torn = r < 0;
	}
	if (r == 0) {
		/* A disk that is full may take half a line. */
		if (end->unkept)
			leaf_lost_line(&line, path, number, true, clock_real_ms());
		else
			exit_line(&line, path, number, end);
		r = fd_write_all(f->leaves, buf_str(&line));
		f->torn = r < 0;
	}
	return r == 0 && f->durable && fdatasync(f->leaves) < 0 ? -errno : r;
}

int record_files_open_last(struct record_files *f, struct str path, uint64_t number)
{
	AUTO_BUF name = BUF_INIT;
	int r = open_out_dir(f);

	if (r < 0)
		return r;
	/* A reader that follows stdout.log keeps seeing it grow: it is the same file. */
	int fd = run_open_at(f->dirfd, "stdout.log", O_RDWR | O_CREAT);
	if (fd < 0)
		return fd;
	output_name(&name, path, number, false);
	(void)unlinkat(f->out, buf_cstr(&name), 0);
	if (linkat(f->dirfd, "stdout.log", f->out, buf_cstr(&name), 0) == 0) {
		f->last_open = true;
		return fd;
	}
	(void)close(fd); /* a file system without links */
	return record_files_open(f, path, number, false);
}

int record_files_accept(
	struct record_files *f, struct str path, uint64_t number, const struct record_file *file)
{
	AUTO_BUF name = BUF_INIT;
	int r = open_out_dir(f);

	if (r < 0)
		return r;
	output_name(&name, path, number, file->err);
	/* One that is not there may have been taken over before. */
	if (renameat(file->dirfd, file->name, f->out, buf_cstr(&name)) < 0 && errno != ENOENT)
		return errno == EXDEV || errno == EPERM ? -EXDEV : -errno;
	if (file->last) {
		(void)unlinkat(f->dirfd, "stdout.log", 0);
		f->last_open = linkat(f->out, buf_cstr(&name), f->dirfd, "stdout.log", 0) == 0;
	}
	return run_open_at(f->out, buf_cstr(&name), O_RDONLY);
}

/* What a command printed on one of the two. NULL with *error = 0: nothing. */
static struct content *open_kept(
	struct record_files *f, const char *name, uint64_t bytes, int *error)
{
	struct stat st;
	int fd = *error = open_out_dir(f);

	if (fd == 0)
		fd = run_open_at(f->out, name, O_RDONLY);
	*error = fd < 0 && fd != -ENOENT ? fd : 0;
	if (fd >= 0 && fstat(fd, &st) < 0)
		*error = -errno;
	if (*error == 0 && fd >= 0 && (uint64_t)st.st_size >= bytes)
		return content_from_fd(fd, 0, bytes);
	close_fd(&fd);
	return *error ? NULL : content_gone(bytes);
}

/* The beginning and the end of standard error, which are shown and joined. Where it is gone, that
 * is said in its place. */
static int recall_ends(const char *name, struct leaf_recall *ret)
{
	int r = content_head(ret->err_all, CAPTURE_END, &ret->err);
	AUTO_BUF gone = BUF_INIT;

	r = r < 0 ? r : content_tail(ret->err_all, CAPTURE_END, &ret->err_tail);
	if (r != -ESTALE)
		return r;
	buf_printf(&gone, OUTPUTS_DIR "/%s is gone\n", name);
	buf_add(&ret->err, buf_str(&gone));
	buf_add(&ret->err_tail, buf_str(&gone));
	content_unref(ret->err_all);
	ret->err_all = content_from_buf(&gone);
	return 0;
}

static int recall_out(struct record_files *f, const struct leaf_record *was, const char *name,
	struct leaf_recall *ret)
{
	int error = 0;

	if (was->out_bytes)
		ret->out = open_kept(f, name, was->out_bytes, &error);
	return error;
}

static int recall_err(struct record_files *f, const struct leaf_record *was, const char *name,
	struct leaf_recall *ret)
{
	int error = 0;

	/* Of one that ended well most of the time none of it is read again. */
	if (!was->err_bytes || (ret->end.ok && !ret->wants_err))
		return 0;
	ret->err_all = open_kept(f, name, was->err_bytes, &error);
	return error ? error : recall_ends(name, ret);
}

bool record_files_recall(struct record_files *f, struct str path, const struct leaf_record *was,
	struct leaf_recall *ret, struct report *r)
{
	AUTO_BUF name = BUF_INIT;

	output_name(&name, path, was->number, false);
	int error = recall_out(f, was, buf_cstr(&name), ret);
	if (error == 0) {
		buf_reset(&name);
		output_name(&name, path, was->number, true);
		error = recall_err(f, was, buf_cstr(&name), ret);
	}
	if (error == 0)
		return true;
	content_unref(ret->out);
	content_unref(ret->err_all);
	ret->out = ret->err_all = NULL;
	buf_done(&ret->err);
	buf_done(&ret->err_tail);
	report_errno(r, -error, "cannot read %.*s/" OUTPUTS_DIR "/%s, which node %.*s printed",
		STR(f->dir), buf_cstr(&name), STR(path));
	return report_hint(r, "it has been executed and is not executed again by itself: "
			      "make the file readable, then resume the run");
}

/* -- stderr.log ----------------------------------------------------------------------------------
 */

static struct buf *partial_of(struct record_files *f, struct str path)
{
	void **slot = map_put(&f->partial, &f->arena, path);

	if (!*slot)
		*slot = arena_new(&f->arena, struct buf);
	return *slot;
}

static void add_line(struct buf *b, const struct event *e, struct str line)
{
	buf_addc(b, '[');
	text_name(b, e->path, e->label, e->item);
	buf_adds(b, "] ");
	buf_add(b, line);
	buf_addc(b, '\n');
}

void record_files_stderr_flush(struct record_files *f)
{
	struct buf *b = &f->errors_text;
	size_t done = 0;

	if (b->len)
		(void)open_errors(f);
	while (done < b->len) {
		ssize_t n = write(f->errors, b->p + done, b->len - done);

		if (n < 0 && errno != EINTR)
			break;
		done += n > 0 ? (size_t)n : 0;
	}
	buf_drop(b, done);
	(void)synced(f, f->errors, done ? 0 : -1);
	if (b->len <= ERRORS_MAX_KEPT)
		return;
	buf_truncate(b, ERRORS_MAX_KEPT);
	buf_adds(b, "\n[roux] lines were left out here: the disk had no room for them\n");
}

void record_files_stderr(struct record_files *f, const struct event *e)
{
	struct buf *rest = partial_of(f, e->path);
	struct buf *text = &f->errors_text;
	size_t from = 0;

	buf_add(rest, e->output.bytes);
	struct str all = buf_str(rest);
	for (;;) {
		size_t end = str_find(all, '\n', from);

		if (end >= all.len)
			break;
		add_line(text, e, str_sub(all, from, end - from));
		from = end + 1;
	}
	if (all.len - from > LINE_MAX_KEPT) {
		add_line(text, e, str_from(all, from));
		from = all.len;
	}
	buf_drop(rest, from);
	record_files_stderr_flush(f);
}

void record_files_stderr_end(struct record_files *f, const struct event *e)
{
	struct buf *rest = map_get(&f->partial, e->path);

	if (!rest)
		return;
	if (rest->len)
		add_line(&f->errors_text, e, buf_str(rest));
	record_files_stderr_flush(f);
	buf_done(rest);
}

/* -- stdout.log ----------------------------------------------------------------------------------
 */

static uint64_t output_bytes(const struct launch *l, struct run *run)
{
	return l->subject.graph->output ? l->subject.plan->output.len
					: content_size(run_output(run));
}

/* Whether stdout.log is there as it was made. */
static bool is_made(const struct record_files *f)
{
	struct stat st;

	return f->made && fstatat(f->dirfd, "stdout.log", &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       S_ISREG(st.st_mode);
}

int record_files_output(struct record_files *f, const struct launch *l, struct run *run)
{
	const struct run_result *res = run_result(run);
	bool done = res->status == RUN_DONE || res->status == RUN_PARTIAL;

	if (f->last_open && f->last_ok && done)
		return 0;
	/* A run that was stopped in the middle keeps what there is. */
	if (!done && res->status != RUN_FAILED && res->status != RUN_TIMEOUT)
		return 0;
	if (!f->last_open && (!done || !output_bytes(l, run)) && is_made(f))
		return 0;
	/* What a command has printed there is another name of its output, and stays that. */
	if (f->last_open && unlinkat(f->dirfd, "stdout.log", 0) < 0)
		return -errno;
	AUTO_CLOSE int fd = run_open_at(
		f->dirfd, "stdout.log", O_WRONLY | O_CREAT | (f->last_open ? O_EXCL : 0));
	if (fd < 0 || !done)
		return MIN(fd, 0);
	if (l->subject.graph->output)
		return synced(f, fd, fd_write_all(fd, buf_str(&l->subject.plan->output)));
	return synced(f, fd, content_write(run_output(run), fd));
}
