/* One handle for a run, wherever it lives: what is told about it, and what ends it. */
#include "app/face.h"
#include "app/past/elsewhere.h"

/* -- observers -----------------------------------------------------------------------------------
 */

struct heard {
	struct buf lines;
	uint64_t first, last;
	size_t count, ends, commands;
	bool gap;
};

static void hear_line(void *data, uint64_t seq, const char *type, struct str json)
{
	struct heard *h = data;

	assert_int_equal(h->ends, 0);
	h->gap |= h->count && seq != h->last + 1;
	h->first = h->count++ ? h->first : seq;
	h->last = seq;
	h->commands += strcmp(type, "command.start") == 0;
	buf_add(&h->lines, json);
	buf_addc(&h->lines, '\n');
}

static void hear_end(void *data)
{
	((struct heard *)data)->ends++;
}

static struct observer hearing(struct heard *h, uint64_t from)
{
	return (struct observer){
		.line = hear_line, .ended = hear_end, .from_seq = from, .data = h
	};
}

static void observe(struct run_handle *run, struct heard *h, uint64_t from)
{
	const struct observer o = hearing(h, from);

	assert_int_equal(run_observe(run, &o), 0);
	assert_int_equal(h->count, 0); /* lines come from the loop */
}

static void turn_until(const size_t *count, size_t least)
{
	while (*count < least)
		assert_true(app_turn(app, 60000) >= 0);
}

static void forget(struct heard *h)
{
	buf_done(&h->lines);
}

static void an_unrecorded_run_is_told_from_its_first_event(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct request q = request_as(NULL);
	struct heard heard = { 0 }, other = { 0 };

	q.observer = hearing(&heard, 0);
	struct run_handle *h = start_with("echo hi", &q);
	assert_int_equal(heard.count, 0);
	observe(h, &other, 0);
	assert_int_equal(run_status(h), ROUX_RUNNING);
	assert_true(run_wait(h, &r));
	assert_int_equal(run_status(h), ROUX_DONE);
	assert_str(run_id(h), "");
	assert_str(run_dir(h), "");
	assert_int_equal(heard.first, 1);
	assert_false(heard.gap);
	assert_int_equal(heard.ends, 1);
	assert_bytes(buf_str(&other.lines), buf_str(&heard.lines));
	assert_int_equal(other.ends, 1);

	AUTO_JSON *result = run_result_document(h, &r), *summary = run_summary(h);
	assert_str(json_str(json_object_get(result, "stdout")), "hi\n");
	assert_str(json_str(json_object_get(summary, "status")), "done");
	assert_false(is_there("state/runs"));
	run_close(h);
	forget(&heard);
	forget(&other);
}

static void an_ended_run_is_told_again_from_a_number(void **state UNUSED)
{
	struct request q = request_as("one");
	struct heard live = { 0 }, all = { 0 }, rest = { 0 }, late = { 0 };

	q.observer = hearing(&live, 0);
	assert_int_equal(run_all(start_with("[\"echo a\",\"echo b\"]", &q)), ROUX_DONE);
	assert_true(live.count > 4);

	open_again();
	struct run_handle *h = opened("run:one");
	observe(h, &all, 0);
	observe(h, &rest, 3);
	turn_until(&all.ends, 1);
	assert_bytes(buf_str(&all.lines), buf_str(&live.lines));
	assert_int_equal(rest.first, 3);
	assert_int_equal(rest.last, live.last);
	assert_int_equal(rest.ends, 1);
	assert_int_equal(run_status(h), ROUX_DONE);
	observe(h, &late, live.last + 1);
	turn_until(&late.ends, 1);
	assert_int_equal(late.count, 0);
	assert_int_equal(all.ends, 1);
	run_close(h);
	forget(&live);
	forget(&all);
	forget(&rest);
	forget(&late);
}

