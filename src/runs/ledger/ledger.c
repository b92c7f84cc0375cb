#include "runs/ledger/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/atomic-file.h"
#include "base/file.h"
#include "base/mem.h"

/* A transaction takes less than a millisecond; whoever holds the ledger this long is stopped. */
enum { BUSY_MS = 10000 };
/* The log is put back into the ledger when it has this many pages. It is left there when the last
 * process goes, because that would cost each of them two flushes; the next one reads it again, so
 * it is kept short. */
enum { CHECKPOINT_PAGES = 128 };

/* -- schema --------------------------------------------------------------------------------------
 */

/* From version N-1 to N. What has been released is never changed: append. */
static const char *const migrations[] = {
	/* What a list shows comes first: the rest of a row is then not even looked at. */
	"CREATE TABLE run("
	" seq INTEGER PRIMARY KEY, id TEXT NOT NULL, generation TEXT NOT NULL,"
	" superseded INTEGER, status TEXT NOT NULL, started INTEGER, ended INTEGER, owner TEXT,"
	" recipe TEXT, detached INTEGER, recipe_path TEXT, recipe_sha256 TEXT, tool TEXT,"
	" launch TEXT, cwd TEXT, dir TEXT, created INTEGER, code INTEGER, pid INTEGER,"
	" pid_start INTEGER, boot_id TEXT, lock_path TEXT, handled TEXT, announced INTEGER,"
	" UNIQUE(id, generation));"
	"CREATE TABLE current(id TEXT PRIMARY KEY, generation TEXT NOT NULL, seq INTEGER NOT NULL)"
	" WITHOUT ROWID;"
	"CREATE TABLE leaf("
	" id TEXT NOT NULL, generation TEXT NOT NULL, path TEXT NOT NULL, attempt INTEGER NOT NULL,"
	" state TEXT NOT NULL, pid INTEGER, start INTEGER, code INTEGER, signal INTEGER,"
	" began INTEGER, ended INTEGER, out_bytes INTEGER, err_bytes INTEGER, out_sha256 TEXT,"
	" PRIMARY KEY(id, generation, path, attempt)) WITHOUT ROWID;"
	"CREATE TABLE message("
	" id TEXT PRIMARY KEY, run TEXT NOT NULL, generation TEXT, dir TEXT NOT NULL,"
	" type TEXT NOT NULL, status TEXT, ts INTEGER, body TEXT) WITHOUT ROWID;"
	"CREATE INDEX message_run ON message(run, generation);"
	"CREATE TABLE usage("
	" recipe_path TEXT PRIMARY KEY, calls INTEGER NOT NULL, last_called INTEGER,"
	" fingerprint TEXT, reset_at INTEGER) WITHOUT ROWID;",
};

enum { SCHEMA = ARRAY_SIZE(migrations) };

#define ROW                                                                                  \
	"run.id, run.generation, run.seq, owner, recipe, recipe_path, recipe_sha256, tool,"  \
	" launch, cwd, dir, created, started, ended, status, code, pid, pid_start, boot_id," \
	" detached, handled, announced"

