#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "graph/step.h"
#include "render/terminal/lines.h"

struct fixture {
	struct plain_lines *lines;
	int out; /* the end of the pipe that is read */
	int in;
	char text[65536];
};

static void setup(struct fixture *f)
{
	int ends[2];

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	f->out = ends[0];
	f->in = ends[1];
	(void)fcntl(f->out, F_SETFL, O_NONBLOCK);
	f->lines = plain_lines_new(f->in);
}

static void teardown(struct fixture *f)
{
	plain_lines_free(f->lines);
	close(f->in);
	close(f->out);
}

/* What has been written since the last time. */
static const char *written(struct fixture *f)
{
	ssize_t n = read(f->out, f->text, sizeof(f->text) - 1);

	f->text[n > 0 ? n : 0] = '\0';
	return f->text;
}

static const char *line_of(struct fixture *f, struct event e)
{
	plain_lines_event(f->lines, &e);
	plain_lines_flush(f->lines);
	return written(f);
}

static void each_event_is_one_line(void **state)
{
	const char *argv[] = { "review-gpt", "src", "two words", NULL };
	struct fixture f;

	(void)state;
	setup(&f);
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_START,
						.path = S("1.0"),
						.label = S("gpt"),
						.argv = argv,
						.attempt = 1 }),
		"[1.0 gpt] start review-gpt src 'two words'\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.path = S("1.0"),
						.label = S("gpt"),
						.end.ok = true,
						.end.ms = 8 }),
		"[1.0 gpt] done in 8 ms\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.path = S("2"),
						.end.code = 1,
						.end.ms = 30 }),
		"[2] failed with code 1 in 30 ms\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.path = S("2"),
						.end.signal = 9,
						.end.ms = 1500 }),
		"[2] failed with signal 9 in 1.5 s\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.path = S("2"),
						.end.timeout = true,
						.end.signal = 15,
						.end.ms = 30 }),
		"[2] timed out after 30 ms\n");
	assert_string_equal(
		line_of(&f,
			(struct event){ .kind = EVENT_NODE_RETRY, .path = S("2"), .attempt = 2 }),
		"[2] retry, attempt 2\n");
	assert_string_equal(
		line_of(&f, (struct event){ .kind = EVENT_NODE_SKIPPED, .path = S("3") }),
		"[3] skipped\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_RUN_CANCEL, .signal = 2 }),
		"roux: run cancelled by signal 2\n");
	assert_string_equal(
		line_of(&f, (struct event){ .kind = EVENT_RUN_KILL }), "roux: run killed\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_RUN_FAILED,
						.result.status = S("failed"),
						.result.error = S("it broke") }),
		"");
	teardown(&f);
}

static void events_for_views_have_no_line(void **state)
{
	static const enum event_kind kinds[] = { EVENT_RUN_START, EVENT_NODE_START, EVENT_NODE_DONE,
		EVENT_RUN_DONE };
	struct fixture f;

	(void)state;
	setup(&f);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		assert_string_equal(
			line_of(&f, (struct event){ .kind = kinds[i], .path = S("1") }), "");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_OUTPUT,
						.path = S("1"),
						.output.bytes = S("text\n") }),
		"");
	teardown(&f);
}

static void no_control_character_comes_through(void **state)
{
	const char *argv[] = { "printf", "a\n\033[2Jb\xff", NULL };
	struct fixture f;

	(void)state;
	setup(&f);
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_START,
						.path = S("0"),
						.label = S("\033]0;title\alabel\r"),
						.argv = argv }),
		"[0 \\x1b]0;title\\x07label\\r] start printf $'a\\n\\033[2Jb\\377'\n");
	teardown(&f);
}

static void long_commands_are_cut(void **state)
{
	char big[5000];
	const char *argv[] = { big, NULL };
	struct fixture f;

	(void)state;
	setup(&f);
	memset(big, 'x', sizeof(big));
	big[sizeof(big) - 1] = '\0';
	const char *line = line_of(
		&f, (struct event){ .kind = EVENT_COMMAND_START, .path = S("0"), .argv = argv });
	assert_true(strlen(line) < 1100);
	assert_non_null(strstr(line, "xxx…\n"));
	teardown(&f);
}

static void lines_are_collected_up_to_four_kibibytes(void **state)
{
	struct event e = { .kind = EVENT_NODE_SKIPPED, .path = S("3") };
	struct fixture f;
	size_t count = 0;

	(void)state;
	setup(&f);
	while (!*written(&f)) {
		plain_lines_event(f.lines, &e);
		count++;
	}
	assert_int_equal(count, 4096 / strlen("[3] skipped\n") + 1);
	plain_lines_flush(f.lines);
	assert_string_equal(written(&f), "");
	teardown(&f);
}

