#include "runs/look/retention.h"

#include <dirent.h>

#include "runs/dir/remove-tree.h"
#include "runs/state.h"

static bool look_into(struct ledger *l, const char *id, struct run_look *ret)
{
	AUTO_REPORT r = REPORT_INIT;

	return look_at(str_of(root), l, str_of(id), ret, &r);
}

static void nothing_outside(const struct run_look *look UNUSED, struct report *r UNUSED)
{
}

/* -- archive -------------------------------------------------------------------------------------
 */

static void an_archived_run_leaves_a_tombstone(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_LOOK look = { 0 };
	AUTO_LOOK after = { 0 };
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row;
	struct str path;
	bool busy;

	put_run("a");
	put_result("a", "done");
	assert_true(look_into(l, "a", &look));
	assert_true(retention_archive(str_of(root), l, &look, &path, &busy, &r));
	assert_true(str_starts(path, str_of(at("archived/a-"))));
	assert_int_equal(access(run_file(&arena, path, "result.json"), F_OK), 0);
	assert_true(str_contains(text_of("runs/a/archive-tombstone.json"), path));
	assert_false(look_into(l, "a", &after));
	assert_false(ledger_find(l, S("a"), &arena, &row, &r));
	assert_int_equal(r.errors, 0);
	ledger_close(l);
}

static void a_live_run_stays(void **state UNUSED)
{
	AUTO_LOOK look = { 0 };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_CLOSE int lock = -1;
	struct str path;
	bool busy;

	put_run("a");
	assert_true(look_into(NULL, "a", &look));
	assert_int_equal(run_lock(at("runs/a"), &lock), 0);
	assert_false(retention_archive(str_of(root), NULL, &look, &path, &busy, &r));
	assert_true(busy);
	assert_false(
		retention_prune(str_of(root), NULL, &look, NULL, NULL, &busy, nothing_outside, &r));
	assert_true(busy);
	assert_int_equal(r.errors, 0);
	assert_true(is_there("runs/a/run.json"));
}

/* -- prune ---------------------------------------------------------------------------------------
 */

static bool prune(const char *id, const json_t *artifacts, json_t **preserved)
{
	AUTO_LOOK look = { 0 };
	AUTO_REPORT r = REPORT_INIT;
	bool busy;

	assert_true(look_into(NULL, id, &look));
	return retention_prune(
		str_of(root), NULL, &look, artifacts, preserved, &busy, nothing_outside, &r);
}

static void links_are_deleted_and_not_followed(void **state UNUSED)
{
	put("outside/precious", "x");
	put_run("a");
	put("runs/a/out/1.0.out", "y");
	assert_int_equal(symlink(at("outside"), at("runs/a/dir")), 0);
	assert_int_equal(symlink(at("outside/precious"), at("runs/a/file")), 0);
	assert_int_equal(symlink("/", at("runs/a/out/all")), 0);
	assert_true(prune("a", NULL, NULL));
	assert_false(is_there("runs/a"));
	assert_str(text_of("outside/precious"), "x");
}

static void a_tree_deeper_than_descriptors_goes(void **state UNUSED)
{
	put_run("a");
	int fd = open(at("runs/a"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < 3000; i++) {
		assert_int_equal(mkdirat(fd, "d", 0700), 0);
		int below = openat(fd, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		(void)close(fd);
		fd = below;
		assert_true(fd >= 0);
	}
	(void)close(fd);
	assert_true(prune("a", NULL, NULL));
	assert_false(is_there("runs/a"));
}

static void directories_without_permissions_go(void **state UNUSED)
{
	put_run("a");
	put("runs/a/shut/in/file", "x");
	assert_int_equal(chmod(at("runs/a/shut/in"), 0), 0);
	assert_int_equal(chmod(at("runs/a/shut"), 0500), 0);
	assert_true(prune("a", NULL, NULL));
	assert_false(is_there("runs/a"));
}

static json_t *artifact(json_t *all, const char *name, const char *path)
{
	json_object_set_new(all, name, json_string(path));
	return all;
}

static void artifacts_are_copied_and_nothing_overwritten(void **state UNUSED)
{
	AUTO_JSON *files = json_object();
	json_t *kept = NULL;

	put("preserved-artifacts/a/report.md", "older");
	put_run("a");
	put("runs/a/report.md", "one");
	put("runs/a/x/report.md", "two");
	put("runs/a/tree/in/file", "three");
	artifact(files, "one", at("runs/a/report.md"));
	artifact(files, "two", at("runs/a/x/report.md"));
	artifact(files, "tree", at("runs/a/tree/"));
	artifact(files, "none", at("runs/a/none"));
	assert_true(prune("a", files, &kept));
	assert_false(is_there("runs/a"));
	assert_str(text_of("preserved-artifacts/a/report.md"), "older");
	assert_str(text_of("preserved-artifacts/a/report-2.md"), "one");
	assert_str(text_of("preserved-artifacts/a/report-3.md"), "two");
	assert_str(text_of("preserved-artifacts/a/tree/in/file"), "three");
	assert_int_equal(json_object_size(kept), 3);
	assert_string_equal(json_string_value(json_object_get(kept, "two")),
		at("preserved-artifacts/a/report-3.md"));
	json_decref(kept);
}

static void a_copy_that_fails_deletes_nothing(void **state UNUSED)
{
	AUTO_JSON *files = json_object();
	json_t *kept = NULL;

	put_run("a");
	put("runs/a/report.md", "one");
	assert_int_equal(mkfifo(at("runs/a/pipe"), 0600), 0);
	artifact(files, "one", at("runs/a/report.md"));
	artifact(files, "pipe", at("runs/a/pipe"));
	assert_false(prune("a", files, &kept));
	assert_null(kept);
	assert_str(text_of("runs/a/report.md"), "one");
	assert_false(is_there("preserved-artifacts/a"));
}

static void a_tree_that_is_a_link_is_not_entered(void **state UNUSED)
{
	put("outside/precious", "x");
	assert_int_equal(symlink("outside", at("link")), 0);
	AUTO_CLOSE int fd = open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(remove_tree(fd, "link", NULL) < 0);
	assert_str(text_of("outside/precious"), "x");
}

/* -- limits --------------------------------------------------------------------------------------
 */

enum { DAY = 86400000 };

static void add_row(struct ledger *l, const char *id, const char *status, uint64_t days_ago)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_row row = { .id = str_of(id),
		.generation = S("g1"),
		.status = str_of(status),
		.started = 1,
		.ended = 100ull * DAY - days_ago * DAY };

	assert_true(ledger_put(l, &row, &r));
}

static bool note(void *data, const struct run_row *row)
{
	buf_printf(data, "%.*s ", STR(row->id));
	return true;
}

static void assert_due(struct ledger *l, uint64_t days, uint64_t runs, const char *want)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF got = BUF_INIT;
	struct retention_limits limits = { .max_age_days = days, .max_runs = runs };

	assert_true(retention_due(l, NULL, &limits, 100ull * DAY, note, &got, &r));
	assert_str(buf_str(&got), want);
}

