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

/* By what the rows are found. Each index has its rows in the order of a list. */
enum way {
	WAY_SEQ,
	WAY_OWNER,
	WAY_RECIPE,
	WAY_STATUS,
	WAY_DETACHED,
	WAY_STARTED,
	WAY_LONG_AGO, /* as the first, from the newest of the range on, which the index knows */
};

static const char *const sources[] = {
	[WAY_SEQ] = "NOT INDEXED",
	[WAY_OWNER] = "INDEXED BY run_owner",
	[WAY_RECIPE] = "INDEXED BY run_recipe",
	[WAY_STATUS] = "INDEXED BY run_status",
	[WAY_DETACHED] = "INDEXED BY run_detached",
	[WAY_STARTED] = "INDEXED BY run_started",
	[WAY_LONG_AGO] = "NOT INDEXED",
};

enum { FEW = 1000, MANY = 40000, STATUS_AT = 20 };

/* Whether at most `count` were started in that time. */
static bool are_at_most(struct ledger *l, uint64_t since, uint64_t until, int count)
{
	AUTO_REPORT ignored = REPORT_INIT;
	sqlite3_stmt *s = ledger_use(l, LEDGER_STARTED_IN, &ignored);

	if (!s)
		return false;
	(void)sqlite3_bind_int64(s, 1, (sqlite3_int64)since);
	(void)sqlite3_bind_int64(s, 2, until ? (sqlite3_int64)until : INT64_MAX);
	(void)sqlite3_bind_int(s, 3, count + 1);
	bool few = sqlite3_step(s) == SQLITE_ROW && sqlite3_column_int(s, 0) <= count;
	ledger_end(s);
	return few;
}

static enum way choose(struct ledger *l, const struct ledger_filter *f)
{
	if (f->generations) /* the indexes have the current ones */
		return WAY_SEQ;
	if (f->owner.len)
		return WAY_OWNER;
	/* Sorting a few is cheaper than looking for them. */
	if ((f->since || f->until) && are_at_most(l, f->since, f->until, FEW))
		return WAY_STARTED;
	enum way way = f->recipe.len   ? WAY_RECIPE
		       : f->status.len ? WAY_STATUS
		       : f->detached   ? WAY_DETACHED
				       : WAY_SEQ;
	/* The newest are first in the table: many of them would be read in vain. */
	if (way == WAY_SEQ && f->until && !are_at_most(l, f->until + 1, 0, MANY))
		return WAY_LONG_AGO;
	return way;
}

static void add_columns(struct buf *text, const struct ledger_filter *f, enum way way)
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
	buf_printf(text, " FROM run %s WHERE ", sources[way]);
	buf_adds(text,
		f->generations ? "(superseded IS NULL OR (" EARLIER "))" : "superseded IS NULL");
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

/* The names of a filter, and those of which the ledger may be wrong: it does not know that a run
 * whose supervisor was killed has ended. */
struct statuses {
	struct str at[16];
	size_t count;
};

static void add_name(struct statuses *all, struct str name)
{
	for (size_t i = 0; i < all->count; i++)
		if (str_eq(all->at[i], name))
			return;
	if (name.len && all->count < ARRAY_SIZE(all->at))
		all->at[all->count++] = name;
}

static struct statuses statuses_of(struct str names)
{
	struct statuses all = { 0 };

	add_name(&all, S(STATUS_STARTING));
	add_name(&all, status_str(ROUX_RUNNING));
	for (size_t at = 0, end; at <= names.len; at = end + 1) {
		end = str_find(names, ',', at);
		add_name(&all, str_sub(names, at, end - at));
	}
	return all;
}

/* What every row has to fit, whichever way it was found. */
static void add_conditions(struct buf *text, const struct ledger_filter *f)
{
	if (f->owner.len)
		buf_adds(text, " AND owner = ?1");
	if (f->failures)
		add_failures(text);
	if (f->before)
		buf_adds(text, " AND seq < ?4");
	if (f->until)
		buf_adds(text, " AND started <= ?6");
	if (f->recipe.len)
		buf_adds(text, " AND recipe = ?7");
	if (f->prefix.len)
		buf_adds(text, " AND substr(id, 1, length(?8)) = ?8");
	if (f->match.len)
		buf_adds(text, " AND instr(id, ?9)");
	if (f->any.len)
		buf_adds(text, " AND (instr(id, ?10) OR instr(recipe, ?10))");
	if (f->detached)
		buf_adds(text, " AND detached = ?11");
}

/* One part of the list for each range of an index, each in the order of seq: SQLite merges them as
 * they are read, and what is not read costs nothing. */
