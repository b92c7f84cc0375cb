#include "render/web/run-tree.h"

#include "unit.h"

static void groups_are_nested_lists(void **state UNUSED)
{
	static const uint64_t counts[SHOWN_STATES] = { [STATE_DONE] = 1, [STATE_FAILED] = 1 };
	const struct tree_item items[] = {
		{ .view = { .path = S("."),
			  .kind = "sequence",
			  .group = true,
			  .counts = counts,
			  .state = STATE_FAILED,
			  .children = 2 },
			.open = true },
		{ .view = { .path = S("0"),
			  .kind = "command",
			  .text = S("echo <hi>"),
			  .state = STATE_DONE },
			.depth = 1 },
		{ .view = { .path = S("1"),
			  .kind = "parallel",
			  .group = true,
			  .at_once = true,
			  .state = STATE_FAILED,
			  .children = 1 },
			.depth = 1,
			.open = true },
		{ .view = { .path = S("1.0"),
			  .kind = "command",
			  .label = S("lint"),
			  .text = S("false"),
			  .state = STATE_FAILED,
			  .coded = true,
			  .code = 1,
			  .attempts = 2 },
			.depth = 2 },
	};
	const struct tree_links links = { .run = S("a b") };
	AUTO_BUF b = BUF_INIT;

	tree_html(&b, items, ARRAY_SIZE(items), &links);
	assert_str(buf_str(&b),
		"<ol class=\"tree\"><li data-p=\".\" data-s=\"failed\"><a "
		"href=\"/runs/a%20b/nodes/root\">"
		"sequence</a><span class=\"w\">failed</span><span class=\"t\"></span><span "
		"class=\"a\">"
		"</span><span class=\"c\">1 done · 1 failed</span><ol>"
		"<li data-p=\"0\" data-s=\"done\"><a href=\"/runs/a%20b/nodes/0\">echo "
		"&lt;hi&gt;</a>"
		"<span class=\"w\">done</span><span class=\"t\"></span><span "
		"class=\"a\"></span></li>"
		"<li data-p=\"1\" data-s=\"failed\"><a href=\"/runs/a%20b/nodes/1\">parallel</a>"
		"<span class=\"w\">failed</span><span class=\"t\"></span><span "
		"class=\"a\"></span><ul>"
		"<li data-p=\"1.0\" data-s=\"failed\"><a href=\"/runs/a%20b/nodes/1.0\">lint</a>"
		"<span class=\"w\">failed</span><span class=\"t\"></span><span class=\"a\">×2 exit "
		"1"
		"</span><code>false</code></li></ul></li></ol></li></ol>");
}

static void large_groups_are_paged(void **state UNUSED)
{
	struct tree_item item = { .view = { .path = S("1"),
					  .kind = "each",
					  .group = true,
					  .state = STATE_RUNNING,
					  .children = 10000 },
		.hidden = 10000 };
	const struct tree_links links = { .run = S("r"), .query = S("view=tree&") };
	AUTO_BUF b = BUF_INIT;

	tree_html(&b, &item, 1, &links);
	assert_true(
		str_contains(buf_str(&b), S("?view=tree&amp;open=1#n-1\">show all 10,000</a>")));
	item.from = 200;
	item.hidden = 9800;
	buf_reset(&b);
	tree_html(&b, &item, 1, &links);
	assert_true(str_contains(buf_str(&b), S("open=1%3A400#")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_are_nested_lists),
		cmocka_unit_test(large_groups_are_paged),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
