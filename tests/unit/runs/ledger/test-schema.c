/* The tables: how old ones become new ones, and that no statement of a queue reads all rows. */
#include "ledger-root.h"
#include "runs/ledger/host-state.h"
#include "runs/ledger/queue.h"
#include "runs/ledger/store.h"

static void execute(sqlite3 *db, const char *text)
{
	char *error = NULL;

	if (sqlite3_exec(db, text, NULL, NULL, &error) != SQLITE_OK)
		fail_msg("%s: %s", text, error);
}

/* A ledger as an earlier roux left it, with a run in it. */
static void put_version(int version)
{
	sqlite3 *db = NULL;

	(void)umask(077);
	assert_int_equal(sqlite3_open(at("ledger.db"), &db), SQLITE_OK);
	execute(db, "PRAGMA journal_mode=WAL");
	for (int i = 0; i < version; i++)
		execute(db, ledger_migrations[i]);
	execute(db, "INSERT INTO run(id, generation, status, started) VALUES('a', 'g', 'done', 5)");
	execute(db, "INSERT INTO current(id, generation, seq) VALUES('a', 'g', 1)");
	execute(db, "INSERT INTO usage(recipe_path, calls) VALUES('/r', 3)");
	execute(db, arena_printf(&arena, "PRAGMA user_version=%d", version).p);
	(void)sqlite3_close(db);
}

static bool has_table(struct ledger *l, const char *name)
{
	sqlite3_stmt *s = NULL;

	assert_int_equal(sqlite3_prepare_v2(l->db, "SELECT 1 FROM sqlite_master WHERE name = ?1",
				 -1, &s, NULL),
		SQLITE_OK);
	(void)sqlite3_bind_text(s, 1, name, -1, SQLITE_STATIC);
	bool has = sqlite3_step(s) == SQLITE_ROW;
	(void)sqlite3_finalize(s);
	return has;
}

static void assert_usable(struct ledger *l)
{
	AUTO_REPORT r = REPORT_INIT;
	struct queue_item item = { .payload = S("p") };
	struct recipe_usage usage;
	struct run_row row;
	bool new;

	assert_true(ledger_find(l, S("a"), &arena, &row, &r));
	assert_str(row.status, "done");
	assert_true(ledger_usage(l, S("/r"), &arena, &usage, &r));
	assert_int_equal(usage.calls, 3);
	assert_true(ledger_queue_add(l, S("h"), &item, QUEUE_BACK, &new, &r));
	assert_true(ledger_state_set(l, S("h"), S("k"), S("v"), &r));
	assert_true(ledger_forget(l, S("a"), &r));
	assert_int_equal(r.issues.len, 0);
}

static void every_older_version_becomes_this_one(void **state UNUSED)
{
	for (int version = 1; version < ledger_schema; version++) {
		put_version(version);
		struct ledger *l = opened();

		assert_usable(l);
		assert_false(has_table(l, "message"));
		ledger_close(l);
		for (int i = 0; i < 3; i++) {
			static const char *const names[] = { "ledger.db", "ledger.db-wal",
				"ledger.db-shm" };

			(void)unlink(at(names[i]));
		}
	}
}

static int open_and_close(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct ledger *l = ledger_open(str_of(root), LEDGER_USUAL, &r);

	ledger_close(l);
	return l ? 0 : 1;
}

static void many_processes_migrate_it_once(void **state UNUSED)
{
	pid_t pids[8];

	put_version(1);
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		pids[i] = fork();
		assert_true(pids[i] >= 0);
		if (pids[i] == 0)
			_exit(open_and_close());
	}
	for (size_t i = 0; i < ARRAY_SIZE(pids); i++) {
		int status;

		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	struct ledger *l = opened();
	assert_usable(l);
	ledger_close(l);
}

static void what_hosts_store_is_for_its_owner_alone(void **state UNUSED)
{
	static const char *const names[] = { "ledger.db", "ledger.db-wal", "ledger.db-shm" };
	AUTO_REPORT r = REPORT_INIT;

	(void)umask(0);
	struct ledger *l = opened();
	assert_true(ledger_state_set(l, S("h"), S("token"), S("secret"), &r));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct stat st;

		assert_int_equal(stat(at(names[i]), &st), 0);
		assert_int_equal(st.st_mode & 0777, 0600);
	}
	ledger_close(l);
}

static bool is_of_a_host(int which)
{
	return which >= LEDGER_QUEUE_NUMBER && which <= LEDGER_HOST_EACH;
}

/* One operation costs as much with 20,000 items as with ten. */
static void every_statement_of_a_host_uses_an_index(void **state UNUSED)
{
	struct ledger *l = opened();

	for (int i = 0; i < LEDGER_STATEMENTS; i++) {
		const char *text = arena_printf(&arena, "EXPLAIN QUERY PLAN %s", ledger_sql[i]).p;
		sqlite3_stmt *s = NULL;

		assert_int_equal(sqlite3_prepare_v2(l->db, text, -1, &s, NULL), SQLITE_OK);
		while (is_of_a_host(i) && sqlite3_step(s) == SQLITE_ROW) {
			struct str step = ledger_column_str(s, 3);

			if (str_contains(step, S("SCAN queue")) ||
				str_contains(step, S("SCAN host_state")) ||
				str_contains(step, S("TEMP B-TREE")))
				fail_msg("%s: %.*s", text, STR(step));
		}
		(void)sqlite3_finalize(s);
	}
	ledger_close(l);
}

