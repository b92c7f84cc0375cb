#include <errno.h>

#include "base/clock.h"
#include "graph/graph.h"
#include "graph/step.h"

#include "lab.h"

/* Loops of step recipes, with a dialect that is as small as can be: the command of a step is its
 * line and the value of its variable, a condition is true while `left` is not 0. */

struct recipe {
	struct lab lab;
	struct step_node loop, body;
	struct node each, child;
	const struct node *children[1];
	struct step_graph steps;
	struct step_host host;
	struct plan *plan;
	json_t *vars;
	int64_t left;
};

static struct recipe *now; /* the operations get no data of their own */

static enum step_made make(const struct node *n, const struct scope *s,
	const struct step_call *call UNUSED, const struct step_host *host UNUSED,
	struct step_command *ret, struct arena *a, struct report *r UNUSED)
{
	const char *item = json_string_value(json_object_get(scope_vars(s), "item"));
	const char **argv = arena_array(a, const char *, 2);

	argv[0] = arena_printf(a, "%.*s%s", STR(n->line), item ? item : "").p;
	argv[1] = NULL;
	ret->argv = argv;
	ret->argc = 1;
	return STEP_MADE;
}

static json_t *result(const struct node *n UNUSED, struct str printed,
	const struct step_host *host UNUSED, struct report *r UNUSED)
{
	return json_from_str(printed);
}

static json_t *list(const struct node *n UNUSED, const struct scope *s, struct report *r UNUSED)
{
	return json_incref(json_object_get(scope_vars(s), "items"));
}

static bool decide(const struct text *t UNUSED, const struct scope *s UNUSED, bool *ret,
	bool *mistake UNUSED, struct report *r UNUSED)
{
	*ret = now->left-- > 0;
	return true;
}

static void text(struct buf *b, const json_t *value)
{
	json_write(b, value, 0);
}

static const struct step_ops ops = {
	.make = make, .result = result, .list = list, .decide = decide, .text = text
};

static void recipe_init(struct recipe *r, enum node_kind kind, const char *items)
{
	*r = (struct recipe){ 0 };
	lab_init(&r->lab);
	now = r;
	r->loop = (struct step_node){ .ops = &ops,
		.id = S("loop"),
		.listed = true,
		.loop.as = S("item"),
		.loop.collect = S("all"),
		.loop.max_rounds = 100,
		.loop.width = 2,
		.loop.checkpoints = true };
	r->body = (struct step_node){
		.ops = &ops, .id = S("loop"), .keeps_output = true, .max_output = 4096
	};
	r->child = (struct node){ .kind = NODE_COMMAND,
		.runs = true,
		.line = S("do-"),
		.step = &r->body,
		.failure = FAILURE_ROOT,
		.retry.value = 1 };
	r->children[0] = &r->child;
	r->each = (struct node){ .kind = kind,
		.runs = true,
		.children = r->children,
		.child_count = 1,
		.step = &r->loop,
		.failure = FAILURE_ROOT,
		.retry.value = 1 };
	r->steps = (struct step_graph){ .ops = &ops, .max_depth = 5, .max_agents = 100 };
	r->host.max_parallel = 16;
	r->vars = json_pack("{s:o}", "items", json_loads(items, 0, NULL));
}

static void recipe_run(struct recipe *r)
{
	struct plan *p = lab_plan("'x'");
	struct executor *e = &r->lab.executor;

	p->graph->root = &r->each;
	p->graph->steps = &r->steps;
	r->lab.run = run_start(r->lab.loop, p,
		&(struct run_options){ .jobs = 8,
			.executors = &e,
			.executor_count = 1,
			.stdin_fd = -1,
			.steps = &r->host,
			.vars = r->vars,
			.ended = lab_on_ended,
			.ended_data = &r->lab });
	lab_turn(&r->lab);
	r->plan = p;
}

static void recipe_finish(struct recipe *r, enum run_status status, const char *all)
{
	AUTO_BUF b = BUF_INIT;
	json_t *value = json_object_get(r->vars, "all");

	if (value)
		json_write(&b, value, 0);
	assert_str(buf_str(&b), all);
	assert_null(json_object_get(r->vars, "item"));
	r->plan->graph->steps = NULL; /* it is not the graph's to free */
	lab_finish(&r->lab, status);
	plan_unref(r->plan);
	json_decref(r->vars);
}

