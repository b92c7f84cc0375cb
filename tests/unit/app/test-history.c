#include "app/past/history.h"

#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "unit.h"

static char dir[64];
static struct buf events;
static struct graph *graph;
static struct history *history;
static uint64_t now_ms;

static int begin(void **state UNUSED)
{
	(void)snprintf(dir, sizeof(dir), "/tmp/roux-history-XXXXXX");
	now_ms = 1700000000000;
	return mkdtemp(dir) ? 0 : -1;
}

static int drop(
	const char *path, const struct stat *st UNUSED, int type UNUSED, struct FTW *at UNUSED)
{
	return remove(path);
}

static int end(void **state UNUSED)
{
	history_free(history);
	graph_unref(graph);
	buf_done(&events);
	history = NULL;
	graph = NULL;
	return nftw(dir, drop, 8, FTW_DEPTH | FTW_PHYS);
}

/* -- telling a story -----------------------------------------------------------------------------
 */

static void say(const char *type, const char *path, const char *more)
{
	buf_adds(&events, "{\"seq\":1,\"ts\":\"");
	clock_rfc3339(&events, now_ms);
	buf_printf(&events, "\",\"type\":\"%s\"", type);
	if (path)
		buf_printf(&events, ",\"path\":\"%s\"", path);
	buf_printf(&events, "%s}\n", more);
}

static void start(const char *path, unsigned attempt)
{
	AUTO_BUF more = BUF_INIT;

	buf_printf(&more, ",\"label\":\"label %s\",\"argv\":[\"do\",\"it now\"],\"attempt\":%u",
		path, attempt);
	say("command.start", path, buf_cstr(&more));
}

static void done(const char *path, int code, uint64_t ms)
{
	AUTO_BUF more = BUF_INIT;

	now_ms += ms;
	buf_printf(&more,
		",\"attempt\":1,\"code\":%d,\"signal\":null,\"timeout\":false,\"ms\":%" PRIu64,
		code, ms);
	say("command.done", path, buf_cstr(&more));
}

static void timed_out(const char *path, uint64_t ms)
{
	AUTO_BUF more = BUF_INIT;

	now_ms += ms;
	buf_printf(&more,
		",\"attempt\":1,\"code\":1,\"signal\":15,\"timeout\":true,\"ms\":%" PRIu64, ms);
	say("command.done", path, buf_cstr(&more));
}

static void group_ended(const char *path, const char *outcome, int code)
{
	AUTO_BUF more = BUF_INIT;

	buf_printf(&more, ",\"attempt\":1,\"outcome\":\"%s\",\"code\":%d,\"ms\":1", outcome, code);
	say("node.done", path, buf_cstr(&more));
}

static void ran(const char *path, int code)
{
	start(path, 1);
	done(path, code, 10);
}

static void conclude(const char *template, const char *status)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF file = BUF_INIT;

	buf_printf(&file, "%s/events.jsonl", dir);
	FILE *out = fopen(buf_cstr(&file), "we");
	assert_non_null(out);
	assert_int_equal(fwrite(buf_cstr(&events), 1, events.len, out), events.len);
	assert_int_equal(fclose(out), 0);
	graph = template ? graph_read(S("<template>"), str_of(template), DIALECT_NOW, &r) : NULL;
	history = history_read(dir, graph, &r);
	assert_non_null(history);
	history_conclude(history, str_of(status));
}

static void expect(const char *path, const char *text)
{
	struct picture_state s = { 0 };
	AUTO_BUF b = BUF_INIT;

	assert_true(history_state(history, str_of(path), &s));
	picture_state_text(&s, &b);
	if (strcmp(buf_cstr(&b), text) != 0)
		fail_msg("%s is '%s', expected '%s'", path, buf_cstr(&b), text);
}

/* -- states --------------------------------------------------------------------------------------
 */

static void each_command_has_its_state(void **state UNUSED)
{
	say("run.start", NULL, "");
	ran("0", 0);
	say("node.skipped", "1", ",\"label\":null");
	start("2", 1);
	done("2", 4, 1500);
	ran("3", 0);
	conclude("[\"a\",{\"when\":\"x\",\"template\":\"b\"},\"c\",\"d\"]", "done");
	expect(".", "done · 1.5 s");
	expect("0", "done · 10 ms · exit 0");
	expect("1", "skipped");
	expect("2", "failed · 1.5 s · exit 4");
	expect("3", "done · 10 ms · exit 0");
}

