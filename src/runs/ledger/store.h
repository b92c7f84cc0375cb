#pragma once

#include <sqlite3.h>

#include "runs/ledger/ledger.h"

/* The inside of the ledger, for ledger*.c alone: nobody else knows of SQLite. */

/* Every statement is prepared once, when it is first used. */
enum ledger_statement {
	LEDGER_BEGIN,
	LEDGER_COMMIT,
	LEDGER_ROLLBACK,
	LEDGER_FIND,
	LEDGER_LIST,
	LEDGER_INSERT,
	LEDGER_POINT,
	LEDGER_POINT_BACK,
	LEDGER_SUPERSEDE,
	LEDGER_UNPOINT,
	LEDGER_UPDATE,
	LEDGER_CORRECT,
	LEDGER_DELETE_GENERATION,
	LEDGER_FORGET_RUN,
	LEDGER_FORGET_LEAF,
	LEDGER_FORGET_MESSAGE,
	LEDGER_LEAF_START,
	LEDGER_LEAF_EXIT,
	LEDGER_COUNT,
	LEDGER_USAGE,
	LEDGER_STATEMENTS,
};

struct ledger {
	sqlite3 *db;
	struct buf path;
	bool durable;
	bool full, sync_known; /* what `synchronous` is now */
	sqlite3_stmt *statements[LEDGER_STATEMENTS];
};

/* From version N-1 to N at [N - 1]; the version that this roux writes; the statements (schema.c).
 */
extern const char *const ledger_migrations[];
extern const int ledger_schema;
extern const char *const ledger_sql[LEDGER_STATEMENTS];

/* What SQLite's last failure means for people, as one issue. Returns false. */
bool ledger_problem(struct ledger *l, const char *doing, struct report *r);

/* Ready to bind; NULL with an issue. ledger_end() gives it back. */
sqlite3_stmt *ledger_use(struct ledger *l, enum ledger_statement which, struct report *r);
void ledger_end(sqlite3_stmt *s);
/* Runs a statement that answers nothing and gives it back. False with an issue. */
bool ledger_step(struct ledger *l, sqlite3_stmt *s, const char *doing, struct report *r);

/* One transaction that may write, on stable storage when `full`. */
bool ledger_begin(struct ledger *l, bool full, struct report *r);
bool ledger_commit(struct ledger *l, struct report *r);
void ledger_rollback(struct ledger *l);

/* Texts are borrowed until the statement is given back; empty ones are NULL. */
void ledger_bind_str(sqlite3_stmt *s, int at, struct str text);
struct str ledger_column_str(sqlite3_stmt *s, int at);