static const char *const sql[LEDGER_STATEMENTS] = {
	[LEDGER_BEGIN] = "BEGIN IMMEDIATE",
	[LEDGER_COMMIT] = "COMMIT",
	[LEDGER_ROLLBACK] = "ROLLBACK",
	[LEDGER_FIND] = "SELECT " ROW " FROM current JOIN run ON run.seq = current.seq"
			" WHERE current.id = ?1",
	[LEDGER_LIST] = "SELECT id, recipe, status, started, ended, owner, detached"
			" FROM run WHERE superseded IS NULL ORDER BY seq DESC",
	[LEDGER_INSERT] = "INSERT INTO run(id, generation, owner, recipe, recipe_path,"
			  " recipe_sha256, tool, launch, cwd, dir, created, started, ended, status,"
			  " code, pid, pid_start, boot_id, detached, handled, announced, lock_path)"
			  " VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
			  " ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?10 || '/.alive')",
	[LEDGER_POINT] = "INSERT OR REPLACE INTO current(id, generation, seq) VALUES(?1, ?2, ?3)",
	[LEDGER_SUPERSEDE] = "UPDATE run SET superseded = nullif(seq, (SELECT seq FROM current"
			     " WHERE id = ?1)) WHERE id = ?1",
	[LEDGER_POINT_BACK] = "INSERT INTO current(id, generation, seq)"
			      " SELECT id, generation, seq FROM run WHERE id = ?1"
			      " ORDER BY seq DESC LIMIT 1",
	[LEDGER_UNPOINT] = "DELETE FROM current WHERE id = ?1",
	/* An empty text is no news; what is known stays. */
	[LEDGER_UPDATE] =
		"UPDATE run SET owner = ifnull(?3, owner), recipe = ifnull(?4, recipe),"
		" recipe_path = ifnull(?5, recipe_path),"
		" recipe_sha256 = ifnull(?6, recipe_sha256), tool = ifnull(?7, tool),"
		" launch = ifnull(?8, launch), cwd = ifnull(?9, cwd), dir = ifnull(?10, dir),"
		" created = ifnull(?11, created), started = ifnull(?12, started),"
		" ended = ?13, status = ?14, code = ?15, pid = ?16, pid_start = ?17,"
		" boot_id = ?18, detached = ?19, handled = CASE ?14 WHEN 'running' THEN ?20 ELSE "
		"ifnull(?20, handled) END,"
		" announced = max(announced, ?21)"
		" WHERE id = ?1 AND generation = ?2",
	[LEDGER_CORRECT] = "UPDATE run SET status = ?3, ended = ?4, code = ?6"
			   " WHERE id = ?1 AND generation = ?2"
			   " AND status IN ('starting', 'running') AND pid_start IS ?5",
	[LEDGER_DELETE_GENERATION] = "DELETE FROM run WHERE id = ?1 AND generation = ?2",
	[LEDGER_FORGET_RUN] = "DELETE FROM run WHERE id = ?1",
	[LEDGER_FORGET_LEAF] = "DELETE FROM leaf WHERE id = ?1",
	[LEDGER_FORGET_MESSAGE] = "DELETE FROM message WHERE run = ?1",
	[LEDGER_LEAF_START] = "INSERT INTO leaf(id, generation, path, attempt, state, pid, start,"
			      " began) VALUES(?1, ?2, ?3, ?4, 'started', ?5, ?6, ?7)"
			      " ON CONFLICT DO UPDATE SET pid = ?5, start = ?6, began = ?7",
	[LEDGER_LEAF_EXIT] = "INSERT INTO leaf(id, generation, path, attempt, state, code, signal,"
			     " ended, out_bytes, err_bytes)"
			     " VALUES(?1, ?2, ?3, ?4, 'ended', ?5, ?6, ?7, ?8, ?9)"
			     " ON CONFLICT DO UPDATE SET state = 'ended', code = ?5, signal = ?6,"
			     " ended = ?7, out_bytes = ?8, err_bytes = ?9",
	/* A recipe that was changed is counted anew. */
	[LEDGER_COUNT] = "INSERT INTO usage(recipe_path, calls, last_called, fingerprint)"
			 " VALUES(?1, 1, ?2, ?3) ON CONFLICT(recipe_path) DO UPDATE SET"
			 " calls = CASE WHEN fingerprint = ?3 THEN calls + 1 ELSE 1 END,"
			 " reset_at = CASE WHEN fingerprint = ?3 THEN reset_at ELSE ?2 END,"
			 " last_called = ?2, fingerprint = ?3",
	[LEDGER_USAGE] = "SELECT calls, last_called, fingerprint, reset_at FROM usage"
			 " WHERE recipe_path = ?1",
};

/* -- what went wrong -----------------------------------------------------------------------------
 */

#define REBUILD "`roux doctor --rebuild` makes it anew from the run directories"

