#include "graph/step.h"
#include "render/terminal/stream.h"

#include "unit.h"

static const struct step_node streaming = { .stream = true }, quiet = { 0 };
static const struct node loud_node = { .label = S("talk"), .step = &streaming };
static const struct node quiet_node = { .label = S("calm"), .step = &quiet };
static const struct node template_node = { .label = S("cmd") };

static void say(struct stream_lines *s, const struct node *n, const char *path, const char *text,
	bool err, struct buf *ret)
{
	stream_lines_event(s,
		&(struct event){ .kind = EVENT_COMMAND_OUTPUT,
			.node = n,
			.path = str_of(path),
			.output = { str_of(text), err } },
		ret);
}

static void end(struct stream_lines *s, const struct node *n, const char *path, struct buf *ret)
{
	stream_lines_event(s,
		&(struct event){ .kind = EVENT_COMMAND_DONE,
			.node = n,
			.path = str_of(path),
			.end.ok = true },
		ret);
}

static void lines_are_whole(void **state)
{
	struct stream_lines *s = stream_lines_new(false);
	AUTO_BUF got = BUF_INIT;

	(void)state;
	say(s, &loud_node, "0", "hel", false, &got);
	assert_str(buf_str(&got), "");
	say(s, &loud_node, "0", "oops\n", true, &got);
	say(s, &loud_node, "0", "lo\r\nwor", false, &got);
	assert_str(buf_str(&got), "[talk] oops\n[talk] hello\n");
	buf_reset(&got);
	end(s, &loud_node, "0", &got);
	assert_str(buf_str(&got), "[talk] wor\n");
	/* Nothing is left of it. */
	buf_reset(&got);
	end(s, &loud_node, "0", &got);
	assert_str(buf_str(&got), "");
	stream_lines_free(s);
}

static void only_those_that_ask(void **state)
{
	struct stream_lines *some = stream_lines_new(false), *all = stream_lines_new(true);
	AUTO_BUF got = BUF_INIT;

	(void)state;
	say(some, &quiet_node, "0", "x\n", false, &got);
	say(some, &template_node, "0", "x\n", false, &got);
	assert_str(buf_str(&got), "");
	say(all, &template_node, "0", "x\n", false, &got);
	say(all, &quiet_node, "1", "x\n", false, &got);
	assert_str(buf_str(&got), "[0 cmd] x\n[calm] x\n");
	/* Standard error of every command. */
	buf_reset(&got);
	say(some, &quiet_node, "0", "x\n", true, &got);
	say(some, &template_node, "2", "x\n", true, &got);
	assert_str(buf_str(&got), "[0 calm] x\n[2 cmd] x\n");
	/* A line that never ends is not kept. */
	say(some, &loud_node, "1", "begun", false, &got);
	stream_lines_free(some);
	stream_lines_free(all);
}

static void rounds_are_told_apart(void **state)
{
	struct stream_lines *s = stream_lines_new(false);
	AUTO_BUF got = BUF_INIT;

	(void)state;
	say(s, &loud_node, "1.r0", "a", false, &got);
	say(s, &loud_node, "1.r11", "b\n", false, &got);
	say(s, &loud_node, "1.r0", "c\n", false, &got);
	say(s, &loud_node, "2.r3.0", "d\n", false, &got);
	assert_str(buf_str(&got), "[talk #12] b\n[talk #1] ac\n[talk #4] d\n");
	stream_lines_free(s);
}

static void long_and_hostile_lines_are_bounded(void **state)
{
	struct stream_lines *s = stream_lines_new(false);
	AUTO_BUF got = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	(void)state;
	say(s, &loud_node, "0", "\033[2Jred\033[0m\n", false, &got);
	assert_str(buf_str(&got), "[talk] red\n");
	buf_reset(&got);
	buf_fill(&text, 'x', 10000);
	say(s, &loud_node, "0", buf_cstr(&text), false, &got);
	size_t lines = 0;
	for (size_t i = 0; i < got.len; i++)
		lines += got.p[i] == '\n';
	assert_int_equal(lines, 2); /* of 4096 each; the rest waits */
	stream_lines_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_whole),
		cmocka_unit_test(only_those_that_ask),
		cmocka_unit_test(rounds_are_told_apart),
		cmocka_unit_test(long_and_hostile_lines_are_bounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("stream", tests, NULL, NULL);
}
