#include "base/run-status.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "graph/graph.h"
#include "render/page/report.h"
#include "render/picture/markup.h"
#include "text.h"

static bool every_node_done(const void *data, struct str path, struct picture_state *ret)
{
	(void)data;
	(void)path;
	ret->counts[STATE_DONE] = 1;
	return true;
}

static struct graph *read_graph(struct str text)
{
	AUTO_REPORT r = REPORT_INIT;
	struct graph *g = graph_read(S("<template>"), text, DIALECT_NOW, &r);

	assert_non_null(g);
	return g;
}

/* A run of two commands: the first at the second attempt, the second failed. */
static const struct report_span first_spans[] = {
	{ .start_ms = 0, .ms = 1000, .state = STATE_FAILED, .code = 75 },
	{ .start_ms = 1500, .ms = 500, .state = STATE_DONE },
};
static const struct report_span second_spans[] = {
	{ .start_ms = 2000, .ms = 2000, .state = STATE_TIMEOUT, .code = 1, .signal = 15 },
};
static const struct report_leaf two_leaves[] = {
	{ S("0"), S("fetch"), S("curl example.org"), first_spans, 2, 2 },
	{ S("1"), S(""), S("sleep 100"), second_spans, 1, 1 },
};
static const struct report_failure two_failures[] = {
	{ .path = S("0"),
		.label = S("fetch"),
		.command = S("curl example.org"),
		.err = S("no route\n"),
		.code = 75,
		.attempt = 1,
		.tolerated = true },
	{ .path = S("1"),
		.command = S("sleep 100"),
		.code = 1,
		.signal = 15,
		.attempt = 1,
		.timeout = true },
};

static struct run_report two_commands(void)
{
	return (struct run_report){
		.run = S("nightly-1"),
		.recipe = S("nightly"),
		.status = S("failed"),
		.error = S("node 1 timed out"),
		.started = S("2026-11-15T18:42:10.123Z"),
		.ended = S("2026-11-15T18:42:14.123Z"),
		.owner = S("session-9"),
		.cwd = S("/srv/site"),
		.ms = 4000,
		.timed = true,
		.exit = 1,
		.exited = true,
		.leaves = { two_leaves, 2, 2 },
		.failures = { two_failures, 2, 2 },
	};
}

static struct buf page_of(const struct run_report *facts)
{
	struct buf b = BUF_INIT;

	report_html(facts, &b);
	return b;
}

/* -- structure -----------------------------------------------------------------------------------
 */

static void the_page_needs_nothing_else(void **state)
{
	struct run_report f = two_commands();
	struct graph *g = read_graph(S("[\"curl example.org\",\"sleep 100\"]"));
	(void)state;

	f.graph = g;
	f.state = every_node_done;
	AUTO_BUF b = page_of(&f);
	graph_unref(g);
	assert_true(str_starts(
		buf_str(&b), S("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=")));
	assert_true(str_ends(buf_str(&b), S("</body>\n</html>\n")));
	assert_has(&b, "default-src 'none'");
	assert_lacks(&b, "<script");
	assert_lacks(&b, "<link");
	assert_lacks(&b, "<img");
	assert_lacks(&b, "@import");
	assert_lacks(&b, "url(");
	assert_lacks(&b, " src=");
	assert_int_equal(text_count(&b, "://"), 1); /* the name space of the SVG */
	assert_has(&b, "prefers-color-scheme:dark");
	assert_has(&b, "@media print");
}

static void the_header_tells_the_run(void **state)
{
	struct run_report f = two_commands();
	(void)state;
	AUTO_BUF b = page_of(&f);

	assert_has(&b, "<title>nightly-1 · failed</title>");
	assert_has(&b, "<span class=\"tag is-failed\">failed</span></h1>");
	assert_has(&b, "<p class=\"error\">node 1 timed out</p>");
	assert_has(&b, "<dt>Recipe</dt><dd>nightly</dd>");
	assert_has(&b, "2026-11-15 18:42:10 UTC");
	assert_has(&b, "<dt>Duration</dt><dd>4.0 s</dd>");
	assert_has(&b, "<dt>Exit status</dt><dd>1</dd>");
	assert_has(&b, "<dt>Owner</dt><dd>session-9</dd>");
	assert_has(&b, "<dt>Working directory</dt><dd>/srv/site</dd>");
	assert_has(&b, "<dt>Commands</dt><dd>1 done, 1 timeout</dd>");
}

