#include "runs/look/gap.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runs/dir/generations.h"
#include "runs/dir/leaves.h"
#include "runs/dir/partial-files.h"
#include "runs/dir/run-dir.h"
#include "runs/look/look.h"

/* A start that was killed before a command of it had begun would never be listed: it is taken back
 * as its own process does it (launch_abandon()). */
static void take_back(const char *dir)
{
	AUTO_CLOSE int lock = -1;
	AUTO_BUF path = BUF_INIT;
	struct stat st;

	if (!run_is_unlisted(dir) || run_lock(dir, &lock) < 0)
		return;
	buf_printf(&path, "%s/run.json", dir);
	if (access(buf_cstr(&path), F_OK) == 0 || errno != ENOENT)
		return;
	buf_reset(&path);
	buf_printf(&path, "%s/" LEAVES_FILE, dir);
	if (stat(buf_cstr(&path), &st) == 0 && st.st_size > 0)
		return; /* a command has begun, and run.json was not written or was lost later */
	generation_delete_files(dir);
	partial_files_remove(dir, 0);
	buf_reset(&path);
	buf_printf(&path, "%s/.alive", dir);
	(void)unlink(buf_cstr(&path));
	(void)rmdir(dir); /* others keep it when it has anything else */
}

/* A directory that cannot be understood is not a run that is lacking. Nor is a run that has begun
 * and has not come to its row yet, or was killed before: it gets one. */
static bool lacks(struct str root, struct ledger *l, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct run_row row;

	const char *dir = run_directory(&a, root, id).p;
	bool unknown = !ledger_knows(l, id, &ignored) && !ignored.errors;
	bool lacking = unknown && look_row(root, id, 0, &a, &row, &ignored);
	if (lacking && run_is_unlisted(dir))
		lacking = !ledger_put(l, &row, &ignored);
	else if (unknown && !lacking)
		take_back(dir);
	arena_done(&a);
	return lacking;
}

bool look_gap(struct str root, struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF link = BUF_INIT;
	char id[NAME_MAX];

	if (ledger_has_gap(l))
		return true;
	buf_printf(&link, "%.*s/runs/latest", STR(root));
	ssize_t n = readlink(buf_cstr(&link), id, sizeof(id));
	if (n <= 0 || !lacks(root, l, (struct str){ id, (size_t)n }))
		return false;
	(void)ledger_set_gap(l, true, &ignored);
	return true;
}

void look_gap_unsure(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;

	(void)ledger_set_spare(l, INT64_MIN, &ignored);
}

struct search {
	struct str root;
	struct ledger *ledger;
	bool lacking;
	bool unread; /* what a directory is cannot be found out now */
};

static bool is_unread(struct str root, struct ledger *l, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	bool unread = access(run_file(&a, run_directory(&a, root, id), "run.json"), F_OK) < 0 &&
		      errno != ENOENT && !ledger_knows(l, id, &ignored);

	arena_done(&a);
	return unread;
}

static bool see(void *data, struct str id)
{
	struct search *s = data;

	s->lacking = lacks(s->root, s->ledger, id);
	s->unread |= !s->lacking && is_unread(s->root, s->ledger, id);
	return !s->lacking;
}

/* Whether the number of directories beyond those of the ledger, *ret, is not what it was. A
 * directory has a link from each below it. Some file systems do not count them: there the time of
 * the last change stands for the number. */
static bool has_news(struct str root, struct ledger *l, int64_t *ret, bool *ret_counted)
{
	AUTO_BUF runs = BUF_INIT;
	bool news = false;
	struct stat st;

	buf_printf(&runs, "%.*s/runs", STR(root));
	if (stat(buf_cstr(&runs), &st) < 0)
		return false;
	*ret_counted = st.st_nlink >= 2;
	int64_t sign = *ret_counted ? (int64_t)st.st_nlink - 2
				    : (int64_t)st.st_mtim.tv_sec * 1000000000 +
					      (int64_t)st.st_mtim.tv_nsec;
	return ledger_spare(l, sign, ret, &news) && news;
}

static bool gap_counted(struct str root, struct ledger *l)
{
	struct search s = { .root = root, .ledger = l };
	AUTO_REPORT ignored = REPORT_INIT;
	bool counted;
	int64_t spare;

	if (look_gap(root, l))
		return true;
	if (!has_news(root, l, &spare, &counted) || look_each_directory(root, see, &s) < 0)
		return false;
	if (s.lacking)
		(void)ledger_set_gap(l, true, &ignored);
	/* Runs that have just begun have got their rows. A time is that from before the search:
	 * what has come since was not looked at. A directory that cannot be read now is looked at
	 * again the next time. */
	else if (!s.unread && (!counted || has_news(root, l, &spare, &counted)))
		(void)ledger_set_spare(l, spare, &ignored);
	return s.lacking;
}

/* A reader does not wait for a process that writes: what cannot be written down now is found
 * again the next time. */
enum { WRITE_MS = 20 };

bool look_gap_counted(struct str root, struct ledger *l)
{
	unsigned was = ledger_set_wait(l, WRITE_MS);
	bool gap = gap_counted(root, l);

	(void)ledger_set_wait(l, was);
	return gap;
}

/* -- without one ---------------------------------------------------------------------------------
 */

static bool is_missing(struct str root)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/ledger.db", STR(root));
	return access(buf_cstr(&path), F_OK) < 0 && errno == ENOENT;
}

struct first {
	struct str root;
	bool found;
};

static bool see_first(void *data, struct str id)
{
	struct first *f = data;
	AUTO_REPORT ignored = REPORT_INIT;
	struct arena a = ARENA_INIT;
	struct run_row row;

	f->found = look_row(f->root, id, 0, &a, &row, &ignored);
	arena_done(&a);
	return !f->found;
}

bool look_lost(struct str root)
{
	struct first f = { .root = root };

	/* The very first runs may be beginning now: each makes the ledger before its directory. */
	return is_missing(root) && look_each_directory(root, see_first, &f) >= 0 && f.found &&
	       is_missing(root);
}
