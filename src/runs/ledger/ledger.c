#include "runs/ledger/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file-system.h"
#include "base/file.h"
#include "base/mem.h"

/* A transaction takes less than a millisecond, or a flush of the disk, and a hundred processes may
 * wait for each other; one that holds the ledger this long is stopped or hangs. */
enum { BUSY_MS = 60000, AGAIN_MS = 10000, PAUSE_MIN_US = 500, PAUSE_MAX_US = 20000 };
/* The log is put back into the ledger when it has this many pages. It is left there when the last
 * process goes, because that would cost each of them two flushes; the next one reads it again, so
 * it is kept short. */
enum { CHECKPOINT_PAGES = 128, CHECKPOINT_PAGES_STAYS = 1024 };

/* -- waiting -------------------------------------------------------------------------------------
 */

/* SQLite's own counts the pauses that it asked for, which on a busy machine are much shorter than
 * those that it gets, and it pauses for a tenth of a second. */
static int on_busy(void *data, int times)
{
	struct ledger *l = data;
	uint64_t now = clock_mono_ms();

	/* What is asked right after a short wait was in vain would wait in vain too, one after the
	 * other. */
	bool again = l->wait_ms < BUSY_MS && l->waited_ms >= l->wait_ms &&
		     now - l->busy_since_ms < l->waited_ms + AGAIN_MS;

	if (!times && !again)
		l->busy_since_ms = now;
	l->waited_ms = again ? l->waited_ms : now - l->busy_since_ms;
	if (l->waited_ms >= l->wait_ms)
		return 0;
	unsigned us = MIN((unsigned)PAUSE_MIN_US << MIN(times, 6), (unsigned)PAUSE_MAX_US);
	struct timespec pause = { .tv_nsec = (long)us * 1000 };
	(void)nanosleep(&pause, NULL);
	return 1;
}

/* -- statements ----------------------------------------------------------------------------------
 */

sqlite3_stmt *ledger_use(struct ledger *l, enum ledger_statement which, struct report *r)
{
	sqlite3_stmt **s = &l->statements[which];

	if (!*s && sqlite3_prepare_v3(l->db, ledger_sql[which], -1, SQLITE_PREPARE_PERSISTENT, s,
			   NULL) != SQLITE_OK) {
		(void)ledger_problem(l, "read the ledger", r);
		return NULL;
	}
	return *s;
}

void ledger_end(sqlite3_stmt *s)
{
	(void)sqlite3_reset(s);
	(void)sqlite3_clear_bindings(s);
}

bool ledger_step(struct ledger *l, sqlite3_stmt *s, const char *doing, struct report *r)
{
	if (!s)
		return false;
	int done = sqlite3_step(s);
	bool ok = done == SQLITE_DONE || done == SQLITE_ROW || ledger_problem(l, doing, r);
	ledger_end(s);
	return ok;
}

void ledger_bind_str(sqlite3_stmt *s, int at, struct str text)
{
	if (text.len)
		(void)sqlite3_bind_text64(s, at, text.p, text.len, SQLITE_STATIC, SQLITE_UTF8);
	else
		(void)sqlite3_bind_null(s, at);
}

struct str ledger_column_str(sqlite3_stmt *s, int at)
{
	const char *text = (const char *)sqlite3_column_text(s, at);

	return (struct str){ text ? text : "", text ? (size_t)sqlite3_column_bytes(s, at) : 0 };
}

void ledger_bind_bytes(sqlite3_stmt *s, int at, struct str bytes)
{
	(void)sqlite3_bind_blob64(s, at, bytes.len ? bytes.p : "", bytes.len, SQLITE_STATIC);
}

struct str ledger_column_bytes(sqlite3_stmt *s, int at)
{
	const char *bytes = sqlite3_column_blob(s, at);

	return (struct str){ bytes ? bytes : "", bytes ? (size_t)sqlite3_column_bytes(s, at) : 0 };
}

bool ledger_accepts(
	struct str host, struct str key, struct str bytes, const char *what, struct report *r)
{
	struct where nowhere = { 0 };

	if (!host.len || host.len > LEDGER_KEY_MAX)
		return report_error(r, nowhere,
			"the name of a host must have 1 to %d bytes, not %zu", LEDGER_KEY_MAX,
			host.len);
	if (key.len > LEDGER_KEY_MAX)
		return report_error(r, nowhere,
			"a key of %zu bytes is too long for the ledger: at most %d", key.len,
			LEDGER_KEY_MAX);
	if (bytes.len > LEDGER_VALUE_MAX)
		return report_error(r, nowhere,
			"a %s of %zu bytes is too large for the ledger: at most %d", what,
			bytes.len, LEDGER_VALUE_MAX);
	return true;
}

