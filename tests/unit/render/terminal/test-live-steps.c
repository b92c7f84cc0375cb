/* The live tree of a step recipe. */
#include "graph/step.h"
#include "render/terminal/live-frame.h"

#include "unit.h"

static const struct step_node step = { 0 };
static const struct node root = { .kind = NODE_SEQUENCE, .step = &step };
static const struct node each = { .kind = NODE_EACH, .label = S("work"), .step = &step };
static const struct node work = { .label = S("work"), .step = &step };
static const struct node call = { .kind = NODE_CALL, .label = S("other"), .step = &step };
static const struct node rest = { .kind = NODE_WAIT, .label = S("rest"), .step = &step };

static void tell(struct live_tree *t, uint64_t ms, enum event_kind kind, const char *path,
	const struct node *n, struct event more)
{
	more.kind = kind;
	more.path = str_of(path);
	more.node = n;
	more.label = n ? n->label : S("");
	more.mono_ms = ms;
	live_tree_event(t, &more);
}

static void assert_frame(struct live_tree *t, uint64_t ms, const char *wanted)
{
	AUTO_BUF b = BUF_INIT;

	live_frame(t, (struct live_style){ .ascii = true }, 80, 24, ms, &b);
	assert_str(buf_str(&b), wanted);
}

static void loops_show_items_and_rate(void **state)
{
	struct live_tree t;

	(void)state;
	live_tree_init(&t);
	tell(&t, 0, EVENT_NODE_START, ".", &root, (struct event){ .count = 3 });
	tell(&t, 0, EVENT_NODE_START, "0", &each, (struct event){ .count = 200 });
	for (int i = 0; i < 37; i++) {
		AUTO_BUF path = BUF_INIT;

		buf_printf(&path, "0.r%d", i);
		tell(&t, 0, EVENT_COMMAND_START, buf_cstr(&path), &work, (struct event){ 0 });
		tell(&t, 0, EVENT_COMMAND_DONE, buf_cstr(&path), &work,
			(struct event){ .end.ok = true });
	}
	tell(&t, 1000, EVENT_COMMAND_START, "0.r37", &work, (struct event){ .attempt = 1 });
	assert_frame(&t, 2000,
		"- steps  0/3 done  0:02\n"
		"  - work  37/200 done, 18.5/s  0:02\n"
		"    * work #38  0:01\n"
		"| running 1, done 37 - 0:02");
	live_tree_done(&t);
}

static void pauses_are_counted_down(void **state)
{
	struct live_tree t;

	(void)state;
	live_tree_init(&t);
	tell(&t, 0, EVENT_NODE_START, ".", &root, (struct event){ .count = 2 });
	tell(&t, 0, EVENT_COMMAND_START, "0", &work, (struct event){ .attempt = 1 });
	tell(&t, 0, EVENT_COMMAND_DONE, "0", &work, (struct event){ .end.code = 1 });
	tell(&t, 0, EVENT_STEP_RETRY, "0", &work, (struct event){ .attempt = 2, .step.ms = 5000 });
	assert_frame(&t, 1500,
		"- steps  0/2 done  0:01\n"
		"  ~ work  again in 0:04  attempt 2\n"
		"\\ running 0, done 0 - 0:01");
	tell(&t, 5000, EVENT_NODE_RETRY, "0", &work, (struct event){ .attempt = 2 });
	tell(&t, 5000, EVENT_COMMAND_START, "0", &work, (struct event){ .attempt = 2 });
	tell(&t, 5000, EVENT_COMMAND_DONE, "0", &work, (struct event){ .end.ok = true });
	tell(&t, 6000, EVENT_WAIT_START, "1", &rest, (struct event){ .step.ms = 61000 });
	assert_frame(&t, 6000,
		"- steps  1/2 done  0:06\n"
		"  * rest  waits 1:01\n"
		"| running 0, done 1 - 0:06");
	tell(&t, 67000, EVENT_WAIT_COMPLETE, "1", &rest, (struct event){ 0 });
	assert_frame(&t, 67000,
		"- steps  2/2 done  1:07\n"
		"- running 0, done 1 - 1:07");
	live_tree_done(&t);
}

static void a_called_recipe_has_the_name_of_its_step(void **state)
{
	struct live_tree t;

	(void)state;
	live_tree_init(&t);
	tell(&t, 0, EVENT_NODE_START, ".", &root, (struct event){ .count = 1 });
	tell(&t, 0, EVENT_NODE_START, "0", &call, (struct event){ .count = 1 });
	tell(&t, 0, EVENT_NODE_START, "0.0", &root, (struct event){ .count = 4 });
	tell(&t, 0, EVENT_COMMAND_START, "0.0.0", &work, (struct event){ .attempt = 1 });
	assert_frame(&t, 0,
		"- steps  0/1 done  0:00\n"
		"  - other  0/4 done  0:00\n"
		"    * work  0:00\n"
		"| running 1, done 0 - 0:00");
	live_tree_done(&t);
}

static void a_round_that_waits_at_a_gate_has_not_failed(void **state)
{
	struct live_tree t;

	(void)state;
	live_tree_init(&t);
	tell(&t, 0, EVENT_NODE_START, ".", &root, (struct event){ .count = 1 });
	tell(&t, 0, EVENT_NODE_START, "0", &each, (struct event){ .count = 2 });
	tell(&t, 0, EVENT_NODE_START, "0.r0", &call, (struct event){ .count = 1 });
	tell(&t, 0, EVENT_RECIPE_APPROVAL, "0.r0.0", NULL,
		(struct event){ .step.answer = GATE_PENDING });
	tell(&t, 0, EVENT_NODE_DONE, "0.r0", &call,
		(struct event){ .end.outcome = NODE_END_CANCELLED });
	assert_frame(&t, 0,
		"- steps  0/1 done  0:00\n"
		"  - work  0/2 done  0:00\n"
		"| running 0, done 0 - 0:00");
	live_tree_done(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loops_show_items_and_rate),
		cmocka_unit_test(pauses_are_counted_down),
		cmocka_unit_test(a_called_recipe_has_the_name_of_its_step),
		cmocka_unit_test(a_round_that_waits_at_a_gate_has_not_failed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("live steps", tests, NULL, NULL);
}