static void a_root_command_is_the_whole_run(void **state UNUSED)
{
	ran("0", 3);
	conclude("false", "failed");
	expect("0", "failed · 10 ms · exit 3");
}

static void what_never_came_is_not_run(void **state UNUSED)
{
	ran("0", 1);
	conclude("[{\"failure\":\"root\",\"template\":\"a\"},[\"b\",\"c\"]]", "failed");
	expect("0", "failed · 10 ms · exit 1");
	expect("1", "unreached");
	expect("1.0", "unreached");
}

static void an_asked_for_failure_is_tolerated(void **state UNUSED)
{
	ran("0.0", 7);
	group_ended("0", "done", 0);
	ran("1", 0);
	conclude("[{\"failure\":\"continue\",\"template\":[\"a\"]},\"b\"]", "done");
	expect("0.0", "tolerated · 10 ms · exit 7");
	expect("0", "done · 10 ms");
	expect(".", "done · 20 ms");
}

static void a_sequence_fails_with_its_step(void **state UNUSED)
{
	ran("0.0", 0);
	ran("0.1", 5);
	group_ended("0", "failed", 5);
	ran("1", 0);
	conclude("[[\"a\",{\"failure\":\"branch\",\"template\":\"b\"},\"c\"],\"d\"]", "failed");
	expect("0", "failed · 20 ms · exit 5");
	expect("0.2", "unreached");
}

static void a_join_needs_one_that_succeeded(void **state UNUSED)
{
	ran("0.0", 1);
	ran("0.1", 0);
	group_ended("0", "done", 0);
	ran("1.0", 1);
	ran("1.1", 2);
	group_ended("1", "failed", 1);
	conclude("[{\"parallel\":true,\"template\":[\"a\",\"b\"]},"
		 "{\"parallel\":true,\"template\":[\"a\",\"b\"]}]",
		"failed");
	expect("0", "done · 20 ms");
	expect("1", "failed · 20 ms · exit 1");
}

static void attempts_are_counted(void **state UNUSED)
{
	ran("0", 75);
	ran("0.recover", 0);
	say("node.retry", "0", ",\"attempt\":2");
	start("0", 2);
	done("0", 0, 10);
	ran("1.0", 1);
	say("node.retry", "1", ",\"attempt\":2");
	ran("1.0", 0);
	group_ended("1", "done", 0);
	conclude("[{\"retry\":2,\"recover\":\"r\",\"template\":\"a\"},"
		 "{\"retry\":2,\"template\":[{\"failure\":\"branch\",\"template\":\"b\"}]}]",
		"done");
	expect("0", "done · 30 ms · 2 attempts · exit 0");
	expect("0.recover", "done · 10 ms · exit 0");
	expect("1", "done · 20 ms · 2 attempts");
	expect("1.0", "done · 20 ms · 2 attempts · exit 0");
}

static void copies_are_counted_together(void **state UNUSED)
{
	for (unsigned i = 0; i < 8; i++) {
		char path[16];

		(void)snprintf(path, sizeof(path), "r%u.0", i);
		ran(path, i == 5 ? 9 : 0);
		(void)snprintf(path, sizeof(path), "r%u.1", i);
		ran(path, 0);
		(void)snprintf(path, sizeof(path), "r%u", i);
		group_ended(path, "done", 0);
	}
	conclude("{\"repeat\":8,\"parallel\":true,\"template\":[\"a {index}\",\"b\"]}", "done");
	expect("r*.0", "7 done, 1 failed · 150 ms · exit 9");
	expect("r*", "8 done · 160 ms");
	expect(".", "done · 160 ms");
}

static void a_limit_of_a_group_is_its_own(void **state UNUSED)
{
	start("0.0", 1);
	timed_out("0.0", 500);
	group_ended("0", "timeout", 1);
	conclude("[{\"timeout\":500,\"failure\":\"root\",\"template\":[{\"failure\":\"branch\","
		 "\"template\":\"a\"},\"b\"]}]",
		"failed");
	expect("0.0", "timeout · 500 ms · exit 1");
	expect("0", "timeout · 500 ms · exit 1");
}

static void a_limit_in_a_group_is_not_the_groups(void **state UNUSED)
{
	start("0.0", 1);
	timed_out("0.0", 200);
	group_ended("0", "failed", 1);
	conclude("[{\"timeout\":\"{t}\",\"template\":[{\"timeout\":200,\"failure\":\"branch\","
		 "\"template\":\"a\"},\"b\"]}]",
		"failed");
	expect("0.0", "timeout · 200 ms · exit 1");
	expect("0", "failed · 200 ms · exit 1");
}