bool ledger_problem(struct ledger *l, const char *doing, struct report *r)
{
	struct where nowhere = { 0 };
	const char *path = buf_cstr(&l->path);
	int system = sqlite3_system_errno(l->db);

	switch (sqlite3_errcode(l->db)) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_ERROR: /* a table is not what it should be */
	case SQLITE_CONSTRAINT:
		report_system(r, nowhere, "cannot %s: %s is damaged: %s", doing, path,
			sqlite3_errmsg(l->db));
		return report_hint(r, REBUILD);
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		report_system(r, nowhere, "cannot %s: somebody has held %s for %d seconds", doing,
			path, BUSY_MS / 1000);
		return report_hint(r, "look for a stopped roux: ps -C roux -o pid,stat,args");
	case SQLITE_FULL:
		report_system(r, nowhere, "cannot %s: no space left for %s", doing, path);
		return report_hint(r, "make room there; `roux prune` lists runs that could go");
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		report_system(r, nowhere, "cannot %s: %s cannot be written", doing, path);
		return report_hint(r, "make the file and its directory yours to write, or set "
				      "ROUX_STATE_DIR to a directory that is");
	default:
		report_system(r, nowhere, "cannot %s: %s: %s", doing, path,
			system ? strerror(system) : sqlite3_errmsg(l->db));
		return report_hint(r, system == ENOSPC
					      ? "make room there"
					      : "look at that file and its directory; if it "
						"is damaged, " REBUILD);
	}
}

/* -- statements ----------------------------------------------------------------------------------
 */

