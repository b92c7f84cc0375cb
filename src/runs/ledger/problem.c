/* What went wrong with the ledger, in words for people. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "runs/ledger/store.h"

static bool is_readable(const char *path, const char *suffix)
{
	AUTO_BUF file = BUF_INIT;
	char piece[65536];
	ssize_t n = 0;

	buf_printf(&file, "%s%s", path, suffix);
	AUTO_CLOSE int fd = open(buf_cstr(&file), O_RDONLY | O_CLOEXEC);
	for (off_t at = 0; fd >= 0 && (n = fd_read_at(fd, piece, sizeof(piece), at)) > 0;)
		at += n;
	return n == 0;
}

/* To SQLite a page that the disk did not give looks damaged. Another connection reads it anew. */
static bool is_sound(const char *path)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *s = NULL;

	bool sound = sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK &&
		     sqlite3_prepare_v2(db, "PRAGMA quick_check(1)", -1, &s, NULL) == SQLITE_OK &&
		     sqlite3_step(s) == SQLITE_ROW &&
		     strcmp((const char *)sqlite3_column_text(s, 0), "ok") == 0;
	(void)sqlite3_finalize(s);
	if (db)
		(void)sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	(void)sqlite3_close(db);
	return sound;
}

/* SQLite knows a full disk, but not a full quota, and the number of the error is often lost when it
 * is asked for. */
static bool lacks_room(const char *path)
{
	static const char page[8192];
	AUTO_BUF dir = BUF_INIT;

	buf_add(&dir, (struct str){ path, (size_t)(strrchr(path, '/') - path) });
	AUTO_CLOSE int fd = open(buf_cstr(&dir), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	int e = fd < 0 ? -errno : fd_write_all(fd, (struct str){ page, sizeof(page) });
	return e == -ENOSPC || e == -EDQUOT;
}

/* Whether this process may not open or write so much: the file is all right. The number of the
 * error is found out again where it is lost. */
static bool is_limit(const char *path, int *error)
{
	struct rlimit most;
	struct stat st;

	if (!*error) {
		AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
		*error = fd < 0 ? errno : 0;
	}
	if (!*error && getrlimit(RLIMIT_FSIZE, &most) == 0 && stat(path, &st) == 0 &&
		(rlim_t)st.st_size >= most.rlim_cur)
		*error = EFBIG;
	return *error == EMFILE || *error == ENFILE || *error == EFBIG;
}

bool ledger_problem(struct ledger *l, const char *doing, struct report *r)
{
	struct where nowhere = { 0 };
	const char *path = buf_cstr(&l->path);
	int system = sqlite3_system_errno(l->db);
	int code = sqlite3_errcode(l->db);

	l->batch_failed = true;
	bool io = code == SQLITE_IOERR || code == SQLITE_CANTOPEN;
	if (code == SQLITE_FULL || (io && (system == ENOSPC || system == EDQUOT)) ||
		(io && lacks_room(path))) {
		report_system(r, nowhere, "cannot %s: no space left for %s", doing, path);
		report_no_room(r);
		report_hint(r, "make room there");
		return report_action(r, ACTION_LIST_PRUNABLE, S(""));
	}
	if (code == SQLITE_CORRUPT && !(is_readable(path, "") && is_readable(path, "-wal"))) {
		report_errno(r, EIO, "cannot %s: %s", doing, path);
		return report_hint(r, "look at its disk");
	}
	if (code == SQLITE_CORRUPT && is_sound(path)) {
		report_errno(r, EIO, "cannot %s: %s", doing, path);
		return report_hint(r, "it is not damaged, but reading it failed once: try again");
	}
	switch (code) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* a table is not what it should be */
	case SQLITE_CONSTRAINT:
		report_system(r, nowhere, "cannot %s: %s is damaged: %s", doing, path,
			sqlite3_errmsg(l->db));
		return report_action(r, ACTION_REBUILD, S(""));
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		if (l->waited_ms < l->wait_ms) {
			report_system(r, nowhere, "cannot %s: %s cannot be locked", doing, path);
			report_held(r);
			return report_hint(r, "try again");
		}
		report_system(r, nowhere,
			"cannot %s: another process has held %s for %" PRIu64 " seconds", doing,
			path, l->wait_ms / 1000);
		report_held(r);
		return report_hint(r, "look for a stopped roux: ps -C roux -o pid,stat,args");
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		report_system(r, nowhere, "cannot %s: %s cannot be written", doing, path);
		return report_hint(r, "make the file and its directory yours to write, or set "
				      "ROUX_STATE_DIR to a directory that is");
	default:
		if (io && is_limit(path, &system)) {
			report_errno(r, system, "cannot %s: %s", doing, path);
			return report_hint(r, system == EFBIG ? "raise the limit: ulimit -f"
							      : "raise the limit: ulimit -n");
		}
		report_system(r, nowhere, "cannot %s: %s: %s", doing, path,
			system ? strerror(system) : sqlite3_errmsg(l->db));
		report_hint(r, "look at that file and its directory; perhaps it is damaged");
		return report_action(r, ACTION_REBUILD, S(""));
	}
}
