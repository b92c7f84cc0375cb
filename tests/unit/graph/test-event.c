#include "data/json.h"
#include "graph/event.h"

#include "unit.h"

static void assert_line(const struct event *e, const char *want)
{
	struct source source = { S("event"), S("") };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF b = BUF_INIT;
	AUTO_BUF again = BUF_INIT;
	struct arena a = ARENA_INIT;
	struct event back = { 0 };

	event_json(e, &b);
	assert_str(buf_str(&b), want);
	assert_int_equal(str_find(buf_str(&b), '\n', 0), b.len);
	source.text = buf_str(&b);
	AUTO_JSON *value = json_read(&source, &r);
	assert_true(json_is_object(value));
	/* What was read tells the same. */
	assert_true(event_read(value, &a, &back));
	event_json(&back, &again);
	assert_str(buf_str(&again), want);
	arena_done(&a);
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
			    .end = { .code = 3,
				    .signal = 9,
				    .timeout = true,
				    .ms = 12,
				    .stdout_bytes = 1234567890123 } },
		"{\"seq\":3,\"ts\":\"1970-01-01T00:00:01.500Z\",\"type\":\"command.done\","
		"\"path\":\"0\",\"attempt\":2,\"code\":3,\"signal\":9,\"timeout\":true,"
		"\"ms\":12,\"stdout_bytes\":1234567890123}");
}

static void a_run_begins_and_ends(void **state UNUSED)
{
	assert_line(&(struct event){ .kind = EVENT_RUN_START, .seq = 1, .run.pid = 77 },
		"{\"seq\":1,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.start\","
		"\"run\":null,\"pid\":77}");
	assert_line(&(struct event){ .kind = EVENT_RUN_DONE, .seq = 9, .result.status = S("done") },
		"{\"seq\":9,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.done\","
		"\"status\":\"done\",\"code\":0}");
	assert_line(&(struct event){ .kind = EVENT_RUN_FAILED,
			    .seq = 9,
			    .result = { S("failed"), S("it broke"), 1 } },
		"{\"seq\":9,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.failed\","
		"\"status\":\"failed\",\"code\":1,\"error\":\"it broke\"}");
	assert_line(&(struct event){ .kind = EVENT_RUN_CANCEL, .seq = 5 },
		"{\"seq\":5,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"run.cancel\","
		"\"signal\":null}");
}

#define HEAD(type) "{\"seq\":4,\"ts\":\"1970-01-01T00:00:00.000Z\",\"type\":\"" type "\""
#define STEP(type) HEAD(type) ",\"path\":\"0.1\",\"step\":\"it\""
#define EVENT(name, ...) (&(struct event){ .kind = name, .seq = 4, .path = S("0.1"), __VA_ARGS__ })
#define STEP_EVENT(name, ...) EVENT(name, .label = S("it"), __VA_ARGS__)

static void a_node_is_skipped_reused_tried_again_and_done(void **state UNUSED)
{
	assert_line(EVENT(EVENT_NODE_SKIPPED, 0),
		HEAD("node.skipped") ",\"path\":\"0.1\",\"label\":null}");
	assert_line(EVENT(EVENT_NODE_RETRY, .label = S("l"), .attempt = 2),
		HEAD("node.retry") ",\"path\":\"0.1\",\"label\":\"l\",\"attempt\":2}");
	assert_line(EVENT(EVENT_NODE_REUSED, .attempt = 1, .end = { .ok = true, .ms = 5 }),
		HEAD("node.reused") ",\"path\":\"0.1\",\"label\":null,\"attempt\":1,\"code\":0,"
				    "\"signal\":null,\"timeout\":false,\"ms\":5,"
				    "\"stdout_bytes\":0}");
	assert_line(EVENT(EVENT_NODE_DONE, .attempt = 2,
			    .end = { .outcome = NODE_END_TIMEOUT, .code = 124, .ms = 200 }),
		HEAD("node.done") ",\"path\":\"0.1\",\"attempt\":2,\"outcome\":\"timeout\","
				  "\"code\":124,\"ms\":200}");
}

