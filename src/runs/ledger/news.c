/* Runs that were over at once. Opening the ledger for one takes longer than most commands, so the
 * ledger hears of it by a line in a file beside it; the next process that opens it takes the lines
 * in. A line that is lost does no harm: the run's directory still says that the ledger does not
 * know of it, and a list finds it there (runs/look/gap.c). */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/utf8.h"
#include "data/json-out.h"
#include "runs/dir/leaves.h"
#include "runs/dir/run-dir.h"
#include "runs/ledger/store.h"

#define NEWS_FILE "ledger.news"

/* Past NEWS_MAX the ledger is opened after all, so that taking them in stays a matter of moments.
 */
enum { NEWS_MAX = 64 * 1024, LINE_ROOM = 64 * 1024, TAKE_MS = 20 };

/* -- the members of a line -----------------------------------------------------------------------
 */

static const struct {
	const char *name;
	size_t offset;
} texts[] = {
#define TEXT(of)                                  \
	{                                         \
#of, offsetof(struct run_row, of) \
	}
	TEXT(id), TEXT(generation), TEXT(owner), TEXT(recipe), TEXT(recipe_path),
	TEXT(recipe_sha256), TEXT(tool), TEXT(launch), TEXT(cwd), TEXT(dir), TEXT(status),
	TEXT(boot_id), TEXT(handled),
}, times[] = {
	TEXT(created), TEXT(started), TEXT(ended), TEXT(failed), TEXT(tolerated), TEXT(pid_start),
#undef TEXT
};

static struct str *text_at(const struct run_row *row, size_t i)
{
	return (struct str *)((char *)row + texts[i].offset);
}

static uint64_t *time_at(const struct run_row *row, size_t i)
{
	return (uint64_t *)((char *)row + times[i].offset);
}

/* False: it has bytes that JSON cannot say. */
static bool write_line(const struct run_row *row, struct buf *b)
{
	struct json_out o = { .b = b };

	json_out_object(&o, NULL);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct str text = *text_at(row, i);

		if (!utf8_valid(text))
			return false;
		if (text.len)
			json_out_str(&o, texts[i].name, text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		json_out_uint(&o, times[i].name, *time_at(row, i));
	json_out_int(&o, "code", row->code);
	json_out_int(&o, "exit", row->exit);
	json_out_int(&o, "pid", row->pid);
	json_out_bool(&o, "counted", row->counted);
	json_out_object_end(&o);
	buf_addc(b, '\n');
	return true;
}

/* Texts are borrowed from `line`. */
static struct run_row read_line(const json_t *line)
{
	struct run_row row = {
		.code = (int)json_number_of(line, "code"),
		.exit = (int)json_number_of(line, "exit"),
		.pid = json_number_of(line, "pid"),
		.counted = json_truth_of(line, "counted"),
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*text_at(&row, i) = json_text_of(line, texts[i].name);
	for (size_t i = 0; i < ARRAY_SIZE(times); i++)
		*time_at(&row, i) = (uint64_t)json_number_of(line, times[i].name);
	return row;
}

/* -- telling -------------------------------------------------------------------------------------
 */

static int open_news(const char *path, int flags)
{
	struct stat st;
	AUTO_CLOSE int fd =
		open(path, flags | O_NONBLOCK | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0600);

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	return S_ISREG(st.st_mode) ? take_fd(&fd) : -EINVAL;
}

/* One after the other, so that a line that did not fit can be taken back. */
static int append(int fd, struct str line)
{
	off_t size = lseek(fd, 0, SEEK_END);

	if (size < 0 || size + (off_t)line.len > NEWS_MAX)
		return size < 0 ? -errno : -EFBIG;
	int r = fd_write_all(fd, line);
	return r == 0 || ftruncate(fd, size) == 0 ? r : -errno;
}

int ledger_tell(struct str root, const struct run_row *row)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF line = BUF_INIT;

	if (!write_line(row, &line))
		return -EILSEQ;
	buf_printf(&path, "%.*s/" NEWS_FILE, STR(root));
	AUTO_CLOSE int fd = open_news(buf_cstr(&path), O_RDWR | O_CREAT | O_APPEND);
	if (fd < 0)
		return fd;
	return flock(fd, LOCK_EX | LOCK_NB) < 0 ? -errno : append(fd, buf_str(&line));
}

/* -- taking them in ------------------------------------------------------------------------------
 */

static void news_path(const struct ledger *l, struct buf *ret)
{
	struct str ledger = buf_str(&l->path);

	while (ledger.len && ledger.p[ledger.len - 1] != '/')
		ledger.len--;
	buf_add(ret, ledger);
	buf_adds(ret, NEWS_FILE);
}

/* Those who have it locked do not keep it for long. */
static int lock(int fd)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	int e = EWOULDBLOCK;

	for (int i = 0; i < TAKE_MS && e == EWOULDBLOCK; i++) {
		e = flock(fd, LOCK_EX | LOCK_NB) == 0 ? 0 : errno;
		if (e == EWOULDBLOCK)
			(void)nanosleep(&moment, NULL);
	}
	return -e;
}