static void add_parts(struct buf *text, const struct ledger_filter *f, enum way way,
	const struct statuses *statuses)
{
	size_t parts = way == WAY_STATUS ? statuses->count : 1;

	/* One without this time is being started. */
	if (way == WAY_STARTED && f->since && !f->until)
		parts = 2;
	for (size_t i = 0; i < parts; i++) {
		if (i)
			buf_adds(text, " UNION ALL ");
		add_columns(text, f, i && way == WAY_STARTED ? WAY_STATUS : way);
		if (way == WAY_STATUS)
			buf_printf(text, " AND status = ?%zu", STATUS_AT + i);
		else if (statuses->count) {
			buf_adds(text, " AND status IN (");
			for (size_t n = 0; n < statuses->count; n++)
				buf_printf(text, "%s?%zu", n ? ", " : "", STATUS_AT + n);
			buf_addc(text, ')');
		}
		if (f->since && way == WAY_STARTED)
			buf_adds(text, i ? " AND status = '" STATUS_STARTING "' AND started IS NULL"
					 : " AND started >= ?3");
		else if (f->since)
			buf_adds(text, " AND (started >= ?3 OR started IS NULL)");
		add_conditions(text, f);
		if (way == WAY_LONG_AGO)
			buf_adds(text, " AND seq <= (SELECT max(seq) FROM run INDEXED BY"
				       " run_started WHERE superseded IS NULL"
				       " AND started >= ?3 AND started <= ?6)");
	}
}

static sqlite3_stmt *prepare(struct ledger *l, const struct ledger_filter *f, struct report *r)
{
	AUTO_BUF text = BUF_INIT;
	sqlite3_stmt *s = NULL;
	struct statuses statuses = { 0 };

	if (f->status.len)
		statuses = statuses_of(f->status);
	add_parts(&text, f, choose(l, f), &statuses);
	buf_adds(&text, " ORDER BY seq DESC");
	if (f->limit)
		buf_adds(&text, " LIMIT ?5");
	if (sqlite3_prepare_v2(l->db, buf_cstr(&text), -1, &s, NULL) != SQLITE_OK) {
		(void)ledger_problem(l, "read the ledger", r);
		return NULL;
	}
	/* Binding one that the text does not have is an error of no consequence. */
	ledger_bind_str(s, 1, f->owner);
	(void)sqlite3_bind_int64(s, 3, (sqlite3_int64)f->since);
	(void)sqlite3_bind_int64(s, 4, (sqlite3_int64)f->before);
	(void)sqlite3_bind_int64(s, 5, (sqlite3_int64)f->limit);
	(void)sqlite3_bind_int64(s, 6, (sqlite3_int64)f->until);
	ledger_bind_str(s, 7, f->recipe);
	ledger_bind_str(s, 8, f->prefix);
	ledger_bind_str(s, 9, f->match);
	ledger_bind_str(s, 10, f->any);
	(void)sqlite3_bind_int(s, 11, f->detached > 0);
	for (size_t i = 0; i < statuses.count; i++)
		ledger_bind_str(s, STATUS_AT + (int)i, statuses.at[i]);
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

/* Most runs are done: those are all but the others, and how many there are is quickly counted. */
bool ledger_count_statuses(struct ledger *l,
	void (*see)(void *data, struct str status, uint64_t count), void *data, struct report *r)
{
	sqlite3_stmt *s = ledger_refresh(l, r) ? ledger_use(l, LEDGER_STATUSES, r) : NULL;
	int64_t all = 0;
	int step;

	if (!s)
		return false;
	while ((step = sqlite3_step(s)) == SQLITE_ROW) {
		all -= sqlite3_column_int64(s, 1);
		see(data, ledger_column_str(s, 0), (uint64_t)sqlite3_column_int64(s, 1));
	}
	if (step != SQLITE_DONE)
		(void)ledger_problem(l, "read the ledger", r);
	ledger_end(s);
	int64_t ids = 0;
	if (step != SQLITE_DONE || !ledger_read_number(l, LEDGER_IDS, &ids, r))
		return false;
	if (all + ids > 0)
		see(data, status_str(ROUX_DONE), (uint64_t)(all + ids));
	return true;
}

bool ledger_is_readable(struct ledger *l, struct report *r)
{
	int64_t version;

	return ledger_refresh(l, r) && ledger_read_number(l, LEDGER_VERSION, &version, r);
}

uint64_t ledger_version(struct ledger *l)
{
	AUTO_REPORT ignored = REPORT_INIT;
	int64_t version = 0;

	if (!ledger_refresh(l, &ignored) ||
		!ledger_read_number(l, LEDGER_VERSION, &version, &ignored))
		return 0;
	/* Another file under the same name begins at the same number. */
	return (uint64_t)version << 32 | (uint64_t)l->reopened << 24 |
	       (sqlite3_total_changes(l->db) & 0xffffff);
}
