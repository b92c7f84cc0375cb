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

	/* Messages are in the directories of their runs; the table was never filled. An item of a
	 * queue is in one index a state; `counter` makes sure that a number is never used again. */
	"DROP TABLE message;"
	"CREATE TABLE queue("
	" item INTEGER PRIMARY KEY, host TEXT NOT NULL, lane INTEGER NOT NULL,"
	" place INTEGER NOT NULL, state TEXT NOT NULL, key BLOB, run TEXT, added INTEGER,"
	" began INTEGER, ended INTEGER, payload BLOB);"
	"CREATE UNIQUE INDEX queue_key ON queue(host, key) WHERE key IS NOT NULL;"
	"CREATE INDEX queue_queued ON queue(host, lane, place, item) WHERE state = 'queued';"
	"CREATE INDEX queue_running ON queue(host, item) WHERE state = 'running';"
	"CREATE INDEX queue_done ON queue(host, ended, item) WHERE state = 'done';"
	"CREATE TABLE counter(name TEXT PRIMARY KEY, n INTEGER NOT NULL);"
	"INSERT INTO counter(name, n) VALUES('queue', 0);"
	"CREATE TABLE host_state("
	" host TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY(host, key));",

	/* The runs of one owner, in the order of a list. */
	"CREATE INDEX run_owner ON run(owner, seq) WHERE superseded IS NULL;",

	/* How a run ended beyond its status. NULL: it ended before these were counted. */
	"ALTER TABLE run ADD COLUMN failed INTEGER;"
	"ALTER TABLE run ADD COLUMN tolerated INTEGER;"
	"ALTER TABLE run ADD COLUMN exit INTEGER;",

	/* A page of a list that is filtered, whatever the filter, without reading all rows. Every
	 * index that a change touches is a page to write, so they have only rows that can be asked
	 * for, and what is indexed besides the status does not change once a run has begun. */
	"DROP INDEX run_owner;"
	"CREATE INDEX run_owner ON run(owner, seq)"
	" WHERE superseded IS NULL AND owner IS NOT NULL;"
	"CREATE INDEX run_status ON run(status, seq) WHERE superseded IS NULL;"
	"CREATE INDEX run_recipe ON run(recipe, seq)"
	" WHERE superseded IS NULL AND recipe IS NOT NULL;"
	"CREATE INDEX run_started ON run(started, seq)"
	" WHERE superseded IS NULL AND started IS NOT NULL;"
	"CREATE INDEX run_detached ON run(detached, seq) WHERE superseded IS NULL;",
};

const int ledger_schema = ARRAY_SIZE(ledger_migrations);

#define ROW                                                                                  \
	"run.id, run.generation, run.seq, owner, recipe, recipe_path, recipe_sha256, tool,"  \
	" launch, cwd, dir, created, started, ended, status, code, pid, pid_start, boot_id," \
	" detached, handled, announced, failed, tolerated, exit"

#define QUEUE_ROW "item, lane, state, key, run, added, began, ended, payload"

