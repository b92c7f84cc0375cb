#include "runs/look/counts.h"

#include "runs/dir/events.h"
#include "runs/root.h"

static struct buf events;

static int finish(void **state)
{
	buf_done(&events);
	return end(state);
}

#define C(name) cmocka_unit_test_setup_teardown(name, begin, finish)

static void ended(const char *type, const char *path, int code, const char *more)
{
	buf_printf(&events, "{\"type\":\"%s\",\"path\":\"%s\",\"code\":%d,\"signal\":null%s}\n",
		type, path, code, more);
}

static void told(const char *type)
{
	buf_printf(&events, "{\"type\":\"%s\"}\n", type);
}

static struct run_row count_events(void)
{
	struct run_row row = { .status = S("exited") };

	put(EVENTS_FILE, buf_cstr(&events));
	assert_int_equal(counts_of_events(root, &row), 0);
	return row;
}

static struct run_row count_result(const char *status, const char *text)
{
	struct run_row row = { .status = str_of(status) };
	AUTO_JSON *result = json_loads(text, 0, NULL);

	assert_non_null(result);
	counts_of_result(result, &row);
	assert_true(row.counted);
	return row;
}

static void the_last_attempt_counts(void **state UNUSED)
{
	ended("command.done", "0", 1, "");
	ended("command.done", "0", 0, "");
	ended("command.done", "1", 1, "");
	ended("command.done", "1", 2, "");
	ended("command.done", "2", 1, ",\"tolerated\":true");
	ended("node.reused", "3", 1, "");
	ended("command.done", "4", 0, ",\"timeout\":true");
	struct run_row row = count_events();
	assert_int_equal(row.failed, 3);
	assert_int_equal(row.tolerated, 1);
	assert_int_equal(row.exit, 1);
}

static void what_was_ended_has_not_failed(void **state UNUSED)
{
	ended("command.done", "0", 1, "");
	told("run.cancel");
	ended("command.done", "1", 143, "");
	told("run.start");
	ended("command.done", "0", 0, "");
	ended("command.done", "2", 1, "");
	told("run.kill");
	ended("command.done", "3", 137, "");
	struct run_row row = count_events();
	assert_int_equal(row.failed, 1);
	assert_int_equal(row.tolerated, 0);
}

static void a_result_has_counted(void **state UNUSED)
{
	struct run_row row =
		count_result("done", "{\"failed\":2,\"tolerated\":1,\"exit\":3,\"failures\":[]}");
	assert_int_equal(row.failed, 2);
	assert_int_equal(row.tolerated, 1);
	assert_int_equal(row.exit, 3);
}

static void an_older_result_is_counted(void **state UNUSED)
{
	struct run_row row = count_result("done",
		"{\"failures\":[{\"path\":\"0\",\"tolerated\":false},"
		"{\"path\":\"0\",\"tolerated\":false},{\"path\":\"1\",\"tolerated\":true},"
		"{\"path\":\"2\",\"tolerated\":false}],\"failures_total\":4}");
	assert_int_equal(row.failed, 2);
	assert_int_equal(row.exit, 3);
	row = count_result("done", "{\"failures\":[],\"untolerated\":1200}");
	assert_int_equal(row.failed, 1200);
	row = count_result("failed", "{}");
	assert_int_equal(row.failed, 0);
	assert_int_equal(row.exit, 1);
}

static void progress_has_no_exit(void **state UNUSED)
{
	struct run_row row = { .counted = true };
	AUTO_JSON *progress = json_loads("{\"failed\":5,\"tolerated\":2}", 0, NULL);

	counts_of_progress(progress, &row);
	assert_false(row.counted);
	assert_int_equal(row.failed, 3);
	assert_int_equal(row.tolerated, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		C(the_last_attempt_counts),
		C(what_was_ended_has_not_failed),
		C(a_result_has_counted),
		C(an_older_result_is_counted),
		C(progress_has_no_exit),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