static void a_late_observer_hears_the_past_of_a_run_here(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct request q = request_as("one");
	struct heard first = { 0 }, late = { 0 }, rest = { 0 }, after = { 0 };

	q.observer = hearing(&first, 0);
	struct run_handle *h = start_with("[\"echo a\",\"tail -f /dev/null\"]", &q);
	turn_until(&first.commands, 2);
	observe(h, &late, 0);
	observe(h, &rest, 2);
	turn_until(&late.commands, 2);
	assert_bytes(buf_str(&late.lines), buf_str(&first.lines));
	assert_true(run_order(h, RUN_KILL, -1, &r));
	assert_true(run_wait(h, &r));
	assert_int_equal(first.ends + late.ends + rest.ends, 3);
	assert_bytes(buf_str(&late.lines), buf_str(&first.lines));
	assert_int_equal(rest.first, 2);
	assert_int_equal(rest.last, first.last);
	assert_false(rest.gap);

	observe(h, &after, 0);
	turn_until(&after.ends, 1);
	assert_bytes(buf_str(&after.lines), buf_str(&first.lines));
	assert_int_equal(after.ends, 1);
	assert_int_equal(first.ends, 1);
	run_close(h);
	forget(&first);
	forget(&late);
	forget(&rest);
	forget(&after);
}

/* One that comes when the end is near must not hear of it before the events. */
static void the_end_waits_for_the_past(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct heard late = { 0 };
	struct run_handle *h = start("tail -f /dev/null", "one");

	assert_true(app_turn(app, 60000) >= 0);
	observe(h, &late, 0);
	assert_true(run_end(h, RUN_KILL, -1, &r));
	assert_int_equal(late.ends, 1);
	assert_int_equal(late.first, 1);
	assert_false(late.gap);
	run_close(h);
	forget(&late);
}

/* -- orders --------------------------------------------------------------------------------------
 */

static void a_run_here_obeys_once(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	const char *const names[] = { "one", NULL };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct run_handle *h = start("tail -f /dev/null", names[i]);

		assert_true(run_order(h, RUN_CANCEL, 60000, &r));
		assert_true(run_wait(h, &r));
		assert_int_equal(run_status(h), ROUX_CANCELLED);
		assert_false(run_order(h, RUN_CANCEL, -1, &r));
		assert_refused(&r, "not running");
		assert_false(run_end(h, RUN_KILL, -1, &r));
		assert_refused(&r, "not running");
		run_close(h);
	}
}

static void an_order_reaches_a_run_through_its_record(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct heard heard = { 0 };
	struct run_handle *h = start("tail -f /dev/null", "one"), *same = opened("one");

	assert_int_equal(run_status(same), ROUX_RUNNING);
	assert_true(run_order(same, RUN_KILL, -1, &r));
	assert_right(&r);
	assert_true(run_wait(h, &r));
	assert_int_equal(run_status(h), ROUX_KILLED);
	observe(same, &heard, 0);
	turn_until(&heard.ends, 1);
	assert_int_equal(heard.first, 1);
	assert_int_equal(run_status(same), ROUX_KILLED);
	assert_false(run_order(same, RUN_KILL, -1, &r));
	assert_refused(&r, "not running");
	run_close(same);
	run_close(h);
	forget(&heard);
}

static void a_stale_handle_refuses_an_order_with_an_issue(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = start("tail -f /dev/null", "one"), *stale = opened("one");

	assert_true(run_end(h, RUN_KILL, -1, &r));
	run_close(h);
	assert_false(run_order(stale, RUN_CANCEL, -1, &r));
	assert_refused(&r, "not running");
	run_close(stale);
}

static void closing_a_live_run_cancels_it(void **state UNUSED)
{
	run_close(start("tail -f /dev/null", "one"));

	struct run_handle *h = opened("one");
	assert_int_equal(run_status(h), ROUX_CANCELLED);
	run_close(h);
}

/* -- documents -----------------------------------------------------------------------------------
 */

static json_t *documents(struct run_handle *h)
{
	AUTO_REPORT r = REPORT_INIT;
	json_t *both = json_pack("[o, o]", run_result_document(h, &r), run_summary(h));

	assert_right(&r);
	assert_non_null(both);
	return both;
}

