#include "base/shell-words.h"
#include "graph/graph.h"

#include "unit.h"

static struct graph *reads(const char *text, enum dialect d)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF shown = BUF_INIT;
	struct graph *g = graph_read(S("t.json"), str_of(text), d, &r);

	report_text(&r, REPORT_ALL, &shown);
	if (!g)
		fail_msg("%s: %s", text, buf_cstr(&shown));
	assert_int_equal(r.errors, 0);
	return g;
}

static void a_text_is_one_command(void **state UNUSED)
{
	static const char *const texts[] = { "echo a b", "\"echo a b\"", "  \"echo a b\"\n",
		"{\"template\":\"echo a b\"}", "\xef\xbb\xbf\"echo a b\"" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct graph *g = reads(texts[i], DIALECT_NOW);

		assert_int_equal(g->root->kind, NODE_COMMAND);
		assert_int_equal(g->root->word_count, 3);
		assert_null(g->root->parent);
		assert_true(g->root->runs);
		assert_int_equal(g->root->retry.value, 1);
		graph_unref(g);
	}
}

static void arrays_are_sequences_and_may_nest(void **state UNUSED)
{
	struct graph *g = reads("[\"a\",[\"b\",\"c\"],{\"template\":[\"d\"]}]", DIALECT_NOW);

	assert_int_equal(g->root->kind, NODE_SEQUENCE);
	assert_int_equal(g->root->child_count, 3);
	assert_int_equal(g->root->children[1]->kind, NODE_SEQUENCE);
	assert_int_equal(g->root->children[1]->child_count, 2);
	assert_false(g->root->wrapper);
	assert_ptr_equal(g->root->children[1]->parent, g->root);
	graph_unref(g);
}

static void parallel_arrays_run_at_once(void **state UNUSED)
{
	struct graph *g = reads("{\"parallel\":true,\"template\":[\"a\",\"b\"]}", DIALECT_NOW);

	assert_int_equal(g->root->kind, NODE_PARALLEL);
	assert_true(node_joins(g->root));
	graph_unref(g);
	g = reads("{\"parallel\":true,\"template\":\"a\"}", DIALECT_NOW);
	assert_int_equal(g->root->kind, NODE_COMMAND);
	assert_true(g->warnings.warnings > 0);
	graph_unref(g);
}

static void an_object_around_an_object_is_a_wrapper(void **state UNUSED)
{
	struct graph *g = reads(
		"{\"retry\":3,\"template\":{\"label\":\"in\",\"template\":\"a\"}}", DIALECT_NOW);

	assert_true(g->root->wrapper);
	assert_int_equal(g->root->retry.value, 3);
	assert_int_equal(g->root->child_count, 1);
	assert_str(g->root->children[0]->label, "in");
	assert_int_equal(g->root->children[0]->retry.value, 1);
	graph_unref(g);
}

static void repeats_wrap_a_body_that_keeps_the_flags(void **state UNUSED)
{
	struct graph *g = reads(
		"{\"repeat\":4,\"retry\":2,\"parallel\":true,\"template\":\"a\"}", DIALECT_NOW);

	assert_int_equal(g->root->kind, NODE_EACH);
	assert_true(node_joins(g->root));
	assert_int_equal(g->root->count.number, 4);
	assert_int_equal(g->root->retry.value, 1);
	assert_int_equal(g->root->children[0]->retry.value, 2);
	graph_unref(g);
	g = reads("{\"repeat\":\"{xs.length}\",\"template\":\"a\"}", DIALECT_NOW);
	assert_str(g->root->count.array, "xs");
	graph_unref(g);
}

static void every_flag_is_read(void **state UNUSED)
{
	struct graph *g = reads("{\"label\":\"l\",\"when\":\"f\",\"args\":[\"n:int=5\",\"p\"],"
				"\"defaults\":{\"d\":1},\"timeout\":\"{n}\",\"delay\":1.5,"
				"\"output\":\"n\",\"retry\":\"2\",\"failure\":\"branch\","
				"\"recover\":[\"fix\"],\"template\":\"a\"}",
		DIALECT_NOW);
	const struct node *n = g->root;

	assert_str(n->label, "l");
	assert_non_null(n->when);
	assert_int_equal(g->arguments.len, 2);
	assert_int_equal(n->args->count, 1);
	assert_int_equal(n->defaults->count, 1);
	assert_non_null(n->timeout_ms.text);
	assert_int_equal(n->delay_ms.value, 2);
	assert_int_equal(n->retry.value, 2);
	assert_int_equal(n->failure, FAILURE_BRANCH);
	assert_true(n->failure_stated);
	assert_non_null(n->recover);
	assert_int_equal(n->recover->failure, FAILURE_ROOT);
	assert_str(g->output_raw, "n");
	graph_unref(g);
}

static void null_counts_as_absent(void **state UNUSED)
{
	struct graph *g = reads(
		"{\"label\":null,\"when\":null,\"args\":null,\"defaults\":null,\"timeout\":null,"
		"\"delay\":null,\"output\":null,\"retry\":null,\"failure\":null,\"recover\":null,"
		"\"repeat\":null,\"parallel\":null,\"template\":\"a\"}",
		DIALECT_NOW);

	assert_int_equal(g->root->kind, NODE_COMMAND);
	assert_int_equal(g->warnings.warnings, 0);
	graph_unref(g);
}

