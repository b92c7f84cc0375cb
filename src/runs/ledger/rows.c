/* The runs of the ledger: claimed, updated, found. */
#include <errno.h>
#include <string.h>

#include "base/run-status.h"
#include "runs/dir/refusal.h"
#include "runs/ledger/store.h"

/* Times and numbers that are not known are NULL, so that they can be told from 0. */
static void bind_time(sqlite3_stmt *s, int at, uint64_t value)
{
	if (value)
		(void)sqlite3_bind_int64(s, at, (sqlite3_int64)value);
	else
		(void)sqlite3_bind_null(s, at);
}

/* Likewise; three places from `at` on. */
static void bind_counts(sqlite3_stmt *s, int at, const struct run_row *row)
{
	const uint64_t counts[] = { row->failed, row->tolerated, (uint64_t)row->exit };

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (row->counted)
			(void)sqlite3_bind_int64(s, at + (int)i, (sqlite3_int64)counts[i]);
		else
			(void)sqlite3_bind_null(s, at + (int)i);
}

/* The same places in LEDGER_INSERT, LEDGER_DESCRIBE, LEDGER_START and LEDGER_UPDATE. */
static void bind_row(sqlite3_stmt *s, const struct run_row *row)
{
	const struct str texts[] = { row->id, row->generation, row->owner, row->recipe,
		row->recipe_path, row->recipe_sha256, row->tool, row->launch, row->cwd, row->dir };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		ledger_bind_str(s, (int)i + 1, texts[i]);
	bind_time(s, 11, row->created);
	bind_time(s, 12, row->started);
	bind_time(s, 13, row->ended);
	ledger_bind_str(s, 14, row->status.len ? row->status : S(STATUS_STARTING));
	(void)sqlite3_bind_int(s, 15, row->code);
	bind_time(s, 16, (uint64_t)row->pid);
	bind_time(s, 17, row->pid_start);
	ledger_bind_str(s, 18, row->boot_id);
	(void)sqlite3_bind_int(s, 19, row->detached);
	ledger_bind_str(s, 20, row->handled);
	(void)sqlite3_bind_int(s, 21, row->announced);
	bind_counts(s, 22, row);
}

static struct run_row read_row(sqlite3_stmt *s)
{
	return (struct run_row){
		.id = ledger_column_str(s, 0),
		.generation = ledger_column_str(s, 1),
		.seq = (uint64_t)sqlite3_column_int64(s, 2),
		.owner = ledger_column_str(s, 3),
		.recipe = ledger_column_str(s, 4),
		.recipe_path = ledger_column_str(s, 5),
		.recipe_sha256 = ledger_column_str(s, 6),
		.tool = ledger_column_str(s, 7),
		.launch = ledger_column_str(s, 8),
		.cwd = ledger_column_str(s, 9),
		.dir = ledger_column_str(s, 10),
		.created = (uint64_t)sqlite3_column_int64(s, 11),
		.started = (uint64_t)sqlite3_column_int64(s, 12),
		.ended = (uint64_t)sqlite3_column_int64(s, 13),
		.status = ledger_column_str(s, 14),
		.code = sqlite3_column_int(s, 15),
		.pid = sqlite3_column_int64(s, 16),
		.pid_start = (uint64_t)sqlite3_column_int64(s, 17),
		.boot_id = ledger_column_str(s, 18),
		.detached = sqlite3_column_int(s, 19) != 0,
		.handled = ledger_column_str(s, 20),
		.announced = sqlite3_column_int(s, 21) != 0,
		.counted = sqlite3_column_type(s, 22) != SQLITE_NULL,
		.failed = (uint64_t)sqlite3_column_int64(s, 22),
		.tolerated = (uint64_t)sqlite3_column_int64(s, 23),
		.exit = sqlite3_column_int(s, 24),
	};
}

static struct run_row keep_row(struct arena *a, struct run_row row)
{
	struct str *const texts[] = { &row.id, &row.generation, &row.owner, &row.recipe,
		&row.recipe_path, &row.recipe_sha256, &row.tool, &row.launch, &row.cwd, &row.dir,
		&row.status, &row.boot_id, &row.handled };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*texts[i] = arena_str(a, *texts[i]);
	return row;
}

/* 1: there is one; 0: none; -1: with an issue. */
static int find(
	struct ledger *l, struct str id, struct arena *a, struct run_row *ret, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_FIND, r);

	if (!s)
		return -1;
	ledger_bind_str(s, 1, id);
	int step = sqlite3_step(s);
	if (step == SQLITE_ROW)
		*ret = keep_row(a, read_row(s));
	else if (step != SQLITE_DONE)
		(void)ledger_problem(l, "read the ledger", r);
	ledger_end(s);
	return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
}