static void assert_same_json(const json_t *got, const json_t *want)
{
	AUTO_BUF a = BUF_INIT, b = BUF_INIT;

	json_write_typed(&a, got, 2);
	json_write_typed(&b, want, 2);
	assert_bytes(buf_str(&a), buf_str(&b));
}

static void drop_what_only_a_record_has(json_t *result)
{
	static const char *const names[] = { "ended", "failed_node", "retried_node" };

	assert_true(json_is_string(json_object_get(result, "ended")));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		(void)json_object_del(result, names[i]);
}

static void documents_are_the_same_when_it_is_opened_again(void **state UNUSED)
{
	static const char *const templates[] = {
		"echo hi",
		"sh -c 'echo out; echo err >&2; exit 3'",
		"[{\"failure\":\"continue\",\"template\":\"sh -c 'exit 4'\"},\"printf no-line\"]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
		AUTO_REPORT r = REPORT_INIT;
		const char *name = arena_printf(&arena, "r%zu", i).p;
		struct run_handle *h = start(templates[i], name);

		assert_true(run_wait(h, &r));
		AUTO_JSON *here = documents(h);
		run_close(h);
		open_again();
		h = opened(name);
		AUTO_JSON *there = documents(h);
		drop_what_only_a_record_has(json_array_get(there, 0));
		assert_same_json(there, here);
		run_close(h);
	}
}

/* -- putting away --------------------------------------------------------------------------------
 */

static void a_run_here_is_put_away_when_it_has_ended(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	struct run_handle *h = start("tail -f /dev/null", "one");
	struct str path;

	assert_false(run_archive(h, &path, &r));
	assert_refused(&r, "running");
	assert_false(run_prune(h, false, NULL, &r));
	assert_refused(&r, "running");
	assert_true(run_end(h, RUN_KILL, -1, &r));
	assert_true(run_archive(h, &path, &r));
	assert_int_equal(access(path.p, F_OK), 0);
	run_close(h);

	h = start("echo hi", "two");
	assert_true(run_wait(h, &r));
	assert_true(run_prune(h, false, NULL, &r));
	assert_false(is_there("state/runs/two"));
	assert_false(run_prune(h, false, NULL, &r));
	assert_refused(&r, "no such run");
	run_close(h);

	h = start("echo hi", NULL);
	assert_true(run_wait(h, &r));
	assert_false(run_archive(h, &path, &r));
	assert_refused(&r, "not recorded");
	run_close(h);
}

static void a_run_is_replaced_by_another_of_its_name_or_by_none(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(run_all(start("echo hi", "one")), ROUX_DONE);
		struct run_handle *h = opened("one"), *other = opened("one");

		assert_false(run_is_replaced(h));
		if (i == 0)
			assert_int_equal(run_all(start("echo hi", "one")), ROUX_DONE);
		else
			assert_true(run_prune(other, false, NULL, &r));
		assert_true(run_is_replaced(h));
		run_close(h);
		run_close(other);
	}
}

/* Its record has a word more than there are statuses. */
static void a_run_that_is_being_started_elsewhere_runs(void **state UNUSED)
{
	struct run_look look = { .id = S("new"), .status = S("starting"), .live = true };

	look.dir = arena_str(&look.arena, str_of(at("state/runs/new")));
	struct run_handle *h = elsewhere_open(app, &look);
	assert_str(run_status_word(h), "starting");
	assert_int_equal(run_status(h), ROUX_RUNNING);
	run_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(an_unrecorded_run_is_told_from_its_first_event),
		F(an_ended_run_is_told_again_from_a_number),
		F(a_late_observer_hears_the_past_of_a_run_here),
		F(the_end_waits_for_the_past),
		F(a_run_here_obeys_once),
		F(an_order_reaches_a_run_through_its_record),
		F(a_stale_handle_refuses_an_order_with_an_issue),
		F(closing_a_live_run_cancels_it),
		F(documents_are_the_same_when_it_is_opened_again),
		F(a_run_here_is_put_away_when_it_has_ended),
		F(a_run_is_replaced_by_another_of_its_name_or_by_none),
		F(a_run_that_is_being_started_elsewhere_runs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("run-handle", tests, NULL, NULL);
}