/* -- lists ---------------------------------------------------------------------------------------
 */

enum { OLD = 3000, HUNDREDS = 20 };

static int add_hundred(void *data)
{
	++*(int *)data;
	return 0;
}

static bool count_row(void *data, const struct run_row *row UNUSED)
{
	++*(size_t *)data;
	return true;
}

/* Any filter shows its page without looking at all the runs: counted in steps of SQLite. */
static void no_filter_reads_all_runs(void **state UNUSED)
{
	static const struct ledger_filter filters[] = {
		{ .status = S("killed"), .limit = 50 },
		{ .status = S("done,failed,killed"), .limit = 50 },
		{ .recipe = S("none"), .limit = 50 },
		{ .owner = S("nobody"), .limit = 50 },
		{ .since = 9000000, .limit = 50 },
		{ .until = 10, .limit = 50 },
		{ .since = 1000010, .until = 1000020, .failures = true, .limit = 50 },
		{ .detached = 1, .limit = 50 },
		{ .before = 200, .limit = 50 },
		{ .limit = 50 },
	};
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;

	execute(l->db, arena_printf(&arena,
			       "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
			       " WHERE i < %d) INSERT INTO run(id, generation, status, started,"
			       " recipe, detached, failed) SELECT 'r' || i, 'g', 'done',"
			       " 1000000 + i, 'one', 0, 0 FROM n",
			       OLD)
			       .p);
	for (size_t i = 0; i < ARRAY_SIZE(filters); i++) {
		size_t rows = 0;
		int hundreds = 0;
		struct ledger_filter f = filters[i];

		sqlite3_progress_handler(l->db, 100, add_hundred, &hundreds);
		assert_true(ledger_list(l, &f, count_row, &rows, &r));
		sqlite3_progress_handler(l->db, 0, NULL, NULL);
		if (hundreds > HUNDREDS)
			fail_msg("filter %zu took %d hundred steps", i, hundreds);
	}
	ledger_close(l);
}

static bool note_seq(void *data, const struct run_row *row)
{
	buf_printf(data, "%d ", (int)row->seq);
	return true;
}

/* Of more than are sorted, and with more that are newer than are looked through. */
static void a_range_that_ended_long_ago_is_whole(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF seen = BUF_INIT;

	execute(l->db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
		       " WHERE i < 50000) INSERT INTO run(id, generation, status, started)"
		       " SELECT 'r' || i, 'g', 'done', 1000 + i FROM n");
	/* A ledger that was made anew has some out of their order. */
	execute(l->db, "UPDATE run SET started = 2500 WHERE seq = 14000");
	execute(l->db, "UPDATE run SET superseded = 1 WHERE seq = 1999");
	assert_true(ledger_list(
		l, &(struct ledger_filter){ .until = 3000, .limit = 3 }, note_seq, &seen, &r));
	assert_str(buf_str(&seen), "14000 2000 1998 ");
	buf_reset(&seen);
	assert_true(ledger_list(l,
		&(struct ledger_filter){ .since = 1001, .until = 3000, .before = 1500, .limit = 2 },
		note_seq, &seen, &r));
	assert_str(buf_str(&seen), "1499 1498 ");
	ledger_close(l);
}

static void note_count(void *data, struct str status, uint64_t count)
{
	buf_printf(data, "%.*s %d ", STR(status), (int)count);
}

static void statuses_are_counted_and_the_done_ones_are_the_rest(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF seen = BUF_INIT;

	assert_true(ledger_count_statuses(l, note_count, &seen, &r));
	assert_str(buf_str(&seen), "");
	execute(l->db, "INSERT INTO run(seq, id, generation, status, superseded)"
		       " VALUES(1, 'a', 'g', 'done', NULL), (2, 'b', 'g', 'failed', 3),"
		       " (3, 'b', 'h', 'done', NULL), (4, 'c', 'g', 'cancelled', NULL),"
		       " (5, 'd', 'g', 'timeout', NULL), (6, 'e', 'g', 'timeout', NULL);"
		       "INSERT INTO current(id, generation, seq)"
		       " SELECT id, generation, seq FROM run WHERE superseded IS NULL");
	assert_true(ledger_count_statuses(l, note_count, &seen, &r));
	assert_str(buf_str(&seen), "cancelled 1 timeout 2 done 2 ");
	ledger_close(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(no_filter_reads_all_runs),
		T(a_range_that_ended_long_ago_is_whole),
		T(statuses_are_counted_and_the_done_ones_are_the_rest),
		T(every_older_version_becomes_this_one),
		T(many_processes_migrate_it_once),
		T(what_hosts_store_is_for_its_owner_alone),
		T(every_statement_of_a_host_uses_an_index),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("schema", tests, NULL, NULL);
}