static void unknown_fields_are_ignored_and_slips_warned_about(void **state UNUSED)
{
	struct graph *g = reads("{\"name\":\"host's own\",\"template\":\"a\"}", DIALECT_NOW);

	assert_int_equal(g->warnings.warnings, 0);
	graph_unref(g);
	g = reads("{\"retyr\":3,\"template\":\"a\"}", DIALECT_NOW);
	assert_int_equal(g->warnings.warnings, 1);
	assert_str(g->warnings.issues.at[0].hint, "did you mean 'retry'?");
	graph_unref(g);
}

static void a_command_that_looks_a_little_like_json_is_a_command(void **state UNUSED)
{
	struct graph *g = reads("{program=echo} x", DIALECT_NOW);

	assert_int_equal(g->root->word_count, 2);
	graph_unref(g);
	g = reads("[ -f x ]", DIALECT_NOW);
	assert_int_equal(g->root->word_count, 4);
	graph_unref(g);
}

static void every_mistake_is_found_at_its_place(void **state UNUSED)
{
	static const struct {
		const char *text, *message; /* a part of it */
		size_t column;
	} bad[] = {
		{ "", "empty", 1 },
		{ "  \n ", "empty", 1 },
		{ "\"\"", "empty", 1 },
		{ "\" \"", "empty", 1 },
		{ "\"'' x\"", "empty", 1 },
		{ "[]", "empty", 1 },
		{ "{\"template\":[]}", "empty", 13 },
		{ "{\"parallel\":true,\"template\":[]}", "empty", 29 },
		{ "{\"label\":\"x\"}", "template", 1 },
		{ "{\"template\":null}", "template", 13 },
		{ "{\"template\":5}", "template", 13 },
		{ "{\"template\":true}", "template", 13 },
		{ "[\"a\",5]", "a number", 6 },
		{ "[\"a\",null]", "null", 6 },
		{ "[[\"a\",{\"template\":\"\"}]]", "empty", 19 },
		{ "{\"label\":5,\"template\":\"a\"}", "label", 10 },
		{ "{\"label\":\"x\\ny\",\"template\":\"a\"}", "label", 12 },
		{ "{\"parallel\":\"yes\",\"template\":\"a\"}", "parallel", 13 },
		{ "{\"when\":5,\"template\":\"a\"}", "when", 9 },
		{ "{\"when\":\"a b\",\"template\":\"a\"}", "when", 9 },
		{ "{\"when\":\"!{a}\",\"template\":\"a\"}", "when", 9 },
		{ "{\"args\":\"x\",\"template\":\"a\"}", "args", 9 },
		{ "{\"args\":[\"x\",5],\"template\":\"a\"}", "declares no argument", 14 },
		{ "{\"args\":[\"1x\"],\"template\":\"a\"}", "declares no argument", 10 },
		{ "{\"defaults\":[],\"template\":\"a\"}", "defaults", 13 },
		{ "{\"timeout\":-1,\"template\":\"a\"}", "timeout", 12 },
		{ "{\"timeout\":\"1e3\",\"template\":\"a\"}", "timeout", 12 },
		{ "{\"timeout\":true,\"template\":\"a\"}", "timeout", 12 },
		{ "{\"delay\":\"soon\",\"template\":\"a\"}", "delay", 10 },
		{ "{\"delay\":[],\"template\":\"a\"}", "delay", 10 },
		{ "{\"output\":5,\"template\":\"a\"}", "output", 11 },
		{ "{\"output\":\"{x y}\",\"template\":\"a\"}", "not a placeholder", 12 },
		{ "{\"retry\":0,\"template\":\"a\"}", "retry", 10 },
		{ "{\"retry\":1.5,\"template\":\"a\"}", "retry", 10 },
		{ "{\"retry\":\"0\",\"template\":\"a\"}", "retry", 10 },
		{ "{\"retry\":\"{a b}\",\"template\":\"a\"}", "not a placeholder", 11 },
		{ "{\"failure\":\"stop\",\"template\":\"a\"}", "failure", 12 },
		{ "{\"failure\":true,\"template\":\"a\"}", "failure", 12 },
		{ "{\"recover\":5,\"template\":\"a\"}", "recover", 12 },
		{ "{\"recover\":[\"\"],\"template\":\"a\"}", "empty", 13 },
		{ "{\"repeat\":0,\"template\":\"a\"}", "repeat", 11 },
		{ "{\"repeat\":2.5,\"template\":\"a\"}", "repeat", 11 },
		{ "{\"repeat\":\"{n}\",\"template\":\"a\"}", "repeat", 11 },
		{ "{\"repeat\":true,\"template\":\"a\"}", "repeat", 11 },
		{ "{\"mode\":\"parallel\",\"template\":[\"a\"]}", "retired", 2 },
		{ "{\"critical\":true,\"template\":\"a\"}", "retired", 2 },
		{ "{\"pipe\":[\"a\"]}", "retired", 2 },
		{ "\"echo '{print $1}'\"", "not a placeholder", 8 },
		{ "echo '{print $1}x'", "not a placeholder", 7 },
		{ "\"echo \\\"\\u00e9 {f?x}\\\"\"", "condition", 16 },
		{ "[\"a\",", "JSON", 6 },
		{ "{\"template\": nope}", "JSON", 14 },
		{ "echo \xff", "UTF-8", 6 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		AUTO_REPORT r = REPORT_INIT;
		AUTO_BUF shown = BUF_INIT;

		struct graph *g = graph_read(S("t.json"), str_of(bad[i].text), DIALECT_NOW, &r);
		if (g)
			fail_msg("%s was taken", bad[i].text);
		assert_true(r.errors > 0);
		report_sort(&r);
		report_text(&r, REPORT_ALL, &shown);
		const struct issue *found = &r.issues.at[0];
		if (!str_contains(found->message, str_of(bad[i].message)) ||
			found->column != bad[i].column)
			fail_msg("%s: want '%s' in column %zu, got\n%s", bad[i].text,
				bad[i].message, bad[i].column, buf_cstr(&shown));
	}
}

static void warnings_are_handed_over_with_the_mistakes(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(graph_read(S("t"),
		S("{\"when\":\"true\",\"retries\":2,"
		  "\"template\":[\"sh -c {x}\",{\"failure\":\"x\",\"template\":\"a\"}]}"),
		DIALECT_NOW, &r));
	assert_int_equal(r.errors, 1);
	assert_int_equal(r.warnings, 3);
}

static void all_mistakes_are_told_in_one_go(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(graph_read(S("t"),
		S("[{\"retry\":0,\"delay\":-1,\"template\":\"{a b}\"},5,\"\",{\"mode\":1,"
		  "\"template\":\"x\"}]"),
		DIALECT_NOW, &r));
	assert_true(r.errors >= 5);
}

static void the_old_dialect_is_mapped(void **state UNUSED)
{
	struct graph *g = reads("{\"mode\":\"parallel\",\"pipe\":[{\"critical\":true,"
				"\"template\":\"a {b=}\"},\"c\"]}",
		DIALECT_0_9);
	const struct node *first = g->root->children[0];

	assert_int_equal(g->root->kind, NODE_PARALLEL);
	assert_int_equal(first->failure, FAILURE_ROOT);
	assert_int_equal(first->timeout_ms.value, 30000);
	assert_true(first->keep_empty);
	assert_int_equal(g->root->children[1]->timeout_ms.value, 30000);
	graph_unref(g);
	g = reads("{\"timeout\":0,\"template\":\"a\"}", DIALECT_0_9);
	assert_int_equal(g->root->timeout_ms.value, 0);
	graph_unref(g);
	/* An array template wins over pipe, pipe over a text. */
	g = reads("{\"pipe\":[\"a\",\"b\"],\"template\":[\"c\"]}", DIALECT_0_9);
	assert_int_equal(g->root->child_count, 1);
	graph_unref(g);
	g = reads("{\"pipe\":[\"a\",\"b\"],\"template\":\"c\"}", DIALECT_0_9);
	assert_int_equal(g->root->child_count, 2);
	graph_unref(g);
	AUTO_REPORT r = REPORT_INIT;
	assert_null(graph_read(S("t"), S("\"echo {a??b}\""), DIALECT_0_9, &r));
	assert_null(
		graph_read(S("t"), S("{\"timeout\":\"5\",\"template\":\"a\"}"), DIALECT_0_9, &r));
	assert_int_equal(r.errors, 2);
}

static void commands_are_quoted_as_a_shell_needs(void **state UNUSED)
{
	static const char *const argv[] = { "echo", "a b", "--x=1", "it's", "", NULL };
	AUTO_BUF b = BUF_INIT;

	command_display(&b, argv, 5);
	assert_str(buf_str(&b), "echo 'a b' --x=1 'it'\\''s' ''");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_is_one_command),
		cmocka_unit_test(arrays_are_sequences_and_may_nest),
		cmocka_unit_test(parallel_arrays_run_at_once),
		cmocka_unit_test(an_object_around_an_object_is_a_wrapper),
		cmocka_unit_test(repeats_wrap_a_body_that_keeps_the_flags),
		cmocka_unit_test(every_flag_is_read),
		cmocka_unit_test(null_counts_as_absent),
		cmocka_unit_test(unknown_fields_are_ignored_and_slips_warned_about),
		cmocka_unit_test(a_command_that_looks_a_little_like_json_is_a_command),
		cmocka_unit_test(every_mistake_is_found_at_its_place),
		cmocka_unit_test(warnings_are_handed_over_with_the_mistakes),
		cmocka_unit_test(all_mistakes_are_told_in_one_go),
		cmocka_unit_test(the_old_dialect_is_mapped),
		cmocka_unit_test(commands_are_quoted_as_a_shell_needs),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("read", tests, NULL, NULL);
}