/* A process that is killed loses nothing that was committed either way; `full` is for power cuts.
 */
static bool set_sync(struct ledger *l, bool full)
{
	full |= l->durable;
	if (l->sync_known && l->full == full)
		return true;
	l->sync_known =
		sqlite3_exec(l->db, full ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL",
			NULL, NULL, NULL) == SQLITE_OK;
	l->full = full;
	return l->sync_known;
}

/* -- transactions --------------------------------------------------------------------------------
 */

static void rollback(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;

	/* Some failures have rolled it back already. */
	if (!sqlite3_get_autocommit(l->db))
		(void)ledger_step(l, ledger_use(l, LEDGER_ROLLBACK, &ignored), "undo", &ignored);
}

static bool read_version(struct ledger *l, int *ret, struct report *r)
{
	sqlite3_stmt *s = NULL;
	bool ok = sqlite3_prepare_v2(l->db, "PRAGMA user_version", -1, &s, NULL) == SQLITE_OK &&
		  sqlite3_step(s) == SQLITE_ROW;

	if (ok)
		*ret = sqlite3_column_int(s, 0);
	else
		(void)ledger_problem(l, "read the ledger", r);
	(void)sqlite3_finalize(s);
	return ok;
}

static bool set_version(struct ledger *l, int version)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "PRAGMA user_version=%d", version);
	return sqlite3_exec(l->db, text, NULL, NULL, NULL) == SQLITE_OK;
}

/* A commit whose flush failed is undone here, but it stands in the log, and the next process that
 * reads the log from its beginning would take it for done. The next change is written over it, so
 * one is made that changes nothing. */
static void take_out_of_log(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	int version = 0;

	l->sync_known = false; /* it is set again before the next transaction */
	if (sqlite3_exec(l->db, "PRAGMA synchronous=OFF", NULL, NULL, NULL) == SQLITE_OK &&
		read_version(l, &version, &ignored))
		(void)set_version(l, version);
}

static bool commit(struct ledger *l, struct report *r)
{
	if (ledger_step(l, ledger_use(l, LEDGER_COMMIT, r), "write the ledger", r))
		return true;
	bool unflushed = sqlite3_errcode(l->db) == SQLITE_IOERR;
	rollback(l);
	if (unflushed)
		take_out_of_log(l);
	return false;
}

/* A ledger that was deleted with its directory is not replaced: it is used until it is closed. */
static bool replaced(struct ledger *l)
{
	int moved = 0;

	(void)sqlite3_file_control(l->db, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
	return moved && access(buf_cstr(&l->path), F_OK) == 0;
}

/* A caller further up reads rows: it has them from the file that it began with. */
static bool reading(struct ledger *l)
{
	for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(l->db, s));)
		if (sqlite3_stmt_busy(s))
			return true;
	return false;
}

static bool reopen(struct ledger *l, struct report *r);

static bool begin(struct ledger *l, bool full, struct report *r)
{
	for (;;) {
		if (!set_sync(l, full))
			return ledger_problem(l, "write the ledger", r);
		if (!ledger_step(l, ledger_use(l, LEDGER_BEGIN, r), "write the ledger", r))
			return false;
		if (!replaced(l) || reading(l))
			return true;
		/* A rebuild held the old file until the new one had its name; what is written into
		 * the old one now would be lost. */
		rollback(l);
		if (!reopen(l, r))
			return false;
	}
}

/* A part of a batch leaves beginning and ending to the batch. */
bool ledger_begin(struct ledger *l, bool full, struct report *r)
{
	if (!l->batch)
		return begin(l, full, r);
	return !l->batch_failed || report_system(r, (struct where){ 0 },
					   "cannot write the ledger: an earlier change of the same "
					   "transaction failed");
}

bool ledger_commit(struct ledger *l, struct report *r)
{
	return l->batch || commit(l, r);
}

void ledger_rollback(struct ledger *l)
{
	if (l->batch)
		l->batch_failed = true;
	else
		rollback(l);
}