/* What is not known is left out, and every part says so in words. */
static void a_run_that_has_done_nothing_is_a_page_too(void **state)
{
	struct run_report f = { .run = S("empty"), .live = true, .status = S("running") };
	(void)state;
	AUTO_BUF b = page_of(&f);

	assert_has(&b, "No command failed.");
	assert_has(&b, "No command was started.");
	assert_has(&b, "The graph of this run is not known.");
	assert_has(&b, "Nothing was printed.");
	assert_lacks(&b, "<dt>");
	assert_lacks(&b, "id=\"warnings\"");
}

/* Every opened element is closed, in order. */
static void elements_are_balanced(void **state)
{
	static const struct str warnings[] = { S("take care") };
	static const struct report_pair pairs[] = { { S("report"), S("out/report.md") } };
	static const struct report_message messages[] = { { S("t"), S("to"), S("x"), S("y") } };
	static const struct report_output outputs[] = {
		{ .label = S("Standard output"), .head = S("a\n"), .tail = S("z\n"), .bytes = 100 }
	};
	struct run_report f = two_commands();
	struct graph *g = read_graph(S("[\"curl example.org\",\"sleep 100\"]"));
	VEC(struct str) open = { 0 };
	(void)state;

	f.graph = g;
	f.state = every_node_done;
	f.warnings.at = warnings;
	f.artifacts.at = f.values.at = pairs;
	f.messages.at = messages;
	f.outputs.at = outputs;
	f.warnings.len = f.artifacts.len = f.values.len = f.messages.len = f.outputs.len = 1;
	AUTO_BUF b = page_of(&f);
	graph_unref(g);
	for (const char *at = buf_cstr(&b); (at = strchr(at, '<')); at++) {
		struct str name = { at + 1, strcspn(at + 1, " >/\n") };
		const char *end = strchr(at, '>');

		if (at[1] == '!' || str_eq(name, S("meta")) || end[-1] == '/')
			continue;
		if (at[1] != '/') {
			vec_push(&open, name);
			continue;
		}
		name = (struct str){ at + 2, strcspn(at + 2, " >") };
		assert_true(open.len > 0);
		struct str last = vec_pop(&open);
		if (!str_eq(last, name))
			fail_msg("</%.*s> ends <%.*s>", STR(name), STR(last));
	}
	assert_int_equal(open.len, 0);
	vec_done(&open);
}

static void wide_boxes_can_be_reached_by_keyboard(void **state)
{
	struct run_report f = two_commands();
	(void)state;
	AUTO_BUF b = page_of(&f);

	assert_int_equal(text_count(&b, "class=\"scroll\""), 1);
	assert_int_equal(
		text_count(&b, "class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label="), 1);
	assert_has(&b, "<a href=\"#timeline\">Timeline</a>");
	assert_has(&b, "<section id=\"timeline\" aria-labelledby=\"timeline-title\">");
}

/* -- timeline ------------------------------------------------------------------------------------
 */

static void attempts_are_told_apart(void **state)
{
	struct run_report f = two_commands();
	(void)state;
	AUTO_BUF b = page_of(&f);

	assert_has(&b, "class=\"span failed\" style=\"left:0.000%;width:25.000%\"");
	assert_has(&b, "class=\"span done\" style=\"left:37.500%;width:12.500%\"");
	assert_has(&b, ">attempt 1: failed with exit 75 after 1.0 s</span>");
	assert_has(&b, ">, attempt 2: done after 500 ms</span>");
	assert_has(&b, "attempt 1: timeout by signal 15 after 2.0 s");
	assert_has(&b, "×2</span>");
}

static void the_axis_has_round_times(void **state)
{
	struct run_report f = two_commands();
	(void)state;
	AUTO_BUF b = page_of(&f);

	assert_has(&b, "<span style=\"left:0.000%\">0</span>");
	assert_has(&b, "<span style=\"left:25.000%\">1 s</span>");
	assert_has(&b, "<span style=\"left:75.000%\">3 s</span>");
	assert_lacks(&b, ">4 s</span>"); /* no room at the end */
}