/* Likewise, without the row. */
static int knows(struct ledger *l, struct str id, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_KNOWS, r);

	if (!s)
		return -1;
	ledger_bind_str(s, 1, id);
	int step = sqlite3_step(s);
	if (step != SQLITE_ROW && step != SQLITE_DONE)
		(void)ledger_problem(l, "read the ledger", r);
	ledger_end(s);
	return step == SQLITE_ROW ? 1 : step == SQLITE_DONE ? 0 : -1;
}

bool ledger_knows(struct ledger *l, struct str id, struct report *r)
{
	return knows(l, id, r) > 0;
}

bool ledger_find(
	struct ledger *l, struct str id, struct arena *a, struct run_row *ret, struct report *r)
{
	return find(l, id, a, ret, r) > 0;
}

/* -- claiming ------------------------------------------------------------------------------------
 */

static bool refuse_claim(const struct run_row *current, bool *taken, struct report *r)
{
	*taken = true;
	if (str_eq(current->status, S(STATUS_STARTING)))
		refuse_starting(current->id, r);
	else if (status_rests(current->status, STATUS_AT_GATE))
		refuse_waiting(current->id, r);
	else
		refuse_running(current->id, r);
	return report_action(r, ACTION_NAME_IT, current->id);
}

/* Runs one statement with the id and, when it has one, the generation. */
static bool with_id(struct ledger *l, enum ledger_statement which, struct str id,
	struct str generation, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, which, r);

	if (!s)
		return false;
	ledger_bind_str(s, 1, id);
	if (sqlite3_bind_parameter_count(s) > 1)
		ledger_bind_str(s, 2, generation);
	return ledger_step(l, s, "write the ledger", r);
}

static bool point(struct ledger *l, const struct run_row *row, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_POINT, r);

	if (!s)
		return false;
	ledger_bind_str(s, 1, row->id);
	ledger_bind_str(s, 2, row->generation);
	(void)sqlite3_bind_int64(s, 3, (sqlite3_int64)row->seq);
	return ledger_step(l, s, "claim the run's name", r);
}

static bool insert(struct ledger *l, struct run_row *row, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, LEDGER_INSERT, r);

	if (!s)
		return false;
	bind_row(s, row);
	if (!ledger_step(l, s, "claim the run's name", r))
		return false;
	row->seq = (uint64_t)sqlite3_last_insert_rowid(l->db);
	return true;
}

bool ledger_claim(struct ledger *l, struct run_row *row,
	bool (*ended)(void *data, const struct run_row *current), void *data, bool *taken,
	struct report *r)
{
	struct arena a = ARENA_INIT;
	struct run_row current;

	*taken = false;
	if (!ledger_begin(l, row->detached, r))
		return false;
	int found = knows(l, row->id, r);
	if (found > 0)
		found = find(l, row->id, &a, &current, r);
	bool ok = found >= 0;
	if (found > 0 && !ended(data, &current))
		ok = refuse_claim(&current, taken, r);
	arena_done(&a);
	/* A name that is new has no earlier generations. */
	if (ok && insert(l, row, r) && point(l, row, r) &&
		(!found || with_id(l, LEDGER_SUPERSEDE, row->id, S(""), r)) &&
		ledger_commit(l, r)) {
		l->claimed = row->seq;
		l->claimed_started = row->started;
		return true;
	}
	ledger_rollback(l);
	return false;
}

static bool write_row(
	struct ledger *l, enum ledger_statement which, const struct run_row *row, struct report *r)
{
	sqlite3_stmt *s = ledger_use(l, which, r);

	if (s)
		bind_row(s, row);
	return ledger_step(l, s, "record the run", r);
}

/* What this connection has written is not written again. */
static bool change(struct ledger *l, const struct run_row *row, struct report *r)
{
	bool described = row->seq && row->seq == l->claimed;
	bool started = described && row->started && row->started == l->claimed_started;

	return (described || write_row(l, LEDGER_DESCRIBE, row, r)) &&
	       (started || write_row(l, LEDGER_START, row, r)) &&
	       write_row(l, LEDGER_UPDATE, row, r);
}