bool ledger_conclude(struct ledger *l, bool ok, struct report *r)
{
	if (ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

bool ledger_batch_begin(struct ledger *l, bool full, struct report *r)
{
	l->batch = begin(l, full, r);
	l->batch_failed = false;
	l->queue_last = 0;
	return l->batch;
}

bool ledger_batch_commit(struct ledger *l, struct report *r)
{
	if (l->batch_failed) {
		ledger_batch_undo(l);
		return report_system(r, (struct where){ 0 },
			"cannot write the ledger: one of several changes failed, so none was made");
	}
	if (!ledger_queue_settle(l, r)) {
		ledger_batch_undo(l);
		return false;
	}
	l->batch = false;
	return commit(l, r);
}

void ledger_batch_undo(struct ledger *l)
{
	l->batch = false;
	rollback(l);
}

/* -- opening -------------------------------------------------------------------------------------
 */

bool ledger_has_gap(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	sqlite3_stmt *s = ledger_use(l, LEDGER_GAP, &ignored);

	if (!s)
		return false; /* it is damaged: the next statement says so */
	bool gap = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) != 0;
	ledger_end(s);
	return gap;
}

static bool set_gap(struct ledger *l, bool gap, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_SET_GAP, r);

	if (s)
		(void)sqlite3_bind_int(s, 1, gap);
	return ledger_step(l, s, "write the ledger", r);
}

bool ledger_set_gap(struct ledger *l, bool gap, struct report *r)
{
	if (!ledger_begin(l, false, r))
		return false;
	if (set_gap(l, gap, r))
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

bool ledger_read_number(
	struct ledger *l, enum ledger_statement which, int64_t *ret, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, which, r);
	int step = s ? sqlite3_step(s) : SQLITE_DONE;

	if (step == SQLITE_ROW)
		*ret = sqlite3_column_int64(s, 0);
	else if (step != SQLITE_DONE)
		(void)ledger_problem(l, "read the ledger", r);
	if (s)
		ledger_end(s);
	return step == SQLITE_ROW;
}

bool ledger_spare(struct ledger *l, int64_t directories, int64_t *ret, bool *ret_news)
{
	AUTO_REPORT ignored = REPORT_INIT;
	int64_t ids = 0, kept = 0;
	uint64_t version = ledger_version(l);

	if (version && version == l->spare_version && directories == l->spare_directories) {
		*ret = l->spare;
		*ret_news = false;
		return true;
	}
	if (!ledger_read_number(l, LEDGER_IDS, &ids, &ignored))
		return false;
	*ret = directories - ids;
	*ret_news = !ledger_read_number(l, LEDGER_SPARE, &kept, &ignored) || kept != *ret;
	if (!*ret_news) {
		l->spare_version = version;
		l->spare_directories = directories;
		l->spare = *ret;
	}
	return true;
}

