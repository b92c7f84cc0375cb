#include "engine/join.h"

#include "graph/graph.h"

#include "unit.h"

static struct content *text(struct str s)
{
	struct buf b = BUF_INIT;

	buf_add(&b, s);
	return content_from_buf(&b);
}

static struct graph *graph_of(const char *json)
{
	AUTO_REPORT r = REPORT_INIT;
	struct graph *g = graph_read(S("t"), str_of(json), DIALECT_NOW, &r);

	assert_non_null(g);
	return g;
}

static void set(struct join *j, size_t i, enum branch_status status, int code, struct str body)
{
	struct branch *b = join_branch(j, i);

	b->status = (uint8_t)status;
	b->code = code;
	b->body = text(body);
	b->stdout_bytes = body.len;
}

/* Takes the join. */
static void assert_text(struct join *j, struct str want)
{
	AUTO_BUF got = BUF_INIT;
	struct content *c = join_content(j);

	assert_int_equal(content_size(c), want.len);
	assert_int_equal(content_put(&(struct content_out){ -1, &got }, c), 0);
	assert_bytes(buf_str(&got), want);
	content_unref(c);
	join_unref(j);
}

static void the_bytes_are_exactly_those_of_the_standard(void **state UNUSED)
{
	struct graph *g =
		graph_of("{\"parallel\":true,\"template\":[\"a\",{\"label\":\"second one\","
			 "\"template\":\"b\"},\"c\",\"d\",\"e\"]}");
	struct join *j = join_new(g->root, S("."));

	set(j, 0, BRANCH_DONE, 0, S("one\n"));
	set(j, 1, BRANCH_FAILED, 3, S("went wrong\n"));
	set(j, 2, BRANCH_TIMEOUT, 1, S(""));
	set(j, 3, BRANCH_DONE, 0, S("\0\xff no newline"));
	set(j, 4, BRANCH_DONE, 0, S(""));
	assert_text(
		j, S("--- branch: branch 1 status: done ---\none\n\n"
		     "--- branch: second one status: failed ---\nexit: 3\nstderr: went wrong\n\n"
		     "--- branch: branch 3 status: timeout ---\nexit: 1\n"
		     "--- branch: branch 4 status: done ---\n\0\xff no newline\n"
		     "--- branch: branch 5 status: done ---\n"));
	graph_unref(g);
}

static void branches_may_come_in_any_order(void **state UNUSED)
{
	struct graph *g = graph_of("{\"parallel\":true,\"template\":[\"a\",\"b\"]}");
	struct join *j = join_new(g->root, S("1.2"));

	set(j, 1, BRANCH_DONE, 0, S("b"));
	set(j, 0, BRANCH_DONE, 0, S("a"));
	assert_str(j->path, "1.2");
	assert_text(j, S("--- branch: branch 1 status: done ---\na\n"
			 "--- branch: branch 2 status: done ---\nb"));
	graph_unref(g);
}

static void copies_share_the_label_of_their_body(void **state UNUSED)
{
	struct graph *g =
		graph_of("{\"parallel\":true,\"repeat\":2,\"label\":\"l\",\"template\":\"a\"}");
	struct join *j = join_new(g->root, S("."));
	AUTO_BUF b = BUF_INIT;

	join_label(j, 0, &b);
	join_label(j, 1, &b);
	assert_str(buf_str(&b), "ll");
	join_unref(j);
	graph_unref(g);
}

static void labels_outlive_the_graph(void **state UNUSED)
{
	struct graph *g = graph_of(
		"{\"parallel\":true,\"template\":[{\"label\":\"one\",\"template\":\"a\"},\"b\"]}");
	struct join_list list = { 0 };
	AUTO_BUF b = BUF_INIT;

	join_list_add(&list, join_new(g->root, S(".")));
	struct join *j = list.at[0];
	(void)join_branch(j, 1);
	join_list_outlive(&list);
	graph_unref(g);
	join_label(j, 0, &b);
	buf_addc(&b, ' ');
	join_label(j, 1, &b);
	assert_str(buf_str(&b), "one branch 2");
	join_list_done(&list);
}

static void of_standard_error_a_thousand_characters_are_shown(void **state UNUSED)
{
	struct graph *g = graph_of("{\"parallel\":true,\"template\":[\"a\"]}");
	struct join *j = join_new(g->root, S("."));
	AUTO_BUF err = BUF_INIT;
	AUTO_BUF want = BUF_INIT;

	buf_adds(&want, "--- branch: branch 1 status: failed ---\nexit: 1\nstderr: ");
	for (int i = 0; i < 1200; i++) {
		buf_adds(&err, "\xe2\x82\xac");
		if (i < 1000)
			buf_adds(&want, "\xe2\x82\xac");
	}
	set(j, 0, BRANCH_FAILED, 1, buf_str(&err));
	assert_text(j, buf_str(&want));
	graph_unref(g);
}

static void large_and_many_branches_are_joined_alike(void **state UNUSED)
{
	struct graph *g = graph_of("{\"parallel\":true,\"repeat\":500,\"template\":\"a\"}");
	struct join *j = join_new(g->root, S("."));
	AUTO_BUF want = BUF_INIT;

	for (size_t i = 0; i < 500; i++) {
		AUTO_BUF body = BUF_INIT;

		buf_fill(&body, (char)('a' + i % 26), i % 7 == 0 ? 5000 : i);
		set(j, i, BRANCH_DONE, 0, buf_str(&body));
		buf_printf(
			&want, "%s--- branch: branch %zu status: done ---\n", i ? "\n" : "", i + 1);
		buf_add(&want, buf_str(&body));
	}
	assert_text(j, buf_str(&want));
	graph_unref(g);
}

static void reports_outlive_the_text(void **state UNUSED)
{
	struct graph *g = graph_of("{\"parallel\":true,\"template\":[\"a\"]}");
	struct join_list list = { 0 }, more = { 0 };
	struct join *j = join_new(g->root, S("."));

	set(j, 0, BRANCH_DONE, 0, S("text"));
	content_unref(join_content(j));
	join_list_add(&more, j);
	join_list_move(&list, &more);
	join_list_add(&more, join_new(g->root, S("0")));
	join_list_move(&list, &more);
	assert_int_equal(list.len, 2);
	assert_int_equal(more.len, 0);
	assert_int_equal(list.at[0]->branches.at[0].stdout_bytes, 4);
	assert_string_equal(branch_status_name(list.at[0]->branches.at[0].status), "done");
	join_list_done(&list);
	join_list_done(&more);
	graph_unref(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_bytes_are_exactly_those_of_the_standard),
		cmocka_unit_test(branches_may_come_in_any_order),
		cmocka_unit_test(copies_share_the_label_of_their_body),
		cmocka_unit_test(labels_outlive_the_graph),
		cmocka_unit_test(of_standard_error_a_thousand_characters_are_shown),
		cmocka_unit_test(large_and_many_branches_are_joined_alike),
		cmocka_unit_test(reports_outlive_the_text),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("join", tests, NULL, NULL);
}
