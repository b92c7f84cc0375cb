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
static bool lock(int fd)
{
	const struct timespec moment = { .tv_nsec = 1000000 };

	for (int i = 0; i < TAKE_MS; i++) {
		if (flock(fd, LOCK_EX | LOCK_NB) == 0)
			return true;
		(void)nanosleep(&moment, NULL);
	}
	return false;
}

typedef void news_fn(struct ledger *l, const struct run_row *row, bool *ok);

static void each_line(struct ledger *l, struct str all, news_fn *see, bool *ok)
{
	for (size_t at = 0; *ok && at < all.len;) {
		size_t end = str_find(all, '\n', at);
		struct str text = str_sub(all, at, end - at);
		AUTO_JSON *line = json_loadb(text.p, text.len, JSON_ALLOW_NUL, NULL);
		struct run_row row = read_line(line);

		at = end + 1;
		if (row.id.len && row.generation.len && row.dir.len)
			see(l, &row, ok);
	}
}

/* One whose directory is gone was deleted meanwhile, and one whose name has been used again is an
 * earlier generation by now. One that was found while it ran has a row, which gets its end, unless
 * the run has been resumed since. */
static void enter(struct ledger *l, const struct run_row *told, bool *ok)
{
	AUTO_REPORT issues = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct run_row row = *told, known;
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%.*s/" LEAVES_FILE, STR(row.dir));
	bool there = access(buf_cstr(&file), F_OK) == 0;
	bool found = there && ledger_find(l, row.id, &a, &known, &issues);
	if (there && !issues.errors && (!found || str_eq(known.generation, row.generation)))
		*ok = (found ? ledger_correct(l, told, told, &issues)
			     : ledger_put(l, &row, &issues)) &&
		      ledger_add_leaves(l, row.id, row.generation, buf_cstr(&file), &issues);
	*ok &= !issues.errors;
	arena_done(&a);
}

static void mark(struct ledger *l, const struct run_row *row, bool *ok)
{
	AUTO_BUF dir = BUF_INIT;

	(void)l;
	(void)ok;
	buf_add(&dir, row->dir);
	run_listed(buf_cstr(&dir));
}

static bool take_all(struct ledger *l, struct str all)
{
	AUTO_REPORT ignored = REPORT_INIT;
	bool ok = ledger_batch_begin(l, false, &ignored);

	if (!ok)
		return false;
	each_line(l, all, enter, &ok);
	if (ok)
		return ledger_batch_commit(l, &ignored);
	ledger_batch_undo(l);
	return false;
}

void ledger_take_news(struct ledger *l)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;
	struct stat st;
	bool ok = true;

	news_path(l, &path);
	if (l->batch || stat(buf_cstr(&path), &st) < 0 || !st.st_size)
		return;
	AUTO_CLOSE int fd = open_news(buf_cstr(&path), O_RDWR);
	if (fd < 0 || !lock(fd) || fd_read_all(fd, NEWS_MAX + LINE_ROOM, &text) < 0)
		return;
	unsigned was = ledger_set_wait(l, TAKE_MS);
	if (text.len && take_all(l, buf_str(&text)) && ftruncate(fd, 0) == 0)
		each_line(l, buf_str(&text), mark, &ok);
	(void)ledger_set_wait(l, was);
}
