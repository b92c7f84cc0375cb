#include "engine/failures.h"

#include "lab.h"

static void fail_at(struct failures *f, const char *path, bool tolerated)
{
	failures_add(f, &(struct failure){ .path = str_of(path), .tolerated = tolerated });
}

static void a_failure_is_copied_and_counted(void **state UNUSED)
{
	struct failures f = { 0 };
	char path[] = "0.1", err[] = "why";

	failures_add(&f, &(struct failure){ .path = str_of(path),
				 .label = S("label"),
				 .item = S("item"),
				 .command = S("cmd"),
				 .err = str_of(err),
				 .out = S("out"),
				 .host = S("host"),
				 .code = 3,
				 .attempt = 2,
				 .lost = true });
	memset(path, 'x', sizeof(path) - 1);
	memset(err, 'x', sizeof(err) - 1);
	assert_int_equal(f.kept.len, 1);
	const struct failure *k = &f.kept.at[0];
	assert_str(k->path, "0.1");
	assert_str(k->label, "label");
	assert_str(k->item, "item");
	assert_str(k->command, "cmd");
	assert_str(k->err, "why");
	assert_str(k->out, "out");
	assert_str(k->host, "host");
	assert_int_equal(k->code, 3);
	assert_int_equal(k->attempt, 2);
	assert_true(k->lost);
	assert_int_equal(f.total, 1);
	failures_done(&f);
}

static void tolerated_ones_are_counted_apart(void **state UNUSED)
{
	struct failures f = { 0 };

	fail_at(&f, "0", false);
	fail_at(&f, "1", true);
	fail_at(&f, "2", false);
	assert_int_equal(f.total, 3);
	assert_int_equal(f.tally.failed, 2);
	assert_int_equal(f.tally.tolerated, 1);
	tally_take(&f.tally, tally_one(false));
	tally_take(&f.tally, tally_one(true));
	assert_int_equal(f.tally.failed, 1);
	assert_int_equal(f.tally.tolerated, 0);
	failures_done(&f);
}

static void a_success_overcomes_its_own_earlier_failures(void **state UNUSED)
{
	struct failures f = { 0 };

	fail_at(&f, "0.1", false);
	fail_at(&f, "0.1.0", false);
	fail_at(&f, "0.10", false); /* another node, although the text begins the same */
	fail_at(&f, "0.1.2", false);
	failures_tolerate(&f, S("0.1"), 3);
	assert_true(f.kept.at[0].tolerated && f.kept.at[0].overcome);
	assert_true(f.kept.at[1].tolerated && f.kept.at[1].overcome);
	assert_false(f.kept.at[2].tolerated || f.kept.at[2].overcome);
	assert_false(f.kept.at[3].tolerated); /* of the attempt that has succeeded */
	failures_done(&f);
}

static void the_first_are_kept_and_of_the_latest_the_path(void **state UNUSED)
{
	struct failures f = { 0 };
	enum { ALL = FAILURES_KEPT + FAILURES_LATEST + 10 };
	char path[32];

	for (int i = 1; i <= ALL; i++) {
		(void)snprintf(path, sizeof(path), "0.%d", i);
		fail_at(&f, path, false);
	}
	assert_int_equal(f.total, ALL);
	assert_int_equal(f.tally.failed, ALL);
	assert_int_equal(f.kept.len, FAILURES_KEPT);
	assert_str(failures_path(&f, 1), "0.1");
	assert_str(failures_path(&f, FAILURES_KEPT), "0.1000");
	assert_str(failures_path(&f, FAILURES_KEPT + 1), "");
	assert_str(failures_path(&f, ALL - FAILURES_LATEST), ""); /* overwritten by the last */
	assert_str(failures_path(&f, ALL - FAILURES_LATEST + 1), "0.1011");
	(void)snprintf(path, sizeof(path), "0.%d", ALL);
	assert_str(failures_path(&f, ALL), path);
	failures_tolerate(&f, S("0"), ALL);
	assert_true(f.kept.at[FAILURES_KEPT - 1].overcome);
	failures_done(&f);
}

static void without_one_there_is_no_path(void **state UNUSED)
{
	struct failures f = { 0 };

	assert_str(failures_path(&f, 1), "");
	failures_tolerate(&f, S("0"), 5);
	failures_done(&f);
}

/* -- in a run ------------------------------------------------------------------------------------
 */

static void is(const struct lab *l, uint64_t failed, uint64_t tolerated)
{
	struct tally t = run_tally(l->run);

	assert_int_equal(t.failed, failed);
	assert_int_equal(t.tolerated, tolerated);
}

/* Of a group all that failed in it, and of that no more than once. */
static void a_retry_takes_the_tally_of_its_attempt_back(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l,
		"[{'failure':'continue','template':'z'},{'retry':3,'template':["
		"{'failure':'continue','template':'a'},{'retry':2,'failure':'branch','template':'b'"
		"}"
		"]},'c']",
		NULL);
	lab_end(&l, "z", 1);
	is(&l, 0, 1);
	lab_end(&l, "a", 1);
	is(&l, 0, 2);
	lab_end(&l, "b", 1);
	is(&l, 0, 2); /* its own attempt is taken back */
	lab_end(&l, "b", 1);
	is(&l, 0, 1); /* that of the group is */
	lab_end(&l, "a", 0);
	lab_end(&l, "b", 1);
	lab_end(&l, "b", 0);
	is(&l, 0, 1);
	lab_end(&l, "c", 0);
	assert_int_equal(run_result(l.run)->tally.failed, 0);
	assert_int_equal(run_result(l.run)->tally.tolerated, 1);
	assert_int_equal(run_result(l.run)->failures->total, 5);
	lab_finish(&l, RUN_DONE);
}

static void what_failed_in_every_attempt_counts_once(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'retry':2,'parallel':true,'template':['a','b']}", NULL);
	lab_end(&l, "a", 1);
	lab_end(&l, "b", 1);
	is(&l, 0, 0);
	lab_end(&l, "a", 1);
	lab_end(&l, "b", 1);
	assert_int_equal(run_result(l.run)->tally.failed, 2);
	lab_finish(&l, RUN_FAILED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failure_is_copied_and_counted),
		cmocka_unit_test(tolerated_ones_are_counted_apart),
		cmocka_unit_test(a_success_overcomes_its_own_earlier_failures),
		cmocka_unit_test(the_first_are_kept_and_of_the_latest_the_path),
		cmocka_unit_test(without_one_there_is_no_path),
		cmocka_unit_test(a_retry_takes_the_tally_of_its_attempt_back),
		cmocka_unit_test(what_failed_in_every_attempt_counts_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}