static void limits_spare_what_somebody_has_to_look_at(void **state UNUSED)
{
	struct ledger *l = opened();

	add_row(l, "old", "done", 20);
	add_row(l, "bad", "failed", 19);
	add_row(l, "gone", "exited", 19);
	add_row(l, "part", "partial", 10);
	add_row(l, "live", "running", 9);
	add_row(l, "stop", "cancelled", 5);
	add_row(l, "new", "done", 1);
	assert_due(l, 0, 0, "");
	assert_due(l, 10, 0, "part old ");
	assert_due(l, 0, 2, "part old ");
	assert_due(l, 15, 1, "stop part old ");
	assert_due(l, 100, 100, "");
	ledger_close(l);
}

static void a_sweep_deletes_what_is_due(void **state UNUSED)
{
	struct ledger *l = opened();
	AUTO_REPORT r = REPORT_INIT;
	AUTO_LOOK look = { 0 };
	struct retention_limits limits = { .max_runs = 1 };

	for (int i = 0; i < 3; i++) {
		const char *id = arena_printf(&arena, "r%d", i).p;

		put_run(id);
		put_result(id, i == 0 ? "failed" : "done");
		look_done(&look);
		assert_true(look_into(l, id, &look));
	}
	assert_int_equal(
		retention_sweep(str_of(root), l, NULL, &limits, UINT64_MAX, nothing_outside, &r),
		1);
	assert_int_equal(r.errors, 0);
	assert_true(is_there("runs/r0"));
	assert_false(is_there("runs/r1"));
	assert_true(is_there("runs/r2"));
	ledger_close(l);
}

static void a_sweep_without_a_ledger_deletes_what_it_is_given(void **state UNUSED)
{
	const struct run_row rows[] = {
		{ .id = S("s1"), .status = S("done"), .ended = 2, .counted = true },
		{ .id = S("s0"), .status = S("done"), .ended = 1, .counted = true },
	};
	const struct retention_runs all = { rows, ARRAY_SIZE(rows) };
	struct retention_limits limits = { .max_runs = 1 };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF got = BUF_INIT;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		put_run(rows[i].id.p);
		put_result(rows[i].id.p, "done");
	}
	assert_true(retention_due(NULL, &all, &limits, 100ull * DAY, note, &got, &r));
	assert_str(buf_str(&got), "s0 ");
	assert_int_equal(
		retention_sweep(str_of(root), NULL, &all, &limits, UINT64_MAX, nothing_outside, &r),
		1);
	assert_int_equal(r.errors, 0);
	assert_true(is_there("runs/s1"));
	assert_false(is_there("runs/s0"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(an_archived_run_leaves_a_tombstone),
		T(a_live_run_stays),
		T(links_are_deleted_and_not_followed),
		T(a_tree_deeper_than_descriptors_goes),
		T(directories_without_permissions_go),
		T(artifacts_are_copied_and_nothing_overwritten),
		T(a_copy_that_fails_deletes_nothing),
		T(a_tree_that_is_a_link_is_not_entered),
		T(limits_spare_what_somebody_has_to_look_at),
		T(a_sweep_deletes_what_is_due),
		T(a_sweep_without_a_ledger_deletes_what_it_is_given),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("retention", tests, NULL, NULL);
}
