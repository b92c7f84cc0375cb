/* Lists of runs: all, or one page of those that a filter lets through. */
#include "base/run-status.h"
#include "runs/ledger/store.h"

static struct run_row read_short_row(sqlite3_stmt *s)
{
	return (struct run_row){
		.id = ledger_column_str(s, 0),
		.recipe = ledger_column_str(s, 1),
		.status = ledger_column_str(s, 2),
		.started = (uint64_t)sqlite3_column_int64(s, 3),
		.ended = (uint64_t)sqlite3_column_int64(s, 4),
		.owner = ledger_column_str(s, 5),
		.detached = sqlite3_column_int(s, 6) != 0,
		.seq = (uint64_t)sqlite3_column_int64(s, 7),
		.counted = sqlite3_column_type(s, 8) != SQLITE_NULL,
		.failed = (uint64_t)sqlite3_column_int64(s, 8),
		.tolerated = (uint64_t)sqlite3_column_int64(s, 9),
		.exit = sqlite3_column_int(s, 10),
		.generation = ledger_column_str(s, 11),
		.back = (uint64_t)sqlite3_column_int64(s, 12),
	};
}

/* One that was given up before it began has no directory: generations.h does not count it either.
 */
#define EARLIER " superseded IS NOT NULL AND started IS NOT NULL"

static void add_columns(struct buf *text, const struct ledger_filter *f)
{
	buf_adds(text, "SELECT id, recipe, status, started, ended, owner, detached, seq, failed,"
		       " tolerated, exit, generation,");
	if (f->generations)
		buf_adds(text, " CASE WHEN superseded IS NULL THEN 0 ELSE (SELECT 1 + count(*)"
			       " FROM run AS newer WHERE newer.id = run.id AND newer.seq > run.seq"
			       " AND newer.superseded IS NOT NULL AND newer.started IS NOT NULL)"
			       " END");
	else
		buf_adds(text, " 0");
	buf_printf(text, " FROM run %s WHERE ",
		f->owner.len && !f->generations ? "INDEXED BY run_owner" : "NOT INDEXED");
	buf_adds(text,
		f->generations ? "(superseded IS NULL OR (" EARLIER "))" : "superseded IS NULL");
}

/* What may be wrong about it is that it is not running any more. */
static void add_status(struct buf *text)
{
	buf_adds(text, " AND (instr(',' || ?2 || ',', ',' || status || ',')"
		       " OR status IN ('starting', 'running'))");
}

/* The same as run_row_has_failures(). */
static void add_failures(struct buf *text)
{
	buf_adds(text, " AND (failed > 0 OR failed IS NULL"
		       " OR status IN ('failed', 'timeout', 'starting', 'running'))");
}

bool run_row_has_failures(const struct run_row *row)
{
	return row->failed || status_is(row->status, ROUX_FAILED) ||
	       status_is(row->status, ROUX_TIMEOUT);
}

static sqlite3_stmt *prepare(struct ledger *l, const struct ledger_filter *f, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	sqlite3_stmt *s = NULL;

	add_columns(&text, f);
	if (f->owner.len)
		buf_adds(&text, " AND owner = ?1");
	if (f->status.len)
		add_status(&text);
	if (f->failures)
		add_failures(&text);
	if (f->since) /* one without this time is being started */
		buf_adds(&text, " AND (started >= ?3 OR started IS NULL)");
	if (f->before)
		buf_adds(&text, " AND seq < ?4");
	if (f->until)
		buf_adds(&text, " AND started <= ?6");
	if (f->recipe.len)
		buf_adds(&text, " AND recipe = ?7");
	if (f->prefix.len)
		buf_adds(&text, " AND substr(id, 1, length(?8)) = ?8");
	if (f->match.len)
		buf_adds(&text, " AND instr(id, ?9)");
	buf_adds(&text, " ORDER BY seq DESC");
	if (f->limit)
		buf_adds(&text, " LIMIT ?5");
	if (sqlite3_prepare_v2(l->db, buf_cstr(&text), -1, &s, NULL) != SQLITE_OK) {
		(void)ledger_problem(l, "read the ledger", r);
		return NULL;
	}
	/* Binding one that the text does not have is an error of no consequence. */
	ledger_bind_str(s, 1, f->owner);
	ledger_bind_str(s, 2, f->status);
	(void)sqlite3_bind_int64(s, 3, (sqlite3_int64)f->since);
	(void)sqlite3_bind_int64(s, 4, (sqlite3_int64)f->before);
	(void)sqlite3_bind_int64(s, 5, (sqlite3_int64)f->limit);
	(void)sqlite3_bind_int64(s, 6, (sqlite3_int64)f->until);
	ledger_bind_str(s, 7, f->recipe);
	ledger_bind_str(s, 8, f->prefix);
	ledger_bind_str(s, 9, f->match);
	return s;
}

bool ledger_list(struct ledger *l, const struct ledger_filter *filter,
	bool (*see)(void *data, const struct run_row *row), void *data, struct report *r)
{
	static const struct ledger_filter all;
	sqlite3_stmt *s = ledger_refresh(l, r) ? prepare(l, filter ? filter : &all, r) : NULL;
	int step;

	if (!s)
		return false;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		struct run_row row = read_short_row(s);

		if (!see(data, &row))
			break;
	}
	bool ok = step == SQLITE_DONE || step == SQLITE_ROW ||
		  ledger_problem(l, "read the ledger", r);
	(void)sqlite3_finalize(s);
	return ok;
}

bool ledger_count_statuses(struct ledger *l,
	void (*see)(void *data, struct str status, uint64_t count), void *data, struct report *r)
{
	static const char text[] = "SELECT status, count(*) FROM run WHERE superseded IS NULL"
				   " GROUP BY status";
	sqlite3_stmt *s = NULL;
	int step;

	if (!ledger_refresh(l, r))
		return false;
	if (sqlite3_prepare_v2(l->db, text, -1, &s, NULL) != SQLITE_OK)
		return ledger_problem(l, "read the ledger", r);
	while ((step = sqlite3_step(s)) == SQLITE_ROW)
		see(data, ledger_column_str(s, 0), (uint64_t)sqlite3_column_int64(s, 1));
	(void)sqlite3_finalize(s);
	return step == SQLITE_DONE || ledger_problem(l, "read the ledger", r);
}

uint64_t ledger_version(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	sqlite3_stmt *s = NULL;
	uint64_t version = 0;

	if (!ledger_refresh(l, &ignored) ||
		sqlite3_prepare_v2(l->db, "PRAGMA data_version", -1, &s, NULL) != SQLITE_OK)
		return 0;
	if (sqlite3_step(s) == SQLITE_ROW)
		version = (uint64_t)sqlite3_column_int64(s, 0) << 32 |
			  (uint32_t)sqlite3_total_changes(l->db);
	(void)sqlite3_finalize(s);
	return version;
}
