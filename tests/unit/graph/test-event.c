#include "data/json.h"
#include "graph/event.h"

#include "unit.h"

static void assert_line(const struct event *e, const char *want)
{
	struct source source = { S("event"), S("") };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;

	event_json(e, &b);
	assert_str(buf_str(&b), want);
	assert_int_equal(str_find(buf_str(&b), '\n', 0), b.len);
	source.text = buf_str(&b);
	AUTO_JSON *value = json_read(&source, &r);
	assert_true(json_is_object(value));
}

static void a_command_tells_what_it_is_and_how_it_ended(void **state UNUSED)
{
	static const char *const argv[] = { "echo", "a \"b\"\n", "\xff", NULL };

	assert_line(&(struct event){ .kind = EVENT_COMMAND_START,
			    .seq = 2,
			    .path = S("0.1"),
			    .label = S("l"),
			    .argv = argv,
			    .attempt = 1 },
		"{\"seq\":2,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"command.start\","
		"\"path\":\"0.1\",\"label\":\"l\","
		"\"argv\":[\"echo\",\"a \\\"b\\\"\\n\",\"\xef\xbf\xbd\"],\"attempt\":1}");
	assert_line(&(struct event){ .kind = EVENT_COMMAND_DONE,
			    .seq = 3,
			    .time_ms = 1500,
			    .path = S("0"),
			    .attempt = 2,
			    .code = 3,
			    .signal = 9,
			    .timeout = true,
			    .ms = 12,
			    .stdout_bytes = 1234567890123 },
		"{\"seq\":3,\"ts\":\"1970-01-01T00:00:01.500Z\",\"type\":\"command.done\","
		"\"path\":\"0\",\"attempt\":2,\"code\":3,\"signal\":9,\"timeout\":true,"
		"\"ms\":12,\"stdout_bytes\":1234567890123}");
}

static void a_run_begins_and_ends(void **state UNUSED)
{
	assert_line(&(struct event){ .kind = EVENT_RUN_START, .seq = 1, .pid = 77 },
		"{\"seq\":1,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.start\","
		"\"run\":null,\"pid\":77}");
	assert_line(&(struct event){ .kind = EVENT_RUN_DONE, .seq = 9, .status = S("done") },
		"{\"seq\":9,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.done\","
		"\"status\":\"done\",\"code\":0}");
	assert_line(&(struct event){ .kind = EVENT_RUN_FAILED,
			    .seq = 9,
			    .status = S("failed"),
			    .code = 1,
			    .error = S("it broke") },
		"{\"seq\":9,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.failed\","
		"\"status\":\"failed\",\"code\":1,\"error\":\"it broke\"}");
	assert_line(&(struct event){ .kind = EVENT_RUN_CANCEL, .seq = 5 },
		"{\"seq\":5,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.cancel\","
		"\"signal\":null}");
}

static void what_is_for_views_only_has_no_name(void **state UNUSED)
{
	assert_null(event_name(EVENT_NODE_START));
	assert_null(event_name(EVENT_NODE_DONE));
	assert_null(event_name(EVENT_COMMAND_OUTPUT));
	assert_string_equal(event_name(EVENT_NODE_SKIPPED), "node.skipped");
	assert_string_equal(event_name(EVENT_NODE_RETRY), "node.retry");
	assert_string_equal(event_name(EVENT_RUN_KILL), "run.kill");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_command_tells_what_it_is_and_how_it_ended),
		cmocka_unit_test(a_run_begins_and_ends),
		cmocka_unit_test(what_is_for_views_only_has_no_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