static void rounds_run_in_order_and_are_collected(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_EACH, "[\"a\",\"b\"]");
	recipe_run(&r);
	lab_assert_told(&r.lab, "+do-a");
	lab_print(&r.lab, "do-a", "1");
	lab_assert_told(&r.lab, "+do-b");
	lab_print(&r.lab, "do-b", "2");
	recipe_finish(&r, RUN_DONE, "[\"1\",\"2\"]");
}

static void an_empty_list_has_no_round(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_EACH, "[]");
	recipe_run(&r);
	lab_assert_told(&r.lab, "");
	recipe_finish(&r, RUN_DONE, "[]");
}

static void a_failed_round_ends_the_loop(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_EACH, "[\"a\",\"b\"]");
	recipe_run(&r);
	lab_end(&r.lab, "do-a", 3);
	lab_assert_told(&r.lab, "+do-a");
	assert_int_equal(run_result(r.lab.run)->code, 3);
	recipe_finish(&r, RUN_FAILED, "");
}

static void a_loop_may_continue_after_failures(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_EACH, "[\"a\",\"b\"]");
	r.loop.on_error = STEP_FAILURE_CONTINUE;
	recipe_run(&r);
	lab_end_as(&r.lab, "do-a", (struct job_end){ .code = 3 }, "half", "");
	lab_print(&r.lab, "do-b", "2");
	recipe_finish(&r, RUN_DONE, "[\"half\",\"2\"]");
}

static void parallel_rounds_keep_to_their_width(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_EACH, "[\"a\",\"b\",\"c\"]");
	r.each.each_parallel = true;
	recipe_run(&r);
	lab_assert_told(&r.lab, "+do-a +do-b");
	lab_print(&r.lab, "do-b", "2");
	lab_assert_told(&r.lab, "+do-c");
	lab_print(&r.lab, "do-c", "3");
	lab_print(&r.lab, "do-a", "1");
	recipe_finish(&r, RUN_DONE, "[\"1\",\"2\",\"3\"]");
}

static void a_while_loop_ends_with_its_condition(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_WHILE, "[]");
	r.left = 2;
	recipe_run(&r);
	lab_print(&r.lab, "do-", "1");
	lab_print(&r.lab, "do-", "2");
	lab_assert_told(&r.lab, "+do- +do-");
	assert_null(json_object_get(r.vars, "_loop_index"));
	recipe_finish(&r, RUN_DONE, "[\"1\",\"2\"]");
}

static void a_cancelled_loop_collects_nothing(void **state UNUSED)
{
	struct recipe r;

	recipe_init(&r, NODE_EACH, "[\"a\",\"b\"]");
	recipe_run(&r);
	run_cancel(r.lab.run, 0);
	lab_turn(&r.lab);
	lab_assert_told(&r.lab, "+do-a -do-a stop-all");
	lab_end(&r.lab, "do-a", 1);
	recipe_finish(&r, RUN_CANCELLED, "");
}

/* A parallel loop whose starts are spaced, with commands that begin when the test says so. */
static void spaced_init(struct recipe *r, const char *items)
{
	recipe_init(r, NODE_EACH, items);
	r->each.each_parallel = true;
	r->loop.loop.width = 8;
	r->loop.loop.delay_ms = 1;
	r->lab.late = true;
}

/* Long enough for every pause of the loop. */
static void let_pass(struct recipe *r)
{
	uint64_t start = loop_now(r->lab.loop);

	while (loop_now(r->lab.loop) < start + 5)
		assert_true(loop_turn(r->lab.loop, 1) >= 0);
}

static void wait_told(struct recipe *r, const char *what)
{
	while (!r->lab.told.len)
		assert_true(loop_turn(r->lab.loop, -1) >= 0);
	lab_assert_told(&r->lab, what);
}