static void what_was_stopped_waits_while_the_run_is_paused(void **state UNUSED)
{
	ran("0.0", 0);
	say("recipe:approval", "0.1", ",\"step\":\"s\",\"state\":\"pending\"");
	group_ended("0", "cancelled", 1);
	group_ended(".", "cancelled", 1);
	conclude("[[\"a\",\"b\"]]", "paused");
	expect("0.1", "paused · 0 ms");
	expect("0", "paused · 10 ms");
	expect(".", "paused · 10 ms");
}

static void what_a_cancel_ended_is_cancelled(void **state UNUSED)
{
	ran("0", 0);
	start("1", 1);
	say("run.cancel", NULL, ",\"signal\":2");
	done("1", 143, 10);
	group_ended(".", "cancelled", 1);
	conclude("[\"a\",\"b\",\"c\"]", "cancelled");
	expect(".", "cancelled · 20 ms");
	expect("1", "cancelled · 10 ms · exit 143");
	expect("2", "unreached");
	assert_true(str_eq(history->stopped, S("cancelled")));
}

static void a_vanished_supervisor_interrupts(void **state UNUSED)
{
	ran("0", 0);
	start("1.0", 1);
	now_ms += 40;
	start("1.1", 1);
	conclude("[\"a\",{\"parallel\":true,\"template\":[\"b\",\"c\"]}]", "exited");
	expect(".", "exited · 50 ms");
	expect("1", "exited · 40 ms");
	expect("1.0", "exited · 40 ms");
}

static void a_resumed_run_goes_on(void **state UNUSED)
{
	say("run.start", NULL, "");
	ran("0", 0);
	start("1", 1);
	now_ms += 60000;
	say("run.start", NULL, "");
	start("1", 2);
	done("1", 0, 10);
	conclude("[\"a\",\"b\"]", "done");
	expect("1", "done · 1 min 00 s · 2 attempts · exit 0");

	size_t n;
	const struct report_leaf *leaves = history_leaves(history, &n);
	assert_int_equal(n, 2);
	assert_int_equal(leaves[1].spans[0].state, STATE_EXITED);
	assert_int_equal(leaves[1].spans[0].ms, 0);
	assert_int_equal(leaves[1].spans[1].state, STATE_DONE);
}

static void a_resumed_group_ends_again(void **state UNUSED)
{
	say("run.start", NULL, "");
	ran("0.0", 0);
	group_ended("0", "done", 0);
	start("1.0", 1);
	say("run.cancel", NULL, ",\"signal\":2");
	done("1.0", 143, 10);
	group_ended("1", "cancelled", 1);
	group_ended(".", "cancelled", 1);
	say("run.start", NULL, "");
	start("1.0", 2);
	conclude("[[\"a\"],[\"b\"]]", "exited");
	expect("0", "done · 10 ms");
	expect("1", "exited · 10 ms");
}

static void a_group_that_is_tried_again_is_open(void **state UNUSED)
{
	ran("0.0", 1);
	say("node.retry", "0", ",\"attempt\":2");
	ran("0.0", 0);
	group_ended("0", "done", 0);
	ran("1.0", 0);
	group_ended("1", "failed", 1);
	say("node.retry", ".", ",\"attempt\":2");
	start("0.0", 3);
	conclude("{\"retry\":2,\"template\":[{\"retry\":2,\"template\":[\"a\"]},[\"b\"]]}",
		"exited");
	expect("0", "exited · 30 ms · 2 attempts");
	expect("1", "failed · 10 ms · exit 1");
}

/* -- records of older versions -------------------------------------------------------------------
 */

static void without_ends_a_group_is_as_its_worst_child(void **state UNUSED)
{
	ran("0.0", 0);
	ran("0.1", 5);
	ran("1.0", 0);
	say("node.skipped", "1.1", ",\"label\":null");
	ran("2.0", 7);
	ran("3.0", 0);
	conclude("[[\"a\",\"b\",\"c\"],[\"d\",\"e\"],{\"failure\":\"continue\",\"template\":[\"f\"]"
		 "},"
		 "[\"g\",\"h\"]]",
		"failed");
	expect("0", "failed · 20 ms · exit 5");
	expect("1", "done · 10 ms");
	expect("2", "done · 10 ms");
	expect("3", "cancelled · 10 ms");
	expect(".", "failed · 50 ms · exit 5");
}

