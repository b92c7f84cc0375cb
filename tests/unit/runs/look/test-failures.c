#include "runs/look/failures.h"

#include "runs/dir/events.h"
#include "runs/dir/leaves.h"
#include "runs/dir/outputs.h"
#include "runs/root.h"

static struct buf events, leaves;
static uint64_t total;

static int finish(void **state)
{
	buf_done(&events);
	buf_done(&leaves);
	return end(state);
}

#define F(name) cmocka_unit_test_setup_teardown(name, begin, finish)

static void start(const char *path, int attempt, const char *word)
{
	buf_printf(&events,
		"{\"type\":\"command.start\",\"path\":\"%s\",\"label\":\"L\",\"argv\":[\"%s\","
		"\"b\"],"
		"\"attempt\":%d}\n",
		path, word, attempt);
}

/* An end as the recorder and the engine write it: a line, then an event. */
static void exit_line(const char *path, uint64_t number, int code, uint64_t ms)
{
	leaf_exit_line(&leaves, str_of(path),
		&(struct leaf_record){ .number = number, .code = code, .ms = ms }, NULL, 1);
}

static void done(const char *path, int attempt, int code, int ms)
{
	buf_printf(&events,
		"{\"type\":\"command.done\",\"path\":\"%s\",\"attempt\":%d,\"code\":%d,"
		"\"signal\":null,\"timeout\":false,\"ms\":%d,\"stdout_bytes\":0}\n",
		path, attempt, code, ms);
}

static void errors(const char *path, uint64_t number, const char *text)
{
	AUTO_BUF name = BUF_INIT;

	assert_true(output_file(&name, str_of(path), number, true));
	put(buf_cstr(&name), text);
}

static json_t *failures(void)
{
	put(EVENTS_FILE, buf_cstr(&events));
	put(LEAVES_FILE, buf_cstr(&leaves));
	return run_failures(root, &total);
}

static const char *member(const json_t *list, size_t i, const char *name)
{
	return json_string_value(json_object_get(json_array_get(list, i), name));
}

static void each_attempt_has_its_own_errors(void **state UNUSED)
{
	for (int i = 1; i <= 3; i++) {
		start("0", i, "a");
		exit_line("0", (uint64_t)i, i < 3 ? 5 : 0, (uint64_t)i);
		done("0", i, i < 3 ? 5 : 0, i);
	}
	errors("0", 1, "one");
	errors("0", 2, "two");
	errors("0", 3, "fine");
	AUTO_JSON *list = failures();
	assert_int_equal(total, 2);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(member(list, 0, "stderr"), "one");
	assert_string_equal(member(list, 1, "stderr"), "two");
	assert_string_equal(member(list, 1, "command"), "a b");
	assert_string_equal(member(list, 1, "label"), "L");
}

/* The supervisor was killed between the line and the event; the node was forgotten and run again.
 */
static void a_line_without_an_event_is_passed_over(void **state UNUSED)
{
	exit_line("0", 1, 5, 10);
	leaf_forget_line(&leaves, S("0"), 1);
	exit_line("0", 2, 5, 11);
	done("0", 1, 5, 11);
	errors("0", 1, "before");
	errors("0", 2, "now");
	AUTO_JSON *list = failures();
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(member(list, 0, "stderr"), "now");
}

static void a_long_path_has_its_errors_too(void **state UNUSED)
{
	AUTO_BUF path = BUF_INIT;

	for (int i = 0; i < 150; i++)
		buf_adds(&path, i ? ".0" : "0");
	exit_line(buf_cstr(&path), 1, 2, 1);
	done(buf_cstr(&path), 1, 2, 1);
	errors(buf_cstr(&path), 1, "deep");
	AUTO_JSON *list = failures();
	assert_string_equal(member(list, 0, "stderr"), "deep");
}

static void what_a_cancel_ended_has_not_failed(void **state UNUSED)
{
	buf_adds(&events, "{\"type\":\"run.start\"}\n");
	done("0", 1, 1, 1);
	buf_adds(&events, "{\"type\":\"run.cancel\"}\n");
	done("1", 1, 143, 1);
	AUTO_JSON *before = failures();
	assert_int_equal(json_array_size(before), 1);
	assert_string_equal(member(before, 0, "stderr"), "");
	buf_adds(&events, "{\"type\":\"run.start\"}\n");
	done("2", 1, 1, 1);
	AUTO_JSON *after = failures();
	assert_int_equal(json_array_size(after), 2);
}

static void the_rotated_file_counts(void **state UNUSED)
{
	put("events.1.jsonl",
		"{\"type\":\"command.done\",\"path\":\"7\",\"attempt\":1,\"code\":3}\n");
	done("8", 1, 4, 1);
	AUTO_JSON *list = failures();
	assert_int_equal(total, 2);
	assert_string_equal(member(list, 0, "path"), "7");
}

static void a_thousand_are_listed_and_all_are_counted(void **state UNUSED)
{
	for (int i = 0; i < 1001; i++)
		done("0", i, 1, 1);
	AUTO_JSON *list = failures();
	assert_int_equal(json_array_size(list), 1000);
	assert_int_equal(total, 1001);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(each_attempt_has_its_own_errors),
		F(a_line_without_an_event_is_passed_over),
		F(a_long_path_has_its_errors_too),
		F(what_a_cancel_ended_has_not_failed),
		F(the_rotated_file_counts),
		F(a_thousand_are_listed_and_all_are_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("failures", tests, NULL, NULL);
}