static void steps_have_members_of_their_own(void **state UNUSED)
{
	assert_line(STEP_EVENT(EVENT_RECIPE_START, .step.number = 2),
		STEP("recipe:start") ",\"depth\":2}");
	assert_line(STEP_EVENT(EVENT_RECIPE_STEP, .step.number = 3),
		STEP("recipe:step") ",\"index\":3}");
	assert_line(STEP_EVENT(EVENT_RECIPE_COMPLETE, 0), STEP("recipe:complete") "}");
	assert_line(STEP_EVENT(EVENT_RECIPE_ERROR, .step.error = S("a\"b")),
		STEP("recipe:error") ",\"error\":\"a\\\"b\"}");
	assert_line(STEP_EVENT(EVENT_RECIPE_CANCELLED, 0), STEP("recipe:cancelled") "}");
	assert_line(STEP_EVENT(EVENT_RECIPE_APPROVAL, .step.answer = GATE_DENIED),
		STEP("recipe:approval") ",\"state\":\"denied\"}");
	assert_line(STEP_EVENT(EVENT_LOOP_ITERATION, .step.number = 0),
		STEP("recipe:loop_iteration") ",\"iteration\":0}");
	assert_line(STEP_EVENT(EVENT_LOOP_COMPLETE, .step.number = 7),
		STEP("recipe:loop_complete") ",\"iterations\":7}");
	assert_line(STEP_EVENT(EVENT_ITERATION_FAILED, .step.code = 5),
		STEP("recipe:iteration_failed") ",\"code\":5}");
	assert_line(STEP_EVENT(EVENT_BASH_START, .attempt = 1),
		STEP("step:bash:start") ",\"attempt\":1}");
	assert_line(STEP_EVENT(EVENT_AGENT_START, .attempt = 1, .step.env = S("{\"A\":\"b\"}")),
		STEP("step:agent:start") ",\"attempt\":1,\"env\":{\"A\":\"b\"}}");
	assert_line(STEP_EVENT(EVENT_BASH_ERROR, .step = { .code = 1, .ms = 9, .truncated = true }),
		STEP("step:bash:error") ",\"code\":1,\"ms\":9,\"truncated\":true}");
	assert_line(STEP_EVENT(EVENT_WAIT_START, .step.ms = 250),
		STEP("step:wait:start") ",\"ms\":250}");
	assert_line(STEP_EVENT(EVENT_WAIT_ERROR, .step = { .code = 124, .ms = 3 }),
		STEP("step:wait:error") ",\"code\":124,\"ms\":3}");
	assert_line(STEP_EVENT(EVENT_STEP_RETRY, .attempt = 2, .step.ms = 5000),
		STEP("step:retry") ",\"attempt\":2,\"ms\":5000}");
	assert_line(STEP_EVENT(EVENT_STEP_SKIP, 0), STEP("step:skip") "}");
}

static bool reads(const char *line, struct event *ret)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *value = json_read(&(struct source){ S("event"), str_of(line) }, &r);

	bool known = event_read(value, &a, ret);
	arena_done(&a);
	return known;
}

static void what_is_read_says_whether_it_went_well(void **state UNUSED)
{
	struct event e;

	assert_true(reads(HEAD("command.done") ",\"code\":0,\"timeout\":false}", &e));
	assert_true(e.end.ok);
	assert_true(reads(HEAD("command.done") ",\"code\":0,\"timeout\":true}", &e));
	assert_false(e.end.ok);
	assert_true(reads(HEAD("node.done") ",\"outcome\":\"done\"}", &e));
	assert_true(e.end.ok);
	assert_true(reads(HEAD("node.done") ",\"outcome\":\"tolerated\",\"code\":3}", &e));
	assert_false(e.end.ok);
	assert_int_equal(e.end.code, 3);
}

static void what_is_not_an_event_is_not_read(void **state UNUSED)
{
	struct event e = { .seq = 99 };

	assert_false(reads("[]", &e));
	assert_false(reads("{}", &e));
	assert_false(reads("{\"type\":7}", &e));
	assert_false(reads("{\"type\":\"of tomorrow\"}", &e));
	assert_false(reads("{\"type\":\"node.done\",\"outcome\":\"of tomorrow\"}", &e));
	assert_false(reads("{\"type\":\"recipe:approval\"}", &e));
	assert_int_equal(e.seq, 99);
	/* Members of the wrong kind are as if they were not there. */
	assert_true(reads("{\"type\":\"command.start\",\"path\":1,\"argv\":{},"
			  "\"attempt\":-1}",
		&e));
	assert_int_equal(e.attempt, 0);
	assert_int_equal(e.path.len, 0);
}

static void what_is_for_views_only_has_no_name(void **state UNUSED)
{
	assert_null(event_name(EVENT_NODE_START));
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
		cmocka_unit_test(a_node_is_skipped_reused_tried_again_and_done),
		cmocka_unit_test(steps_have_members_of_their_own),
		cmocka_unit_test(what_is_read_says_whether_it_went_well),
		cmocka_unit_test(what_is_not_an_event_is_not_read),
		cmocka_unit_test(what_is_for_views_only_has_no_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