static void what_was_taken_over_is_shown(void **state UNUSED)
{
	say("node.reused", "0", ",\"label\":\"a\",\"code\":0,\"ms\":5");
	ran("1", 0);
	conclude("[\"a\",\"b\"]", "done");
	expect("0", "done · 5 ms · exit 0");
}

static void a_live_run_waits_and_runs(void **state UNUSED)
{
	now_ms = clock_real_ms();
	ran("0", 0);
	start("1.0", 1);
	conclude("[\"a\",[\"b\",\"c\"],\"d\"]", "running");
	struct picture_state s = { 0 };
	assert_true(history_state(history, S("1"), &s));
	assert_int_equal(picture_state_worst(&s), STATE_RUNNING);
	expect("1.1", "waiting");
	expect("2", "waiting");
}

/* -- lanes ---------------------------------------------------------------------------------------
 */

static void lanes_are_in_the_order_of_the_graph(void **state UNUSED)
{
	static const char *const order[] = { "1.2", "1.10", "1.10.recover", "2" };
	size_t n;

	ran("2", 0);
	ran("1.10.recover", 0);
	ran("1.10", 0);
	ran("1.2", 0);
	conclude(NULL, "done");
	const struct report_leaf *leaves = history_leaves(history, &n);
	assert_int_equal(n, ARRAY_SIZE(order));
	for (size_t i = 0; i < n; i++)
		assert_true(str_eq(leaves[i].path, str_of(order[i])));
	assert_true(str_eq(leaves[0].label, S("label 1.2")));
	assert_true(str_eq(leaves[0].command, S("do 'it now'")));
}

static void countless_attempts_take_no_memory(void **state UNUSED)
{
	size_t n;

	for (unsigned i = 1; i <= 5000; i++) {
		start("0", i);
		done("0", i == 5000 ? 0 : 1, 1);
	}
	conclude("{\"retry\":5000,\"template\":\"a\"}", "done");
	const struct report_leaf *leaves = history_leaves(history, &n);
	assert_int_equal(leaves[0].executions, 5000);
	assert_int_equal(leaves[0].span_count, 40);
	assert_int_equal(leaves[0].spans[19].start_ms, 19);
	assert_int_equal(leaves[0].spans[39].start_ms, 4999);
	expect("0", "done · 5.0 s · 5000 attempts · exit 0");
}

static void lines_that_are_no_events_do_no_harm(void **state UNUSED)
{
	AUTO_BUF deep = BUF_INIT;

	buf_adds(&events, "not json\n[1,2]\n{\"type\":7}\n{\"type\":\"command.start\"}\n");
	buf_adds(&events, "{\"type\":\"command.done\",\"path\":\"9.9\",\"code\":1}\n\n");
	ran("../../etc/passwd", 0);
	ran("7.7.7.r", 0);
	ran("0", 0);
	for (int i = 0; i < 900; i++)
		buf_adds(&deep, "0.");
	buf_addc(&deep, '0');
	ran(buf_cstr(&deep), 0);
	buf_adds(&events, "{\"type\":\"command.start\",\"path\":\"1"); /* cut off */
	conclude("[\"a\",\"b\"]", "exited");
	expect("0", "done · 10 ms · exit 0");
	expect("1", "unreached");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		TEST(each_command_has_its_state),
		TEST(a_root_command_is_the_whole_run),
		TEST(what_never_came_is_not_run),
		TEST(an_asked_for_failure_is_tolerated),
		TEST(a_sequence_fails_with_its_step),
		TEST(a_join_needs_one_that_succeeded),
		TEST(attempts_are_counted),
		TEST(copies_are_counted_together),
		TEST(a_limit_of_a_group_is_its_own),
		TEST(a_limit_in_a_group_is_not_the_groups),
		TEST(what_was_stopped_waits_while_the_run_is_paused),
		TEST(what_a_cancel_ended_is_cancelled),
		TEST(a_vanished_supervisor_interrupts),
		TEST(a_resumed_run_goes_on),
		TEST(a_resumed_group_ends_again),
		TEST(a_group_that_is_tried_again_is_open),
		TEST(without_ends_a_group_is_as_its_worst_child),
		TEST(what_was_taken_over_is_shown),
		TEST(a_live_run_waits_and_runs),
		TEST(lanes_are_in_the_order_of_the_graph),
		TEST(countless_attempts_take_no_memory),
		TEST(lines_that_are_no_events_do_no_harm),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