enum { MANY = 10000 };

/* Only the last of them is interesting: it failed. */
static void many_commands_are_folded(void **state)
{
	static struct report_leaf leaves[MANY];
	static struct report_span spans[MANY];
	struct run_report f = two_commands();
	struct arena a = ARENA_INIT;
	(void)state;

	for (size_t i = 0; i < MANY; i++) {
		spans[i] = (struct report_span){
			.start_ms = i,
			.ms = 5,
			.state = i == MANY - 1 ? STATE_FAILED : STATE_DONE,
		};
		leaves[i] = (struct report_leaf){
			.path = arena_printf(&a, "r%zu", i),
			.command = S("work"),
			.spans = &spans[i],
			.span_count = 1,
			.executions = 1,
		};
	}
	f.leaves.at = leaves;
	f.leaves.len = f.leaves.all = MANY;
	AUTO_BUF b = page_of(&f);
	assert_true(b.len < 100000);
	assert_int_equal(text_count(&b, "class=\"lane\""), 61);
	assert_has(&b, ">r9999</span>");
	assert_has(&b, "… 9,940 more commands");
	assert_has(&b, "60 of 10000 commands have a lane of their own");
	assert_has(&b, "up to 5</td>");
	arena_done(&a);
}

/* -- text that comes from elsewhere --------------------------------------------------------------
 */

#define HOSTILE "</pre></td><script>alert(\"1\")</script>&lt;'\x01\xff\xe2\x80\xae"

static void nothing_breaks_out_of_its_place(void **state)
{
	static const struct str hostile = S(HOSTILE);
	static const struct str warnings[] = { S(HOSTILE) };
	static const struct report_pair pairs[] = { { S(HOSTILE), S(HOSTILE) } };
	static const struct report_message messages[] = { { S(HOSTILE), S(HOSTILE), S(HOSTILE),
		S(HOSTILE) } };
	static const struct report_output outputs[] = { { S(HOSTILE), S(HOSTILE), S(HOSTILE),
		S(HOSTILE), 1000 } };
	static const struct report_failure failures[] = { { .path = S(HOSTILE),
		.label = S(HOSTILE),
		.command = S(HOSTILE),
		.err = S(HOSTILE),
		.code = 1 } };
	static const struct report_leaf leaves[] = { { S(HOSTILE), S(HOSTILE), S(HOSTILE),
		second_spans, 1, 1 } };
	struct run_report f = {
		.run = hostile,
		.recipe = hostile,
		.status = hostile,
		.error = hostile,
		.started = hostile,
		.ended = hostile,
		.owner = hostile,
		.cwd = hostile,
		.command = hostile,
		.leaves = { leaves, 1, 1 },
		.failures = { failures, 1, 1 },
		.outputs = { outputs, 1, 1 },
		.values = { pairs, 1, 1 },
		.artifacts = { pairs, 1, 1 },
		.warnings = { warnings, 1, 1 },
		.messages = { messages, 1, 1 },
	};
	(void)state;
	AUTO_BUF b = page_of(&f);

	assert_lacks(&b, "<script");
	assert_lacks(&b, "alert(\"");
	assert_lacks(&b, "\x01");
	assert_lacks(&b, "\xe2\x80\xae");
	assert_true(utf8_valid(buf_str(&b)));
	/* title, h1 and its tag, error, 4 facts … each is there, escaped. */
	assert_true(
		text_count(&b, "&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;lt;&#39;") >=
		25);
}

static void output_of(struct str s, struct buf *ret)
{
	buf_reset(ret);
	markup_output(ret, s);
}

static void output_is_shown_without_what_is_for_a_terminal(void **state)
{
	AUTO_BUF b = BUF_INIT;
	(void)state;

	output_of(S("\x1b[1;31mred\x1b[0m\tx\r\ny\n"), &b);
	assert_string_equal(buf_cstr(&b), "red\tx\ny\n");
	output_of(S("10%\r100%\n"), &b);
	assert_string_equal(buf_cstr(&b), "10%\n100%\n");
	output_of(S("a <b> & c\n"), &b);
	assert_string_equal(buf_cstr(&b), "a &lt;b&gt; &amp; c\n");
}