bool ledger_enter(struct ledger *l, struct run_row *row, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct run_row known;

	if (!ledger_begin(l, false, r))
		return false;
	int found = knows(l, row->id, r);
	if (found > 0)
		found = find(l, row->id, &a, &known, r);
	bool entered = found > 0 && str_eq(known.generation, row->generation);
	if (entered)
		row->seq = known.seq;
	bool ok = found >= 0 && (entered ? change(l, row, r)
					 : insert(l, row, r) && point(l, row, r) &&
							(!found || with_id(l, LEDGER_SUPERSEDE,
									   row->id, S(""), r)));
	arena_done(&a);
	if (!ledger_conclude(l, ok, r))
		return false;
	l->claimed = row->seq;
	l->claimed_started = row->started;
	/* Its command runs now, and its end will be waited for: what that needs is made ready. */
	(void)(ledger_use(l, LEDGER_UPDATE, r) && ledger_use(l, LEDGER_LEAF_WHOLE, r));
	return true;
}

/* Deletes a generation; of those that are left the newest is current. */
static bool drop_generation(
	struct ledger *l, struct str id, struct str generation, bool full, struct report *r)
{
	if (!ledger_begin(l, full, r))
		return false;
	if (with_id(l, LEDGER_DELETE_GENERATION, id, generation, r) &&
		with_id(l, LEDGER_DELETE_LEAVES, id, generation, r) &&
		with_id(l, LEDGER_UNPOINT, id, S(""), r) &&
		with_id(l, LEDGER_POINT_BACK, id, S(""), r) &&
		with_id(l, LEDGER_SUPERSEDE, id, S(""), r))
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

void ledger_unclaim(struct ledger *l, const struct run_row *row)
{
	AUTO_REPORT ignored = REPORT_INIT;

	(void)drop_generation(l, row->id, row->generation, false, &ignored);
}

bool ledger_forget_generation(
	struct ledger *l, struct str id, struct str generation, struct report *r)
{
	return drop_generation(l, id, generation, true, r);
}

uint64_t ledger_seq(struct ledger *l, struct str id, struct str generation)
{
	AUTO_REPORT ignored = REPORT_INIT;
	sqlite3_stmt *s = ledger_use(l, LEDGER_SEQ, &ignored);

	if (!s)
		return 0;
	ledger_bind_str(s, 1, id);
	ledger_bind_str(s, 2, generation);
	uint64_t seq = sqlite3_step(s) == SQLITE_ROW ? (uint64_t)sqlite3_column_int64(s, 0) : 0;
	ledger_end(s);
	return seq;
}

/* -- what becomes of it --------------------------------------------------------------------------
 */

bool ledger_update(struct ledger *l, const struct run_row *row, bool final, struct report *r)
{
	return ledger_begin(l, final, r) && ledger_conclude(l, change(l, row, r), r);
}

bool ledger_correct(
	struct ledger *l, const struct run_row *seen, const struct run_row *now, struct report *r)
{
	if (!ledger_begin(l, false, r))
		return false;
	sqlite3_stmt *s = ledger_use(l, LEDGER_CORRECT, r);
	if (s) {
		ledger_bind_str(s, 1, seen->id);
		ledger_bind_str(s, 2, seen->generation);
		ledger_bind_str(s, 3, now->status);
		bind_time(s, 4, now->ended);
		bind_time(s, 5, seen->pid_start);
		(void)sqlite3_bind_int(s, 6, now->code);
		bind_counts(s, 7, now);
	}
	if (ledger_step(l, s, "record the run", r))
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

bool ledger_set_counts(struct ledger *l, const struct run_row *row, struct report *r)
{
	if (!ledger_begin(l, false, r))
		return false;
	sqlite3_stmt *s = ledger_use(l, LEDGER_SET_COUNTS, r);
	if (s) {
		ledger_bind_str(s, 1, row->id);
		ledger_bind_str(s, 2, row->generation);
		bind_counts(s, 3, row);
	}
	if (ledger_step(l, s, "record the run", r))
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

bool ledger_put(struct ledger *l, struct run_row *row, struct report *r)
{
	struct arena a = ARENA_INIT;
	struct run_row known;

	if (!ledger_begin(l, false, r))
		return false;
	int found = find(l, row->id, &a, &known, r);
	bool ok = found >= 0;
	if (ok && (!found || !str_eq(known.generation, row->generation)))
		ok = insert(l, row, r) && point(l, row, r) &&
		     with_id(l, LEDGER_SUPERSEDE, row->id, S(""), r);
	arena_done(&a);
	if (ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}

bool ledger_forget(struct ledger *l, struct str id, struct report *r)
{
	static const enum ledger_statement all[] = { LEDGER_UNPOINT, LEDGER_FORGET_RUN,
		LEDGER_FORGET_LEAF };
	bool ok = ledger_begin(l, true, r);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < ARRAY_SIZE(all); i++)
		ok = with_id(l, all[i], id, S(""), r);
	if (ok)
		return ledger_commit(l, r);
	ledger_rollback(l);
	return false;
}
