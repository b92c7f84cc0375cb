#include "render/web/run-timeline.h"

#include "unit.h"

enum { HOUR = 3600000 };

/* Two bursts of milliseconds, an hour apart. */
static const struct node_span bursts[] = {
	{ .start_ms = 0, .ms = 40, .state = STATE_DONE },
	{ .start_ms = 50, .ms = 30, .state = STATE_DONE },
	{ .start_ms = HOUR, .ms = 60, .state = STATE_FAILED, .code = 1 },
};

static void idle_time_is_folded(void **state UNUSED)
{
	struct timeline t = { .spans = bursts,
		.span_count = 3,
		.total_ms = HOUR + 60,
		.pauses = &(struct timeline_pause){ 100, HOUR - 5, "waiting for approval" },
		.pause_count = 1 };
	struct timeline_piece p[TIMELINE_PIECES];
	size_t count = timeline_scale(&t, p);

	assert_int_equal(count, 3);
	assert_true(!p[0].folded && p[1].folded && !p[2].folded);
	assert_str(str_of(p[1].why), "waiting for approval");
	/* The bars can be told apart. */
	assert_true(timeline_x(p, count, 50) - timeline_x(p, count, 0) > 100);
	assert_true(timeline_x(p, count, HOUR + 60) > 999);
	/* Order is kept. */
	assert_true(timeline_x(p, count, 80) <= p[1].x + 1);
	assert_true(timeline_x(p, count, HOUR) >= p[2].x);
}

static void real_time_folds_nothing(void **state UNUSED)
{
	struct timeline t = {
		.spans = bursts, .span_count = 3, .total_ms = HOUR + 60, .real = true
	};
	struct timeline_piece p[TIMELINE_PIECES];

	assert_int_equal(timeline_scale(&t, p), 1);
}

static void a_part_can_be_shown(void **state UNUSED)
{
	struct timeline t = { .spans = bursts,
		.span_count = 3,
		.total_ms = HOUR + 60,
		.from_ms = HOUR,
		.to_ms = HOUR + 30 };
	struct timeline_piece p[TIMELINE_PIECES];

	assert_int_equal(timeline_scale(&t, p), 1);
	assert_int_equal(p[0].start_ms, HOUR);
	assert_int_equal(p[0].end_ms, HOUR + 30);
}

static void nothing_is_a_timeline_too(void **state UNUSED)
{
	struct timeline t = { 0 };
	struct timeline_piece p[TIMELINE_PIECES];
	AUTO_BUF b = BUF_INIT;

	assert_int_equal(timeline_scale(&t, p), 1);
	timeline_html(&b, &t);
	assert_true(str_contains(buf_str(&b), S("class=\"timeline\"")));
}

static void many_spans_are_few_elements(void **state UNUSED)
{
	static struct node_span many[10000];
	struct timeline t = { .spans = many, .span_count = 10000, .total_ms = 100000 };
	AUTO_BUF b = BUF_INIT;
	size_t tags = 0;

	for (size_t i = 0; i < 10000; i++)
		many[i] = (struct node_span){ .start_ms = i * 10, .ms = 25, .state = STATE_DONE };
	timeline_html(&b, &t);
	for (size_t i = 0; i < b.len; i++)
		tags += b.p[i] == '<';
	assert_true(tags < 100);
	assert_true(b.len < 140000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle_time_is_folded),
		cmocka_unit_test(real_time_folds_nothing),
		cmocka_unit_test(a_part_can_be_shown),
		cmocka_unit_test(nothing_is_a_timeline_too),
		cmocka_unit_test(many_spans_are_few_elements),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