const char *const ledger_sql[LEDGER_STATEMENTS] = {
	[LEDGER_BEGIN] = "BEGIN IMMEDIATE",
	[LEDGER_COMMIT] = "COMMIT",
	[LEDGER_ROLLBACK] = "ROLLBACK",
	[LEDGER_FIND] = "SELECT " ROW " FROM current JOIN run ON run.seq = current.seq"
			" WHERE current.id = ?1",
	/* Making a statement ready takes longer than running it: most starts need only this. */
	[LEDGER_KNOWS] = "SELECT 1 FROM current WHERE id = ?1",
	[LEDGER_INSERT] =
		"INSERT INTO run(id, generation, owner, recipe, recipe_path,"
		" recipe_sha256, tool, launch, cwd, dir, created, started, ended, status,"
		" code, pid, pid_start, boot_id, detached, handled, announced, failed, tolerated,"
		" exit, lock_path)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14,"
		" ?15, ?16, ?17, ?18, ?19, ?20, ?21, ?22, ?23, ?24, ?10 || '/.alive')",
	[LEDGER_POINT] = "INSERT OR REPLACE INTO current(id, generation, seq) VALUES(?1, ?2, ?3)",
	[LEDGER_SUPERSEDE] = "UPDATE run SET superseded = nullif(seq, (SELECT seq FROM current"
			     " WHERE id = ?1)) WHERE id = ?1",
	[LEDGER_POINT_BACK] = "INSERT INTO current(id, generation, seq)"
			      " SELECT id, generation, seq FROM run WHERE id = ?1"
			      " ORDER BY seq DESC LIMIT 1",
	[LEDGER_UNPOINT] = "DELETE FROM current WHERE id = ?1",
	/* A text that is not given leaves the one that is known. A statement that names a column
	 * writes the pages of its indexes: nothing is written when nothing is new. */
	[LEDGER_DESCRIBE] =
		"UPDATE run SET owner = ifnull(?3, owner), recipe = ifnull(?4, recipe),"
		" recipe_path = ifnull(?5, recipe_path),"
		" recipe_sha256 = ifnull(?6, recipe_sha256), tool = ifnull(?7, tool),"
		" launch = ifnull(?8, launch), cwd = ifnull(?9, cwd), dir = ifnull(?10, dir),"
		" created = ifnull(?11, created), detached = ?19"
		" WHERE id = ?1 AND generation = ?2"
		" AND NOT (owner IS ifnull(?3, owner) AND recipe IS ifnull(?4, recipe)"
		" AND recipe_path IS ifnull(?5, recipe_path)"
		" AND recipe_sha256 IS ifnull(?6, recipe_sha256) AND tool IS ifnull(?7, tool)"
		" AND launch IS ifnull(?8, launch) AND cwd IS ifnull(?9, cwd)"
		" AND dir IS ifnull(?10, dir) AND created IS ifnull(?11, created)"
		" AND detached IS ?19)",
	[LEDGER_START] =
		"UPDATE run SET started = ?12"
		" WHERE id = ?1 AND generation = ?2 AND started IS NOT ifnull(?12, started)",
	[LEDGER_UPDATE] = "UPDATE run SET ended = ?13, status = ?14, code = ?15, pid = ?16,"
			  " pid_start = ?17, boot_id = ?18, handled = CASE ?14 WHEN 'running'"
			  " THEN ?20 ELSE ifnull(?20, handled) END,"
			  " announced = max(announced, ?21), failed = ?22, tolerated = ?23,"
			  " exit = ?24 WHERE id = ?1 AND generation = ?2",
	[LEDGER_CORRECT] = "UPDATE run SET status = ?3, ended = ?4, code = ?6, failed = ?7,"
			   " tolerated = ?8, exit = ?9 WHERE id = ?1 AND generation = ?2"
			   " AND status IN ('starting', 'running', 'paused', 'exited')"
			   " AND pid_start IS ?5",
	[LEDGER_SET_COUNTS] = "UPDATE run SET failed = ?3, tolerated = ?4, exit = ?5"
			      " WHERE id = ?1 AND generation = ?2 AND failed IS NULL"
			      " AND status NOT IN ('starting', 'running')",
	[LEDGER_DELETE_GENERATION] = "DELETE FROM run WHERE id = ?1 AND generation = ?2",
	[LEDGER_DELETE_LEAVES] = "DELETE FROM leaf WHERE id = ?1 AND generation = ?2",
	[LEDGER_SEQ] = "SELECT seq FROM run WHERE id = ?1 AND generation = ?2",
	[LEDGER_FORGET_RUN] = "DELETE FROM run WHERE id = ?1",
	[LEDGER_FORGET_LEAF] = "DELETE FROM leaf WHERE id = ?1",
	/* Its start, its end, or both at once; what is not given leaves what is known. */
	[LEDGER_LEAF] = "INSERT INTO leaf(id, generation, path, attempt, state, pid, start, began,"
			" code, signal, ended, out_bytes, err_bytes)"
			" VALUES(?1, ?2, ?3, ?4, iif(?10, 'ended', 'started'), ?5, ?6, ?7, ?8, ?9,"
			" ?10, ?11, ?12) ON CONFLICT DO UPDATE SET"
			" state = iif(?10, 'ended', state), pid = ifnull(?5, pid),"
			" start = ifnull(?6, start), began = ifnull(?7, began),"
			" code = ifnull(?8, code), signal = ifnull(?9, signal),"
			" ended = ifnull(?10, ended), out_bytes = ifnull(?11, out_bytes),"
			" err_bytes = ifnull(?12, err_bytes)",
	/* Both at once, as nearly all are. */
	[LEDGER_LEAF_WHOLE] =
		"INSERT OR REPLACE INTO leaf(id, generation, path, attempt, state, pid, start,"
		" began, code, signal, ended, out_bytes, err_bytes)"
		" VALUES(?1, ?2, ?3, ?4, 'ended', ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
	/* A recipe that was changed is counted anew. */
	[LEDGER_COUNT] = "INSERT INTO usage(recipe_path, calls, last_called, fingerprint)"
			 " VALUES(?1, 1, ?2, ?3) ON CONFLICT(recipe_path) DO UPDATE SET"
			 " calls = CASE WHEN fingerprint = ?3 THEN calls + 1 ELSE 1 END,"
			 " reset_at = CASE WHEN fingerprint = ?3 THEN reset_at ELSE ?2 END,"
			 " last_called = ?2, fingerprint = ?3",
	[LEDGER_USAGE] = "SELECT calls, last_called, fingerprint, reset_at FROM usage"
			 " WHERE recipe_path = ?1",

	[LEDGER_GAP] = "SELECT n FROM counter WHERE name = 'gap'",
	[LEDGER_SET_GAP] = "INSERT OR REPLACE INTO counter(name, n) VALUES('gap', ?1)",
	[LEDGER_IDS] = "SELECT count(*) FROM current",
	[LEDGER_STATUSES] = "SELECT status, count(*) FROM run INDEXED BY run_status"
			    " WHERE superseded IS NULL AND status < 'done' GROUP BY status"
			    " UNION ALL SELECT status, count(*) FROM run INDEXED BY run_status"
			    " WHERE superseded IS NULL AND status > 'done' GROUP BY status",
	[LEDGER_STARTED_IN] = "SELECT count(*) FROM (SELECT 1 FROM run INDEXED BY run_started"
			      " WHERE superseded IS NULL AND started >= ?1 AND started <= ?2"
			      " LIMIT ?3)",
	[LEDGER_VERSION] = "PRAGMA data_version",
	[LEDGER_SPARE] = "SELECT n FROM counter WHERE name = 'spare'",
	[LEDGER_SET_SPARE] = "INSERT OR REPLACE INTO counter(name, n) VALUES('spare', ?1)",

	[LEDGER_QUEUE_NUMBER] = "UPDATE counter SET n = n + 1 WHERE name = 'queue' RETURNING n",
	[LEDGER_QUEUE_LAST] = "SELECT n FROM counter WHERE name = 'queue'",
	[LEDGER_QUEUE_SET_LAST] = "UPDATE counter SET n = ?1 WHERE name = 'queue'",
	[LEDGER_QUEUE_KEY] = "SELECT item, lane, state FROM queue WHERE host = ?1 AND key = ?2",
	[LEDGER_QUEUE_FRONT] = "SELECT place - 1 FROM queue"
			       " WHERE host = ?1 AND lane = ?2 AND state = 'queued'"
			       " ORDER BY place LIMIT 1",
	[LEDGER_QUEUE_ADD] =
		"INSERT INTO queue(host, item, lane, place, key, added, payload, state)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, 'queued')"
		" ON CONFLICT(host, key) WHERE key IS NOT NULL DO NOTHING",
	[LEDGER_QUEUE_QUEUED] = "SELECT " QUEUE_ROW " FROM queue"
				" WHERE host = ?1 AND state = 'queued' ORDER BY lane, place, item",
	[LEDGER_QUEUE_RUNNING] = "SELECT " QUEUE_ROW " FROM queue"
				 " WHERE host = ?1 AND state = 'running' ORDER BY item",
	[LEDGER_QUEUE_DONE] = "SELECT " QUEUE_ROW " FROM queue"
			      " WHERE host = ?1 AND state = 'done' ORDER BY ended, item",
	[LEDGER_QUEUE_COUNT] = "SELECT lane, count(*) FROM queue"
			       " WHERE host = ?1 AND lane >= 0 AND lane < ?2 AND state = 'queued'"
			       " GROUP BY lane",
	[LEDGER_QUEUE_FIND] = "SELECT " QUEUE_ROW " FROM queue WHERE host = ?1 AND item = ?2",
	[LEDGER_QUEUE_MOVE] = "UPDATE queue SET lane = ?3, place = ?4"
			      " WHERE host = ?1 AND item = ?2 AND state = 'queued'",
	[LEDGER_QUEUE_EDIT] = "UPDATE queue SET payload = ?3"
			      " WHERE host = ?1 AND item = ?2 AND state = 'queued'",
	[LEDGER_QUEUE_TAKE] = "UPDATE queue SET state = 'running', run = ?3, began = ?4"
			      " WHERE host = ?1 AND item = ?2 AND state = 'queued'",
	[LEDGER_QUEUE_PUT_BACK] = "UPDATE queue SET state = 'queued', run = NULL, began = NULL"
				  " WHERE host = ?1 AND item = ?2 AND state = 'running'",
	[LEDGER_QUEUE_END] = "UPDATE queue SET state = 'done', ended = ?4, payload = NULL"
			     " WHERE host = ?1 AND item = ?2 AND state = ?3 AND key IS NOT NULL",
	[LEDGER_QUEUE_DROP] = "DELETE FROM queue"
			      " WHERE host = ?1 AND item = ?2 AND state = ?3 AND key IS NULL",
	[LEDGER_QUEUE_CLEAR_KEYED] = "UPDATE queue SET state = 'done', ended = ?2, payload = NULL"
				     " WHERE host = ?1 AND state = 'queued' AND key IS NOT NULL",
	[LEDGER_QUEUE_CLEAR] = "DELETE FROM queue WHERE host = ?1 AND state = 'queued'",
	[LEDGER_QUEUE_FORGET] = "DELETE FROM queue"
				" WHERE host = ?1 AND state = 'done' AND ended < ?2",

	[LEDGER_HOST_GET] = "SELECT value FROM host_state WHERE host = ?1 AND key = ?2",
	[LEDGER_HOST_SET] = "INSERT INTO host_state(host, key, value) VALUES(?1, ?2, ?3)"
			    " ON CONFLICT DO UPDATE SET value = ?3",
	[LEDGER_HOST_INSERT] = "INSERT OR IGNORE INTO host_state(host, key, value)"
			       " VALUES(?1, ?2, ?3)",
	[LEDGER_HOST_SWAP] = "UPDATE host_state SET value = ?3"
			     " WHERE host = ?1 AND key = ?2 AND value = ?4",
	[LEDGER_HOST_DELETE] = "DELETE FROM host_state WHERE host = ?1 AND key = ?2",
	[LEDGER_HOST_EACH] = "SELECT key, value FROM host_state WHERE host = ?1 AND key >= ?2"
			     " ORDER BY key",
};