bool ledger_set_spare(struct ledger *l, int64_t spare, struct report *r)
{
	if (!ledger_begin(l, false, r))
		return false;
	sqlite3_stmt *s = ledger_use(l, LEDGER_SET_SPARE, r);
	if (s)
		(void)sqlite3_bind_int64(s, 1, spare);
	if (ledger_step(l, s, "write the ledger", r))
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

/* Whether there are runs beside a ledger that is being made. Stops at the first. */
static bool has_runs(const char *ledger)
{
	AUTO_BUF runs = BUF_INIT;
	bool has = false;

	buf_add(&runs, (struct str){ ledger, (size_t)(strrchr(ledger, '/') - ledger) });
	buf_adds(&runs, "/runs");
	DIR *d = opendir(buf_cstr(&runs));
	for (const struct dirent *e; d && !has && (e = readdir(d));) {
		AUTO_BUF file = BUF_INIT;

		buf_printf(&file, "%s/run.json", e->d_name);
		has = e->d_name[0] != '.' && e->d_type != DT_LNK &&
		      faccessat(dirfd(d), buf_cstr(&file), F_OK, 0) == 0;
	}
	if (d)
		(void)closedir(d);
	return has;
}

/* From the version that it is to ours, in one transaction. */
static bool migrate(struct ledger *l, struct report *r)
{
	int version = 0;

	if (!ledger_begin(l, true, r))
		return false;
	bool ok = read_version(l, &version, r); /* another process may have been quicker */
	bool empty = version == 0;
	for (; ok && version < ledger_schema; version++) {
		ok = sqlite3_exec(l->db, ledger_migrations[version], NULL, NULL, NULL) ==
			     SQLITE_OK ||
		     ledger_problem(l, "bring the ledger up to date", r);
	}
	if (ok && empty && has_runs(buf_cstr(&l->path)))
		ok = set_gap(l, true, r);
	ok = ok && (set_version(l, version) || ledger_problem(l, "bring the ledger up to date", r));
	if (ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

/* When it cannot be opened for writing, SQLite opens it for reading, whatever the reason was: a
 * moment without descriptors must not make it read-only for this process. */
static int connect(const char *path, sqlite3 **db)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
	int e = sqlite3_open_v2(path, db, flags, NULL);

	if (e != SQLITE_OK || sqlite3_db_readonly(*db, "main") != 1 || access(path, W_OK) < 0)
		return e;
	(void)sqlite3_close(*db);
	return sqlite3_open_v2(path, db, flags, NULL);
}

unsigned ledger_set_wait(struct ledger *l, unsigned wait_ms)
{
	unsigned was = (unsigned)l->wait_ms;

	l->wait_ms = wait_ms ? wait_ms : BUSY_MS;
	return was;
}

/* A log that is written ahead works on one machine only, so where others may come to the file it is
 * not used. Processes that still use it here are not waited for: the next one that opens the ledger
 * tries again. The index of the log is not made while no other process can have it: some file
 * systems cannot share memory. */
static void avoid_log(struct ledger *l)
{
	(void)sqlite3_exec(l->db, "PRAGMA locking_mode=EXCLUSIVE; PRAGMA journal_mode=TRUNCATE",
		NULL, NULL, NULL);
	(void)sqlite3_exec(
		l->db, "PRAGMA locking_mode=NORMAL; PRAGMA user_version", NULL, NULL, NULL);
}

/* One that is new gets the mode in which it stays. */
static bool set_mode(struct ledger *l)
{
	return sqlite3_exec(l->db,
		       l->network ? "PRAGMA journal_mode=TRUNCATE" : "PRAGMA journal_mode=WAL",
		       NULL, NULL, NULL) == SQLITE_OK;
}

struct ledger *ledger_open_file(const char *path, struct ledger_manner how, struct report *r)
{
	if (!ledger_is_file(path, r) || !ledger_files_beside(path, r))
		return NULL;
	struct ledger *l = mem_new(struct ledger);

	buf_adds(&l->path, path);
	l->durable = how.durable;
	(void)ledger_set_wait(l, how.wait_ms);
	if (connect(path, &l->db) != SQLITE_OK) {
		(void)ledger_problem(l, "open the ledger", r);
		ledger_close(l);
		return NULL;
	}
	l->network = file_system_is_network(path);
	if (l->network)
		avoid_log(l);
	(void)sqlite3_busy_handler(l->db, on_busy, l);
	(void)sqlite3_wal_autocheckpoint(l->db, CHECKPOINT_PAGES);
	(void)sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	return l;
}

static const char another_place[] = "$ROUX_STATE_DIR names another place for runs";

static bool cannot_make(const char *path, int error, struct report *r)
{
	report_errno(r, error, "cannot make the ledger %s", path);
	return report_hint(r, another_place);
}

/* A log beside a ledger that is not there belongs to nothing, and SQLite would put its pages into
 * the new one. It is gone, on the disk too, before that has its name: a crash leaves no ledger,
 * never one with the log of another. A process that has the old one open has its log open too, and
 * finds the new one before it writes again. */
static bool drop_log(const char *path, int dir, struct report *r)
{
	int dropped = ledger_drop_log(path);

	if (dropped < 0)
		return cannot_make(path, -dropped, r);
	return !dropped || fsync(dir) == 0 || cannot_make(path, errno, r);
}

/* An empty one at `path`, whole or not at all: a process that sees the name sees all the tables. */
static bool make_file(const char *path, struct report *r)
{
	AUTO_BUF temporary = BUF_INIT;
	AUTO_CLOSE int lock = -1;

	int e = ledger_lock(path, BUSY_MS, &lock);
	if (e < 0)
		return cannot_make(path, -e, r);
	if (ledger_is_there(path, true))
		return true; /* another process was quicker */
	buf_printf(&temporary, "%s.new", path);
	(void)unlink(buf_cstr(&temporary)); /* of a process that was killed here */
	AUTO_CLOSE int fd = open(
		buf_cstr(&temporary), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot_make(path, errno, r);
	struct ledger *l = ledger_open_file(buf_cstr(&temporary), LEDGER_USUAL, r);
	/* Until it has its name it need not survive a crash. */
	bool ok = l && (sqlite3_exec(l->db,
				"PRAGMA synchronous=OFF; PRAGMA "
				"journal_mode=MEMORY",
				NULL, NULL, NULL) == SQLITE_OK ||
			       ledger_problem(l, "make the ledger", r));
	if (ok) {
		l->sync_known = l->full = true; /* as it is */
		ok = migrate(l, r) && (set_mode(l) || ledger_problem(l, "make the ledger", r));
	}
	if (l)
		(void)sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	ledger_close(l);
	ok = ok && drop_log(path, lock, r);
	if (ok && (fsync(fd) < 0 || rename(buf_cstr(&temporary), path) < 0))
		ok = cannot_make(path, errno, r);
	if (!ok)
		(void)unlink(buf_cstr(&temporary));
	return ok;
}

static struct ledger *open_checked(const char *path, struct ledger_manner how, struct report *r)
{
	struct ledger *l = ledger_open_file(path, how, r);
	int version = 0;

	if (!l)
		return NULL;
	bool ok = read_version(l, &version, r);
	if (ok && version > ledger_schema) {
		ok = report_system(r, (struct where){ 0 },
			"the ledger %s was written by a newer roux: its schema is %d, this one "
			"knows %d",
			path, version, ledger_schema);
		report_hint(r, "use the newer roux");
		report_action(r, ACTION_REBUILD, S(""));
	} else if (ok && version < ledger_schema) {
		ok = migrate(l, r);
		/* The file was there and empty: not made by make_file(), so not in this mode yet.
		 */
		if (ok && version == 0)
			(void)set_mode(l);
	}
	if (ok) {
		ledger_take_news(l, NULL);
		return l;
	}
	ledger_close(l);
	return NULL;
}

struct ledger *ledger_open(struct str root, struct ledger_manner how, struct report *r)
{
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, root);
	if (access(buf_cstr(&path), F_OK) < 0) {
		int e = dir_make(buf_cstr(&path));

		if (e < 0) {
			report_fault(r, -e, "cannot make the directory %s", buf_cstr(&path));
			report_hint(r, another_place);
			return NULL;
		}
	}
	buf_adds(&path, "/ledger.db");
	if (access(buf_cstr(&path), F_OK) < 0 && !make_file(buf_cstr(&path), r))
		return NULL;
	return open_checked(buf_cstr(&path), how, r);
}

struct ledger *ledger_open_existing(struct str root, struct ledger_manner how, struct report *r)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/ledger.db", STR(root));
	if (!ledger_is_there(buf_cstr(&path), false))
		return NULL;
	return open_checked(buf_cstr(&path), how, r);
}

/* The header of the file: the name of its format, and at 60 `user_version`. One that was brought up
 * to date and has not been folded since still has the old version here; that one is opened. SQLite
 * makes its log beside it. */
bool ledger_is_ready(struct str root)
{
	static const char format[16] = "SQLite format 3";
	unsigned char head[100];
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, root);
	if (faccessat(AT_FDCWD, buf_cstr(&path), W_OK, AT_EACCESS) < 0)
		return false;
	buf_adds(&path, "/ledger.db");
	AUTO_CLOSE int fd =
		open(buf_cstr(&path), O_RDWR | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || pread(fd, head, sizeof(head), 0) != (ssize_t)sizeof(head))
		return false;
	int version = head[60] << 24 | head[61] << 16 | head[62] << 8 | head[63];
	return memcmp(head, format, sizeof(format)) == 0 && version == ledger_schema;
}

