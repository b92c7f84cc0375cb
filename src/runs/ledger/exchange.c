/* One ledger put in the place of another. SQLite has up to four files for each, and a name can be
 * given to one at a time, so the old ones are moved aside first, and as long as the new one does
 * not have its name they can be put back. */
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "runs/ledger/store.h"

enum { LOCK_MS = 10000 };

static const char *const logs[] = { "-wal", "-shm", "-journal" };

int ledger_drop_log(const char *path)
{
	int dropped = 0;

	for (size_t i = 0; i < ARRAY_SIZE(logs); i++) {
		AUTO_BUF log = BUF_INIT;

		buf_printf(&log, "%s%s", path, logs[i]);
		if (unlink(buf_cstr(&log)) == 0)
			dropped++;
		else if (errno != ENOENT)
			return -errno;
	}
	return dropped;
}

int ledger_lock(const char *path, unsigned wait_ms, int *ret_fd)
{
	AUTO_BUF beside = BUF_INIT;

	/* Where a link leads to would be the directory of the lock. */
	buf_printf(&beside, "%s.new", path);
	return file_lock(buf_cstr(&beside), wait_ms, ret_fd);
}

/* 1: it has moved; 0: it is not there; -errno. */
static int move(const char *from, const char *to)
{
	return rename(from, to) == 0 ? 1 : errno == ENOENT ? 0 : -errno;
}

static int move_log(const char *from, const char *to)
{
	int e = 0;

	for (size_t i = 0; e >= 0 && i < ARRAY_SIZE(logs); i++) {
		AUTO_BUF a = BUF_INIT, b = BUF_INIT;

		buf_printf(&a, "%s%s", from, logs[i]);
		buf_printf(&b, "%s%s", to, logs[i]);
		e = move(buf_cstr(&a), buf_cstr(&b));
	}
	return MIN(e, 0);
}

/* Ends an exchange, whether it came to its end or was cut short: the old ledger gets its name again
 * when the new one has not got it, else it is kept as ledger.db.old. Its name moves last there, and
 * first here, so that this can be cut short too. -errno. */
static int settle(const char *ledger, const char *aside)
{
	AUTO_BUF old = BUF_INIT, new = BUF_INIT, kept = BUF_INIT;
	int e = 0;

	buf_printf(&old, "%s/ledger.db.old", aside);
	buf_printf(&new, "%s/ledger.db", aside);
	buf_printf(&kept, "%s.old", ledger);
	bool has = access(buf_cstr(&old), F_OK) == 0;
	if (has && access(ledger, F_OK) < 0 && access(buf_cstr(&new), F_OK) == 0) {
		e = move_log(buf_cstr(&old), ledger);
		return e < 0 ? e : MIN(move(buf_cstr(&old), ledger), 0);
	}
	/* The log of the one that was kept before does not fit this one. */
	if (has)
		e = ledger_drop_log(buf_cstr(&kept));
	if (has && e >= 0)
		e = move(buf_cstr(&old), buf_cstr(&kept));
	return e < 0 ? e : move_log(buf_cstr(&old), buf_cstr(&kept));
}

static void mend(const char *ledger, bool locked)
{
	AUTO_CLOSE int lock = -1;
	AUTO_BUF root = BUF_INIT;

	buf_add(&root, (struct str){ ledger, (size_t)(strrchr(ledger, '/') - ledger) });
	DIR *d = opendir(buf_cstr(&root));
	for (const struct dirent *e; d && (e = readdir(d));) {
		AUTO_BUF aside = BUF_INIT;

		if (strncmp(e->d_name, LEDGER_ASIDE, strlen(LEDGER_ASIDE)) != 0)
			continue;
		if (!locked && ledger_lock(ledger, LOCK_MS, &lock) < 0)
			break;
		locked = true;
		buf_printf(&aside, "%s/%s", buf_cstr(&root), e->d_name);
		(void)settle(ledger, buf_cstr(&aside));
	}
	if (d)
		(void)closedir(d);
}

bool ledger_is_there(const char *path, bool locked)
{
	struct stat st;

	/* A link that leads nowhere is there too, and has to be told of. */
	if (lstat(path, &st) == 0 || (errno != ENOENT && errno != ENOTDIR))
		return true;
	mend(path, locked);
	return access(path, F_OK) == 0;
}

void ledger_mend(struct str root)
{
	AUTO_BUF ledger = BUF_INIT;

	buf_printf(&ledger, "%.*s/ledger.db", STR(root));
	mend(buf_cstr(&ledger), false);
}

/* No process that opens the ledger by its name comes in between: there is none, and making one
 * needs the lock. One that has it open writes after the caller has released it, to the one that has
 * the name then. */
static int exchange(const char *ledger, const char *aside, int dir)
{
	AUTO_BUF old = BUF_INIT, new = BUF_INIT;

	buf_printf(&old, "%s/ledger.db.old", aside);
	buf_printf(&new, "%s/ledger.db", aside);
	int had = move(ledger, buf_cstr(&old));
	if (had < 0)
		return had;
	int e = had ? move_log(ledger, buf_cstr(&old)) : ledger_drop_log(ledger);
	/* On the disk, too, the new one never has the log of the old one beside it. */
	if (e < 0 || fsync(dir) < 0 || rename(buf_cstr(&new), ledger) < 0)
		return e < 0 ? e : -errno;
	return 0;
}

bool ledger_exchange(struct str root, const char *aside, struct report *r)
{
	AUTO_CLOSE int lock = -1;
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/ledger.db", STR(root));
	const char *ledger = buf_cstr(&path);
	int e = ledger_lock(ledger, LOCK_MS, &lock);
	if (e < 0)
		return report_errno(r, -e, "cannot lock %.*s", STR(root));
	e = exchange(ledger, aside, lock);
	int kept = settle(ledger, aside);
	if (e < 0)
		return report_errno(r, -e, "cannot put another ledger in the place of %s", ledger);
	if (kept < 0)
		report_warning(r, (struct where){ 0 },
			"the old ledger stays in %s, it cannot be put away: %s", aside,
			strerror(-kept));
	return true;
}
