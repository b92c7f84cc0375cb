#include "runs/look/gap.h"

#include "runs/dir/run-dir.h"
#include "runs/look/rebuild.h"
#include "runs/state.h"

static void put_run_dir(const char *id)
{
	put_run(id);
	put_result(id, "done");
}

/* A run that the ledger does not know of yet says so in its lock file. */
static void put_unlisted(const char *id)
{
	char path[32];

	(void)snprintf(path, sizeof(path), "runs/%s/.alive", id);
	put(path, "");
	assert_int_equal(truncate(at(path), 1), 0);
}

static void point_latest(const char *id)
{
	(void)unlink(at("runs/latest"));
	assert_int_equal(symlink(id, at("runs/latest")), 0);
}

static bool gap(void)
{
	struct ledger *l = opened();
	bool has = look_gap(str_of(root), l);

	ledger_close(l);
	return has;
}

static void rebuild(void)
{
	AUTO_REPORT r = REPORT_INIT;
	struct rebuilt made;

	assert_true(ledger_rebuild(str_of(root), &made, &r));
}

static void a_first_ledger_has_none(void **state UNUSED)
{
	put("runs/.pruned-x/run.json", "{}");
	put("runs/notes/readme", "");
	assert_false(gap());
}

static void a_ledger_that_is_made_beside_runs_has_one(void **state UNUSED)
{
	put_run_dir("a");
	assert_true(gap());
	rebuild();
	assert_false(gap());
	/* It was emptied. */
	(void)unlink(at("ledger.db-wal"));
	(void)unlink(at("ledger.db-shm"));
	put("ledger.db", "");
	assert_true(gap());
}

static void an_older_copy_has_one_also_when_latest_moves_on(void **state UNUSED)
{
	put_run_dir("a");
	rebuild();
	put_run_dir("b");
	assert_false(gap());
	point_latest("a");
	assert_false(gap());
	point_latest("b");
	assert_true(gap());
	point_latest("a");
	assert_true(gap());
	rebuild();
	assert_false(gap());
}

/* A list would look for it in vain each time. */
static void a_directory_that_is_not_understood_is_none(void **state UNUSED)
{
	put_run_dir("a");
	rebuild();
	put("runs/b/run.json", "nonsense");
	point_latest("b");
	assert_false(gap());
	point_latest("gone");
	assert_false(gap());
	point_latest("../../etc");
	assert_false(gap());
}

static struct str status_of(const char *id)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { 0 };
	struct ledger *l = opened();

	(void)ledger_find(l, str_of(id), &arena, &row, &r);
	ledger_close(l);
	return row.status;
}

/* Killed before the ledger knew of them: two, of which `latest` names one. */
static void a_run_that_has_just_begun_gets_its_row(void **state UNUSED)
{
	put_run_dir("a");
	rebuild();
	put_run("b");
	put_unlisted("b");
	put_run("c");
	put_unlisted("c");
	point_latest("c");
	assert_false(gap());
	assert_true(str_eq(status_of("c"), S("exited")));
	assert_true(str_eq(status_of("b"), S("")));
	for (int i = 0; i < 2; i++) {
		struct ledger *l = opened();

		assert_false(look_gap_counted(str_of(root), l));
		ledger_close(l);
		assert_true(str_eq(status_of("b"), S("exited")));
	}
	/* One that was there already is lacking. */
	put_run_dir("d");
	put("runs/d/.alive", "");
	struct ledger *l = opened();
	assert_true(look_gap_counted(str_of(root), l));
	ledger_close(l);
}

/* Killed before run.json was there: `b`. `c` has begun a command, `d` is not of a run. */
static void a_start_that_came_to_nothing_is_taken_back(void **state UNUSED)
{
	put_run_dir("a");
	rebuild();
	put_unlisted("b");
	put("runs/b/graph.json", "{}");
	put("runs/b/.roux-0123456789abcdef", "{");
	put_unlisted("c");
	put("runs/c/leaves.jsonl", "{}\n");
	put("runs/d/.alive", "");
	put("runs/d/graph.json", "{}");
	struct ledger *l = opened();
	assert_false(look_gap_counted(str_of(root), l));
	ledger_close(l);
	assert_int_not_equal(access(at("runs/b"), F_OK), 0);
	assert_int_equal(access(at("runs/c/leaves.jsonl"), F_OK), 0);
	assert_int_equal(access(at("runs/d/graph.json"), F_OK), 0);
	/* While its process lives it is not touched. */
	int lock = -1;
	put_unlisted("e");
	assert_int_equal(run_lock(at("runs/e"), &lock), 0);
	l = opened();
	assert_false(look_gap_counted(str_of(root), l));
	ledger_close(l);
	assert_int_equal(access(at("runs/e/.alive"), F_OK), 0);
	(void)close(lock);
}

static void a_ledger_is_lost_only_where_there_are_runs(void **state UNUSED)
{
	assert_false(look_lost(str_of(root)));
	put("runs/x/notes.txt", "of something else");
	assert_false(look_lost(str_of(root)));
	put_run_dir("a");
	assert_true(look_lost(str_of(root)));
	rebuild();
	assert_false(look_lost(str_of(root)));
	/* One that is damaged is there. */
	put("ledger.db", "damaged");
	assert_false(look_lost(str_of(root)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_first_ledger_has_none),
		T(a_ledger_that_is_made_beside_runs_has_one),
		T(an_older_copy_has_one_also_when_latest_moves_on),
		T(a_directory_that_is_not_understood_is_none),
		T(a_run_that_has_just_begun_gets_its_row),
		T(a_start_that_came_to_nothing_is_taken_back),
		T(a_ledger_is_lost_only_where_there_are_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("gap", tests, NULL, NULL);
}