bool ledger_fold(struct ledger *l, struct report *r)
{
	return sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
		       SQLITE_OK ||
	       ledger_problem(l, "write the ledger", r);
}

static void disconnect(struct ledger *l)
{
	for (size_t i = 0; i < LEDGER_STATEMENTS; i++)
		(void)sqlite3_finalize(l->statements[i]);
	(void)sqlite3_close(l->db);
}

void ledger_close(struct ledger *l)
{
	if (!l)
		return;
	if (l->stays)
		(void)sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	disconnect(l);
	buf_done(&l->path);
	free(l);
}

void ledger_stays(struct ledger *l)
{
	if (!l->stays)
		(void)sqlite3_wal_autocheckpoint(l->db, CHECKPOINT_PAGES_STAYS);
	l->stays = true;
}

/* -- another file under the same name ------------------------------------------------------------
 */

static bool reopen(struct ledger *l, struct report *r)
{
	struct ledger *now = open_checked(
		buf_cstr(&l->path), (struct ledger_manner){ l->durable, (unsigned)l->wait_ms }, r);

	if (!now)
		return false;
	now->reopened = l->reopened + 1;
	disconnect(l);
	buf_done(&l->path);
	*l = *now;
	(void)sqlite3_busy_handler(l->db, on_busy, l);
	free(now);
	return true;
}

bool ledger_refresh(struct ledger *l, struct report *r)
{
	if (!sqlite3_get_autocommit(l->db) || reading(l))
		return true;
	if (replaced(l))
		return reopen(l, r);
	ledger_take_news(l, NULL);
	return true;
}