static void loops_of_steps_count_their_rounds(void **state)
{
	static const struct step_node step = { 0 };
	static const struct node each = { .kind = NODE_EACH, .label = S("work"), .step = &step };
	static const struct node body = { .label = S("work"), .step = &step };
	struct fixture f;

	(void)state;
	setup(&f);
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_NODE_START,
						.node = &each,
						.path = S("1"),
						.count = 200,
						.mono_ms = 1000 }),
		"[1 work] 200 items\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.node = &body,
						.path = S("1.r5"),
						.end.ok = true,
						.end.ms = 8,
						.mono_ms = 1100 }),
		"[1.r5 work] done in 8 ms (1/200)\n");
	/* A failure that is tried again has not ended. */
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.node = &body,
						.path = S("1.r6"),
						.end.code = 3,
						.end.ms = 8,
						.mono_ms = 1200 }),
		"[1.r6 work] failed with code 3 in 8 ms (2/200)\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_STEP_RETRY,
						.node = &body,
						.path = S("1.r6"),
						.attempt = 2,
						.step.ms = 5000 }),
		"[1.r6 work] retry, attempt 2, in 5.0 s\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_NODE_RETRY,
						.node = &body,
						.path = S("1.r6"),
						.attempt = 2 }),
		"");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_COMMAND_DONE,
						.node = &body,
						.path = S("1.r6"),
						.end.ok = true,
						.end.ms = 8,
						.mono_ms = 3000 }),
		"[1.r6 work] done in 8 ms (2/200, 1.0/s)\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_NODE_DONE,
						.node = &each,
						.path = S("1"),
						.end.ok = true,
						.mono_ms = 9000 }),
		"[1 work] done: 2/200, 15.0/min\n");
	teardown(&f);
}

/* A loop of two recipes of which the first is cut short. */
static void assert_cut_short(struct event why, struct event command, const char *want)
{
	static const struct step_node step = { 0 };
	static const struct node each = { .kind = NODE_EACH, .label = S("work"), .step = &step };
	static const struct node call = { .kind = NODE_CALL, .label = S("work"), .step = &step };
	struct fixture f;

	setup(&f);
	(void)line_of(
		&f, (struct event){
			    .kind = EVENT_NODE_START, .node = &each, .path = S("1"), .count = 2 });
	(void)line_of(&f, why);
	(void)line_of(&f, command);
	(void)line_of(&f, (struct event){ .kind = EVENT_NODE_DONE,
				  .node = &call,
				  .path = S("1.r0"),
				  .end.outcome = NODE_END_CANCELLED });
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_NODE_DONE,
						.node = &each,
						.path = S("1"),
						.end.outcome = NODE_END_CANCELLED }),
		want);
	teardown(&f);
}

static void a_loop_that_is_cut_short_has_not_failed(void **state)
{
	static const struct step_node step = { 0 };
	static const struct node body = { .label = S("work"), .step = &step };
	const struct event gate = {
		.kind = EVENT_RECIPE_APPROVAL, .path = S("1.r0.1"), .step.answer = GATE_PENDING
	};
	const struct event ended = {
		.kind = EVENT_COMMAND_DONE, .node = &body, .path = S("1.r1"), .end.signal = 15
	};

	(void)state;
	assert_cut_short(
		gate, (struct event){ .kind = EVENT_RECIPE_STEP }, "[1 work] paused: 0/2\n");
	assert_cut_short((struct event){ .kind = EVENT_RUN_CANCEL, .signal = 2 }, ended,
		"[1 work] cancelled: 0/2\n");
	assert_cut_short(
		(struct event){ .kind = EVENT_RUN_KILL }, ended, "[1 work] cancelled: 0/2\n");
	/* By a failure elsewhere. */
	assert_cut_short((struct event){ .kind = EVENT_RECIPE_STEP },
		(struct event){ .kind = EVENT_RECIPE_STEP }, "[1 work] cancelled: 0/2\n");
}

static void pauses_and_gates_have_lines(void **state)
{
	static const struct step_node step = { .stage = { .name = S("ship") } };
	static const struct node gate = { .kind = NODE_GATE, .label = S("ship"), .step = &step };
	struct fixture f;

	(void)state;
	setup(&f);
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_WAIT_START,
						.label = S("rest"),
						.path = S("2"),
						.step.ms = 250 }),
		"[2 rest] wait for 250 ms\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_RECIPE_APPROVAL,
						.node = &gate,
						.path = S("0.1"),
						.step.answer = GATE_PENDING }),
		"[0.1 ship] waits for approval\n");
	assert_string_equal(line_of(&f, (struct event){ .kind = EVENT_RECIPE_STEP }), "");
	teardown(&f);
}

static void silence_is_broken_after_half_a_minute(void **state)
{
	const char *argv[] = { "sleep", NULL };
	struct fixture f;

	(void)state;
	setup(&f);
	(void)line_of(&f, (struct event){ .kind = EVENT_COMMAND_START,
				  .path = S("0"),
				  .label = S("long"),
				  .argv = argv,
				  .mono_ms = 5000 });
	(void)line_of(&f, (struct event){ .kind = EVENT_COMMAND_START,
				  .path = S("1"),
				  .argv = argv,
				  .mono_ms = 30000 });
	plain_lines_beat(f.lines, 34999);
	assert_string_equal(written(&f), "");
	plain_lines_beat(f.lines, 40000);
	assert_string_equal(written(&f), "[0 long] still running, for 35.0 s\n");
	(void)line_of(
		&f, (struct event){ .kind = EVENT_COMMAND_DONE, .path = S("0"), .mono_ms = 41000 });
	plain_lines_beat(f.lines, 50000);
	assert_string_equal(written(&f), "");
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_event_is_one_line),
		cmocka_unit_test(events_for_views_have_no_line),
		cmocka_unit_test(no_control_character_comes_through),
		cmocka_unit_test(long_commands_are_cut),
		cmocka_unit_test(lines_are_collected_up_to_four_kibibytes),
		cmocka_unit_test(loops_of_steps_count_their_rounds),
		cmocka_unit_test(a_loop_that_is_cut_short_has_not_failed),
		cmocka_unit_test(pauses_and_gates_have_lines),
		cmocka_unit_test(silence_is_broken_after_half_a_minute),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
