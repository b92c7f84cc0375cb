#pragma once

#include <sqlite3.h>

#include "runs/ledger/ledger.h"

/* The inside of the ledger, for this folder alone: no other module knows of SQLite. */

/* Every statement is prepared once, when it is first used. */
enum ledger_statement {
	LEDGER_BEGIN,
	LEDGER_COMMIT,
	LEDGER_ROLLBACK,
	LEDGER_FIND,
	LEDGER_KNOWS,
	LEDGER_INSERT,
	LEDGER_POINT,
	LEDGER_POINT_BACK,
	LEDGER_SUPERSEDE,
	LEDGER_UNPOINT,
	LEDGER_DESCRIBE,
	LEDGER_START,
	LEDGER_UPDATE,
	LEDGER_CORRECT,
	LEDGER_SET_COUNTS,
	LEDGER_DELETE_GENERATION,
	LEDGER_DELETE_LEAVES,
	LEDGER_SEQ,
	LEDGER_FORGET_RUN,
	LEDGER_FORGET_LEAF,
	LEDGER_LEAF,
	LEDGER_LEAF_WHOLE,
	LEDGER_COUNT,
	LEDGER_USAGE,
	LEDGER_GAP,
	LEDGER_SET_GAP,
	LEDGER_IDS,
	LEDGER_STATUSES,
	LEDGER_STARTED_IN,
	LEDGER_VERSION,
	LEDGER_SPARE,
	LEDGER_SET_SPARE,
	LEDGER_QUEUE_NUMBER,
	LEDGER_QUEUE_LAST,
	LEDGER_QUEUE_SET_LAST,
	LEDGER_QUEUE_KEY,
	LEDGER_QUEUE_FRONT,
	LEDGER_QUEUE_ADD,
	LEDGER_QUEUE_QUEUED,
	LEDGER_QUEUE_RUNNING,
	LEDGER_QUEUE_DONE,
	LEDGER_QUEUE_COUNT,
	LEDGER_QUEUE_FIND,
	LEDGER_QUEUE_MOVE,
	LEDGER_QUEUE_EDIT,
	LEDGER_QUEUE_TAKE,
	LEDGER_QUEUE_PUT_BACK,
	LEDGER_QUEUE_END,
	LEDGER_QUEUE_DROP,
	LEDGER_QUEUE_CLEAR_KEYED,
	LEDGER_QUEUE_CLEAR,
	LEDGER_QUEUE_FORGET,
	LEDGER_HOST_GET,
	LEDGER_HOST_SET,
	LEDGER_HOST_INSERT,
	LEDGER_HOST_SWAP,
	LEDGER_HOST_DELETE,
	LEDGER_HOST_EACH,
	LEDGER_STATEMENTS,
};

struct ledger {
	sqlite3 *db;
	struct buf path;
	bool durable;
	bool network;          /* its file system is shared by machines */
	uint64_t wait_ms;      /* for another process that has it locked */
	bool full, sync_known; /* what `synchronous` is now */
	bool batch, batch_failed, stays;
	uint64_t claimed; /* the row that this connection has made: it is described already */
	uint64_t claimed_started; /* … with this start */
	uint8_t reopened;         /* how often another file has had its name */
	/* What ledger_spare() has answered, and for what, so that it counts once. */
	uint64_t spare_version;
	int64_t spare_directories, spare;
	int64_t queue_last;                /* the number that a batch has given last; 0: none yet */
	uint64_t busy_since_ms, waited_ms; /* since when it waits, or how long it did */
	sqlite3_stmt *statements[LEDGER_STATEMENTS];
};

/* From version N-1 to N at [N - 1]; the version that this roux writes; the statements (schema.c).
 */
extern const char *const ledger_migrations[];
extern const int ledger_schema;
extern const char *const ledger_sql[LEDGER_STATEMENTS];

/* A connection to a file that is there, whatever is in it. */
struct ledger *ledger_open_file(const char *path, struct ledger_manner how, struct report *r);

/* The lock of those who make a ledger or put one in its place, see file_lock(). -errno. */
int ledger_lock(const char *path, unsigned wait_ms, int *ret_fd);
/* Whether the file is there, also when that cannot be found out. One that a killed
 * ledger_exchange() has left aside gets its name again. `locked`: the caller has the lock. */
bool ledger_is_there(const char *path, bool locked);
/* Whether it is a file, if it is there; and what stands beside it under the names that SQLite
 * opens.
 */
bool ledger_is_file(const char *path, struct report *r);
bool ledger_files_beside(const char *path, struct report *r);
/* Deletes what SQLite has put beside a file that is not there. How many files that were, or -errno.
 */
int ledger_drop_log(const char *path);

/* What SQLite's last failure means for people, as one issue. Returns false. */
bool ledger_problem(struct ledger *l, const char *doing, struct report *r);

/* Ready to bind; NULL with an issue. ledger_end() gives it back. */
sqlite3_stmt *ledger_use(struct ledger *l, enum ledger_statement which, struct report *r);
void ledger_end(sqlite3_stmt *s);
/* Runs a statement that answers nothing and gives it back. False with an issue. */
bool ledger_step(struct ledger *l, sqlite3_stmt *s, const char *doing, struct report *r);
/* The one number that a statement without places answers. False: none, or with an issue. */
bool ledger_read_number(
	struct ledger *l, enum ledger_statement which, int64_t *ret, struct report *r);

/* One transaction that may write, on stable storage when `full`; or, between ledger_batch_begin()
 * and its end, a part of that one. Statements are taken after it began: it may open another file.
 */
bool ledger_begin(struct ledger *l, bool full, struct report *r);
bool ledger_commit(struct ledger *l, struct report *r);
void ledger_rollback(struct ledger *l);
/* Ends what ledger_begin() began: commits when all went well, else rolls back. False then too. */
bool ledger_conclude(struct ledger *l, bool ok, struct report *r);

/* Before a batch is committed: the numbers that it has given to items. */
bool ledger_queue_settle(struct ledger *l, struct report *r);

/* Before reading in a process that lives long: uses the file that has the ledger's name now, when a
 * rebuild has put another one there. */
bool ledger_refresh(struct ledger *l, struct report *r);

/* Texts are borrowed until the statement is given back; empty ones are NULL. */
void ledger_bind_str(sqlite3_stmt *s, int at, struct str text);
struct str ledger_column_str(sqlite3_stmt *s, int at);
/* The same for bytes that may be anything; empty ones are not NULL. */
void ledger_bind_bytes(sqlite3_stmt *s, int at, struct str bytes);
struct str ledger_column_bytes(sqlite3_stmt *s, int at);

/* Whether a host may store `bytes` (a `what`) under that name and key. False with an issue. */
bool ledger_accepts(
	struct str host, struct str key, struct str bytes, const char *what, struct report *r);