static void bytes_that_are_no_text_are_numbers(void **state)
{
	AUTO_BUF b = BUF_INIT;
	char many[5000];
	(void)state;

	output_of((struct str){ "PNG\0<\xff", 6 }, &b);
	assert_has(&b, "000000  50 4e 47 00 3c ff");
	assert_has(&b, "PNG.&lt;.");
	memset(many, 0xee, sizeof(many));
	output_of((struct str){ many, sizeof(many) }, &b);
	assert_true(b.len < 1500);
	assert_has(&b, "… 4744 more bytes that are not text");
}

static void long_lists_end(void **state)
{
	static struct report_failure failures[1000];
	struct run_report f = two_commands();
	(void)state;

	for (size_t i = 0; i < ARRAY_SIZE(failures); i++)
		failures[i] = (struct report_failure){ .path = S("0"), .code = 1 };
	f.failures.at = failures;
	f.failures.len = ARRAY_SIZE(failures);
	f.failures.all = 70000;
	AUTO_BUF b = page_of(&f);
	assert_int_equal(text_count(&b, "<article"), 100);
	assert_has(&b, "… 69,900 more failed attempts");
}

static void what_was_left_out_of_an_output_is_told(void **state)
{
	static const struct report_output outputs[] = { { .label = S("Standard output"),
		.head = S("first\n"),
		.tail = S("last\n"),
		.bytes = 11 + 3 * 1024 * 1024 } };
	struct run_report f = two_commands();
	(void)state;

	f.outputs.at = outputs;
	f.outputs.len = f.outputs.all = 1;
	AUTO_BUF b = page_of(&f);
	assert_has(&b, "<pre>\nfirst\n</pre>");
	assert_has(&b, "… 3.0 MiB left out …");
	assert_has(&b, "<pre>\nlast\n</pre>");
}

/* The headline, the root of the picture and the dashboard have the same word for it. */
static void the_headline_has_the_colour_of_the_status(void **state)
{
	static const struct {
		const char *status, *look;
	} cases[] = { { "paused", "paused" }, { "partial", "partial" }, { "denied", "denied" },
		{ "exited", "exited" }, { "killed", "killed" }, { "odd", "unreached" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct run_report f = two_commands();
		AUTO_BUF tag = BUF_INIT;

		f.status = str_of(cases[i].status);
		buf_printf(&tag, "<span class=\"tag is-%s\">%s</span></h1>", cases[i].look,
			cases[i].status);
		AUTO_BUF b = page_of(&f);
		assert_has(&b, buf_cstr(&tag));
	}
}

static void every_end_of_a_run_can_be_drawn(void **state)
{
	(void)state;
	for (enum roux_status s = ROUX_RUNNING; s <= ROUX_REFUSED; s++) {
		enum shown_state kind = STATE_SKIPPED;
		bool drawn = status_rest(s) != STATUS_NEVER;

		assert_int_equal(shown_state_read(status_str(s), &kind), drawn);
		assert_int_equal(kind != STATE_SKIPPED, drawn);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_page_needs_nothing_else),
		cmocka_unit_test(the_header_tells_the_run),
		cmocka_unit_test(the_headline_has_the_colour_of_the_status),
		cmocka_unit_test(every_end_of_a_run_can_be_drawn),
		cmocka_unit_test(a_run_that_has_done_nothing_is_a_page_too),
		cmocka_unit_test(elements_are_balanced),
		cmocka_unit_test(wide_boxes_can_be_reached_by_keyboard),
		cmocka_unit_test(attempts_are_told_apart),
		cmocka_unit_test(the_axis_has_round_times),
		cmocka_unit_test(many_commands_are_folded),
		cmocka_unit_test(nothing_breaks_out_of_its_place),
		cmocka_unit_test(output_is_shown_without_what_is_for_a_terminal),
		cmocka_unit_test(bytes_that_are_no_text_are_numbers),
		cmocka_unit_test(long_lists_end),
		cmocka_unit_test(what_was_left_out_of_an_output_is_told),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