sqlite3_stmt *ledger_use(struct ledger *l, enum ledger_statement which, struct report *r)
{
	sqlite3_stmt **s = &l->statements[which];

	if (!*s && sqlite3_prepare_v3(l->db, sql[which], -1, SQLITE_PREPARE_PERSISTENT, s, NULL) !=
			   SQLITE_OK) {
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

/* A process that is killed loses nothing that was committed either way; `full` is for power cuts
 * (async-runs.md section 11). */
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

bool ledger_begin(struct ledger *l, bool full, struct report *r)
{
	if (!set_sync(l, full))
		return ledger_problem(l, "write the ledger", r);
	return ledger_step(l, ledger_use(l, LEDGER_BEGIN, r), "write the ledger", r);
}

bool ledger_commit(struct ledger *l, struct report *r)
{
	if (ledger_step(l, ledger_use(l, LEDGER_COMMIT, r), "write the ledger", r))
		return true;
	ledger_rollback(l);
	return false;
}

void ledger_rollback(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;

	/* Some failures have rolled it back already. */
	if (!sqlite3_get_autocommit(l->db))
		(void)ledger_step(l, ledger_use(l, LEDGER_ROLLBACK, &ignored), "undo", &ignored);
}

/* -- opening -------------------------------------------------------------------------------------
 */

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

/* From the version that it is to ours, in one transaction. */
static bool migrate(struct ledger *l, struct report *r)
{
	int version = 0;
	char text[64];

	if (!ledger_begin(l, true, r))
		return false;
	bool ok = read_version(l, &version, r); /* somebody else may have been quicker */
	for (; ok && version < SCHEMA; version++) {
		ok = sqlite3_exec(l->db, migrations[version], NULL, NULL, NULL) == SQLITE_OK ||
		     ledger_problem(l, "bring the ledger up to date", r);
	}
	(void)snprintf(text, sizeof(text), "PRAGMA user_version=%d", version);
	ok = ok && (sqlite3_exec(l->db, text, NULL, NULL, NULL) == SQLITE_OK ||
			   ledger_problem(l, "bring the ledger up to date", r));
	if (ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

static struct ledger *open_file(const char *path, bool durable, struct report *r)
{
	struct ledger *l = mem_new(struct ledger);

	buf_adds(&l->path, path);
	l->durable = durable;
	if (sqlite3_open_v2(path, &l->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
		SQLITE_OK) {
		(void)ledger_problem(l, "open the ledger", r);
		ledger_close(l);
		return NULL;
	}
	(void)sqlite3_busy_timeout(l->db, BUSY_MS);
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

/* An empty one at `path`, whole or not at all: whoever sees the name sees all the tables. */
static bool make_file(const char *path, struct report *r)
{
	AUTO_BUF temporary = BUF_INIT;
	AUTO_CLOSE int lock = -1;

	int e = file_lock(path, BUSY_MS, &lock);
	if (e < 0)
		return cannot_make(path, -e, r);
	if (access(path, F_OK) == 0)
		return true; /* somebody was quicker */
	buf_printf(&temporary, "%s.new", path);
	(void)unlink(buf_cstr(&temporary)); /* of somebody who was killed here */
	AUTO_CLOSE int fd = open(
		buf_cstr(&temporary), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return cannot_make(path, errno, r);
	struct ledger *l = open_file(buf_cstr(&temporary), false, r);
	/* Until it has its name nobody needs it to be safe. */
	bool ok = l && (sqlite3_exec(l->db, "PRAGMA synchronous=OFF; PRAGMA journal_mode=MEMORY",
				NULL, NULL, NULL) == SQLITE_OK ||
			       ledger_problem(l, "make the ledger", r));
	if (ok) {
		l->sync_known = l->full = true; /* as it is */
		ok = migrate(l, r) && (sqlite3_exec(l->db, "PRAGMA journal_mode=WAL", NULL, NULL,
					       NULL) == SQLITE_OK ||
					      ledger_problem(l, "make the ledger", r));
	}
	if (l)
		(void)sqlite3_db_config(l->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0, NULL);
	ledger_close(l);
	if (ok && (fsync(fd) < 0 || rename(buf_cstr(&temporary), path) < 0))
		ok = cannot_make(path, errno, r);
	if (!ok)
		(void)unlink(buf_cstr(&temporary));
	return ok;
}

static struct ledger *open_checked(const char *path, bool durable, struct report *r)
{
	struct ledger *l = open_file(path, durable, r);
	int version = 0;

	if (!l)
		return NULL;
	bool ok = read_version(l, &version, r);
	if (ok && version > SCHEMA) {
		ok = report_system(r, (struct where){ 0 },
			"the ledger %s was written by a newer roux: its schema is %d, this one "
			"knows %d",
			path, version, SCHEMA);
		report_hint(r, "use the newer roux, or `roux doctor --rebuild` makes a ledger for "
			       "this one");
	} else if (ok && version < SCHEMA) {
		ok = migrate(l, r);
		/* An empty file that was no ledger of ours has not got it yet. */
		if (ok && version == 0)
			(void)sqlite3_exec(l->db, "PRAGMA journal_mode=WAL", NULL, NULL, NULL);
	}
	if (ok)
		return l;
	ledger_close(l);
	return NULL;
}

struct ledger *ledger_open(struct str root, bool durable, struct report *r)
{
	AUTO_BUF path = BUF_INIT;

	buf_add(&path, root);
	if (access(buf_cstr(&path), F_OK) < 0) {
		int e = dir_make(buf_cstr(&path));

		if (e < 0) {
			report_errno(r, -e, "cannot make the directory %s", buf_cstr(&path));
			report_hint(r, another_place);
			return NULL;
		}
	}
	buf_adds(&path, "/ledger.db");
	if (access(buf_cstr(&path), F_OK) < 0 && !make_file(buf_cstr(&path), r))
		return NULL;
	return open_checked(buf_cstr(&path), durable, r);
}

struct ledger *ledger_open_existing(struct str root, struct report *r)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%.*s/ledger.db", STR(root));
	if (access(buf_cstr(&path), F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return NULL;
	return open_checked(buf_cstr(&path), false, r);
}

bool ledger_fold(struct ledger *l, struct report *r)
{
	return sqlite3_wal_checkpoint_v2(l->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL) ==
		       SQLITE_OK ||
	       ledger_problem(l, "write the ledger", r);
}

void ledger_close(struct ledger *l)
{
	if (!l)
		return;
	for (size_t i = 0; i < LEDGER_STATEMENTS; i++)
		(void)sqlite3_finalize(l->statements[i]);
	(void)sqlite3_close(l->db);
	buf_done(&l->path);
	free(l);
}
