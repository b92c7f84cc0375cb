/* The tables of the ledger and every statement that is run on them. */
#include "runs/ledger/store.h"

/* From version N-1 to N. What has been released is never changed: append. */
const char *const ledger_migrations[] = {
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

const int ledger_schema = ARRAY_SIZE(ledger_migrations);

#define ROW                                                                                  \
	"run.id, run.generation, run.seq, owner, recipe, recipe_path, recipe_sha256, tool,"  \
	" launch, cwd, dir, created, started, ended, status, code, pid, pid_start, boot_id," \
	" detached, handled, announced"

const char *const ledger_sql[LEDGER_STATEMENTS] = {
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