typedef bool news_fn(struct ledger *l, const struct run_row *row, struct report *r);

static bool each_line(struct ledger *l, struct str all, news_fn *see, struct report *r)
{
	bool ok = true;

	for (size_t at = 0; ok && at < all.len;) {
		size_t end = str_find(all, '\n', at);
		struct str text = str_sub(all, at, end - at);
		AUTO_JSON *line = json_loadb(text.p, text.len, JSON_ALLOW_NUL, NULL);
		struct run_row row = read_line(line);

		at = end + 1;
		if (row.id.len && row.generation.len && row.dir.len)
			ok = see(l, &row, r);
	}
	return ok;
}

/* One whose directory is gone was deleted meanwhile, and one whose name has been used again is an
 * earlier generation by now. One that was found while it ran has a row, which gets its end, unless
 * the run has been resumed since. */
static bool enter(struct ledger *l, const struct run_row *told, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct run_row row = *told, known;
	AUTO_BUF file = BUF_INIT;
	size_t errors = r->errors;

	buf_printf(&file, "%.*s/" LEAVES_FILE, STR(row.dir));
	if (access(buf_cstr(&file), F_OK) < 0)
		return errno == ENOENT || errno == ENOTDIR ||
		       report_errno(r, errno, "cannot look at %s", buf_cstr(&file));
	bool found = ledger_find(l, row.id, &a, &known, r), ok = r->errors == errors;
	if (ok && (!found || str_eq(known.generation, row.generation)))
		ok = (found ? ledger_correct(l, told, told, r) : ledger_put(l, &row, r)) &&
		     ledger_add_leaves(l, row.id, row.generation, buf_cstr(&file), r);
	arena_done(&a);
	return ok;
}

static bool mark(struct ledger *l, const struct run_row *row, struct report *r)
{
	AUTO_BUF dir = BUF_INIT;

	(void)l;
	(void)r;
	buf_add(&dir, row->dir);
	run_listed(buf_cstr(&dir));
	return true;
}

static bool take_all(struct ledger *l, struct str all, struct report *r)
{
	if (!ledger_batch_begin(l, false, r))
		return false;
	if (each_line(l, all, enter, r))
		return ledger_batch_commit(l, r);
	ledger_batch_undo(l);
	return false;
}

/* Another process that has the file locked takes them in itself. */
static bool take(struct ledger *l, const char *path, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_CLOSE int fd = open_news(path, O_RDWR);
	int e = fd < 0 ? fd : lock(fd);

	if (e == 0)
		e = fd_read_all(fd, NEWS_MAX + LINE_ROOM, &text);
	if (e < 0)
		return e == -EWOULDBLOCK || report_errno(r, -e, "cannot read %s", path);
	if (!text.len)
		return true;
	if (!take_all(l, buf_str(&text), r))
		return false;
	if (ftruncate(fd, 0) < 0)
		return report_errno(r, errno, "cannot write %s", path);
	return each_line(l, buf_str(&text), mark, r);
}

void ledger_take_news(struct ledger *l, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_REPORT issues = REPORT_INIT;
	struct stat st;

	news_path(l, &path);
	if (l->batch || (stat(buf_cstr(&path), &st) == 0 ? !st.st_size : errno == ENOENT))
		return;
	unsigned was = ledger_set_wait(l, TAKE_MS);
	bool held = !take(l, buf_cstr(&path), &issues) && sqlite3_errcode(l->db) == SQLITE_BUSY;
	(void)ledger_set_wait(l, was);
	/* While another process writes, a list finds the runs by their directories. */
	vec_each (i, &issues.issues)
		if (r && !held)
			report_warning(r, (struct where){ 0 },
				"runs that were over at once may be missing: %.*s",
				STR(i->message));
}
