#include "lab.h"

/* Slots: who gets one, who waits, and that one is enough. */

static void no_more_run_than_there_are_slots(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'repeat':5,'template':'c{index}'}",
		&(struct run_options){ .jobs = 2 });
	lab_assert_told(&l, "+c0 +c1");
	lab_end(&l, "c1", 0);
	lab_assert_told(&l, "+c2");
	lab_end(&l, "c0", 0);
	lab_end(&l, "c2", 0);
	lab_assert_told(&l, "+c3 +c4");
	lab_end(&l, "c3", 0);
	lab_end(&l, "c4", 0);
	lab_finish(&l, RUN_DONE);
}

static void one_slot_is_enough_for_deep_nesting(void **state UNUSED)
{
	AUTO_BUF text = BUF_INIT;
	struct lab l;
	int depth = 100, started = 0;

	for (int i = 0; i < depth; i++)
		buf_adds(&text, "{'parallel':true,'template':['a',");
	buf_adds(&text, "'a'");
	for (int i = 0; i < depth; i++)
		buf_adds(&text, "]}");
	lab_init(&l);
	lab_run(&l, buf_cstr(&text), &(struct run_options){ .jobs = 1 });
	while (!l.ended) {
		lab_assert_told(&l, "+a");
		started++;
		lab_end(&l, "a", 0);
	}
	assert_int_equal(started, depth + 1);
	lab_finish(&l, RUN_DONE);
}

/* What has begun is finished before more is begun. */
static void the_innermost_group_is_filled_first(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':[{'parallel':true,'template':['a','b','c']},'z']}",
		&(struct run_options){ .jobs = 1 });
	lab_assert_told(&l, "+a");
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+b");
	lab_end(&l, "b", 0);
	lab_assert_told(&l, "+c");
	lab_end(&l, "c", 0);
	lab_assert_told(&l, "+z");
	lab_end(&l, "z", 0);
	lab_finish(&l, RUN_DONE);
}

/* A command that can start comes before a new child of a group. */
static void what_waits_for_a_slot_comes_before_new_children(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'template':[['a','b'],['c','d'],['e','f']]}",
		&(struct run_options){ .jobs = 2 });
	lab_assert_told(&l, "+a +c");
	lab_end(&l, "a", 0);
	lab_assert_told(&l, "+b");
	lab_end(&l, "c", 0);
	lab_assert_told(&l, "+d");
	lab_end(&l, "b", 0);
	lab_assert_told(&l, "+e");
	lab_end(&l, "d", 0);
	lab_end(&l, "e", 0);
	lab_end(&l, "f", 0);
	lab_finish(&l, RUN_DONE);
}

static void count_start(void *data, const struct event *e)
{
	uint64_t *entered = data;

	*entered += e->kind == EVENT_COMMAND_START || e->kind == EVENT_NODE_START;
}

/* Copies are made late: with a hundred thousand of them, as many exist as slots. */
static void copies_are_made_when_a_slot_is_free(void **state UNUSED)
{
	uint64_t entered = 0;
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'parallel':true,'repeat':100000,'template':'a'}",
		&(struct run_options){ .jobs = 3, .listen = count_start, .listen_data = &entered });
	assert_int_equal(entered, 1 + 3);
	run_cancel(l.run, 0);
	lab_turn(&l);
	for (int i = 0; i < 3; i++)
		lab_end(&l, "a", 1);
	lab_finish(&l, RUN_CANCELLED);
}

/* What needs no slot does not use the stack, however much of it there is. */
static void skipped_nodes_do_not_nest(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "{'repeat':100000,'template':[{'when':'false','template':'a'}]}", NULL);
	while (!l.ended)
		assert_true(loop_turn(l.loop, 0) >= 0);
	lab_assert_told(&l, "");
	lab_finish(&l, RUN_DONE);
}

static void a_run_can_be_held(void **state UNUSED)
{
	struct lab l;

	lab_init(&l);
	lab_run(&l, "'a'", NULL);
	run_pause(l.run, true);
	run_pause(l.run, false);
	lab_assert_told(&l, "+a held continued");
	lab_end(&l, "a", 0);
	lab_finish(&l, RUN_DONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_more_run_than_there_are_slots),
		cmocka_unit_test(one_slot_is_enough_for_deep_nesting),
		cmocka_unit_test(the_innermost_group_is_filled_first),
		cmocka_unit_test(what_waits_for_a_slot_comes_before_new_children),
		cmocka_unit_test(copies_are_made_when_a_slot_is_free),
		cmocka_unit_test(skipped_nodes_do_not_nest),
		cmocka_unit_test(a_run_can_be_held),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("schedule", tests, NULL, NULL);
}