static void a_spaced_round_waits_for_the_beginning_of_the_one_before(void **state UNUSED)
{
	struct recipe r;

	spaced_init(&r, "[\"a\",\"b\",\"c\"]");
	recipe_run(&r);
	lab_assert_told(&r.lab, "+do-a");
	let_pass(&r);
	lab_assert_told(&r.lab, "");
	r.loop.loop.delay_ms = 20;
	uint64_t began = clock_mono_ms();
	lab_began(&r.lab, "do-a");
	wait_told(&r, "+do-b");
	assert_true(clock_mono_ms() >= began + 20);
	/* Not that of the first, which has ended meanwhile. */
	lab_print(&r.lab, "do-a", "1");
	let_pass(&r);
	lab_assert_told(&r.lab, "");
	began = clock_mono_ms();
	lab_began(&r.lab, "do-b");
	wait_told(&r, "+do-c");
	assert_true(clock_mono_ms() >= began + 20);
	lab_began(&r.lab, "do-c");
	lab_print(&r.lab, "do-c", "3");
	lab_print(&r.lab, "do-b", "2");
	recipe_finish(&r, RUN_DONE, "[\"1\",\"2\",\"3\"]");
}

static void a_round_that_never_began_holds_up_none(void **state UNUSED)
{
	struct recipe r;

	spaced_init(&r, "[\"a\",\"b\",\"c\"]");
	r.loop.on_error = STEP_FAILURE_CONTINUE;
	recipe_run(&r);
	lab_assert_told(&r.lab, "+do-a");
	let_pass(&r);
	lab_assert_told(&r.lab, "");
	lab_end_as(&r.lab, "do-a", (struct job_end){ .start_error = ENOENT }, "", "");
	wait_told(&r, "+do-b");
	/* It goes back and is handed over once more: that is the one to wait for. */
	let_pass(&r);
	lab_end_as(&r.lab, "do-b", (struct job_end){ .again = true }, "", "");
	let_pass(&r);
	lab_assert_told(&r.lab, "+do-b");
	lab_began(&r.lab, "do-b");
	wait_told(&r, "+do-c");
	lab_print(&r.lab, "do-b", "2");
	lab_print(&r.lab, "do-c", "3");
	recipe_finish(&r, RUN_DONE, "[\"\",\"2\",\"3\"]");
}

/* What comes after it in the round is not its beginning. */
static void a_round_may_begin_with_a_pause(void **state UNUSED)
{
	struct recipe r;
	struct step_node pause = { .ops = &ops, .id = S("pause"), .wait_ms = 1 };
	struct step_node stage = { .ops = &ops, .id = S("loop") };
	struct node wait = { .kind = NODE_WAIT,
		.runs = true,
		.step = &pause,
		.failure = FAILURE_ROOT,
		.retry.value = 1 };
	struct node both = { .kind = NODE_SEQUENCE,
		.runs = true,
		.step = &stage,
		.failure = FAILURE_ROOT,
		.child_count = 2,
		.retry.value = 1 };

	spaced_init(&r, "[\"a\",\"b\"]");
	both.children = (const struct node *[]){ &wait, &r.child };
	r.children[0] = &both;
	r.loop.loop.delay_ms = 50;
	recipe_run(&r);
	wait_told(&r, "+do-a");
	wait_told(&r, "+do-b");
	lab_print(&r.lab, "do-a", "1");
	lab_print(&r.lab, "do-b", "2");
	recipe_finish(&r, RUN_DONE, "[\"1\",\"2\"]");
}

static void a_held_loop_can_be_cancelled(void **state UNUSED)
{
	struct recipe r;

	spaced_init(&r, "[\"a\",\"b\"]");
	recipe_run(&r);
	let_pass(&r);
	run_cancel(r.lab.run, 0);
	lab_turn(&r.lab);
	lab_assert_told(&r.lab, "+do-a -do-a stop-all");
	lab_end(&r.lab, "do-a", 1);
	recipe_finish(&r, RUN_CANCELLED, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_run_in_order_and_are_collected),
		cmocka_unit_test(an_empty_list_has_no_round),
		cmocka_unit_test(a_failed_round_ends_the_loop),
		cmocka_unit_test(a_loop_may_continue_after_failures),
		cmocka_unit_test(parallel_rounds_keep_to_their_width),
		cmocka_unit_test(a_while_loop_ends_with_its_condition),
		cmocka_unit_test(a_cancelled_loop_collects_nothing),
		cmocka_unit_test(a_spaced_round_waits_for_the_beginning_of_the_one_before),
		cmocka_unit_test(a_round_that_never_began_holds_up_none),
		cmocka_unit_test(a_round_may_begin_with_a_pause),
		cmocka_unit_test(a_held_loop_can_be_cancelled),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("rounds", tests, NULL, NULL);
}
