#include "kitchen.h"

/* The ids that are told, with a space behind each, and the cursor of the last one. */
struct told {
	struct buf ids, cursor;
	size_t stop_after; /* the visitor's own end; 0: none */
};

static bool take(void *data, const struct recipe_info *info)
{
	struct told *t = data;

	buf_add(&t->ids, info->id);
	buf_addc(&t->ids, ' ');
	buf_reset(&t->cursor);
	buf_add(&t->cursor, info->cursor);
	return !t->stop_after || --t->stop_after;
}

static void told_done(struct told *t)
{
	buf_done(&t->ids);
	buf_done(&t->cursor);
}

static void expect(struct kitchen *k, struct recipe_filter f, const char *ids)
{
	struct told t = { 0 };

	assert_true(recipes_each(k->app, &f, take, &t, &k->report));
	assert_str(buf_str(&t.ids), ids);
	told_done(&t);
}

/* Five of the user, two packaged. */
static struct kitchen *filled(void)
{
	struct kitchen *k = kitchen_new();

	kitchen_put(k, "agent/recipes/alpha.json",
		"{\"template\":\"true\",\"description\":\"Makes TEA\",\"usage\":{\"calls\":2}}");
	kitchen_put(k, "agent/recipes/beta.json", "{\"template\":\"true\",\"disabled\":true}");
	kitchen_put(k, "agent/recipes/broken.json", "{\"template\":");
	kitchen_put(k, "agent/recipes/delta.json",
		"{\"template\":\"true\",\"async\":true,\"usage\":{\"calls\":7}}");
	kitchen_put(k, "agent/recipes/eta.md",
		"---\ndescription: teapot\n---\n\n```json\n\"echo hi\"\n```\n");
	kitchen_put(k, "packaged/delta.json", "{\"template\":\"false\"}");
	kitchen_put(k, "packaged/zeta.json", "{\"template\":\"true\"}");
	return k;
}

static void all_are_told_by_id(void **state)
{
	struct kitchen *k = filled();

	(void)state;
	expect(k, (struct recipe_filter){ 0 }, "alpha beta broken delta eta zeta ");
	struct told two = { .stop_after = 2 };
	assert_true(recipes_each(k->app, NULL, take, &two, &k->report));
	assert_str(buf_str(&two.ids), "alpha beta ");
	told_done(&two);
	kitchen_free(k);
}

static void filters_leave_out(void **state)
{
	struct kitchen *k = filled();

	(void)state;
	expect(k, (struct recipe_filter){ .tools = true }, "alpha delta eta ");
	expect(k, (struct recipe_filter){ .states = 1 << RECIPE_INVALID }, "broken ");
	expect(k, (struct recipe_filter){ .states = 1 << RECIPE_INVALID | 1 << RECIPE_DISABLED },
		"beta broken ");
	expect(k, (struct recipe_filter){ .layer = "packaged" }, "zeta ");
	expect(k, (struct recipe_filter){ .text = S("tea") }, "alpha eta ");
	expect(k, (struct recipe_filter){ .text = S("ET") }, "beta eta zeta ");
	expect(k, (struct recipe_filter){ .text = S("nothing like it") }, "");
	kitchen_free(k);
}

static void pages_follow_each_other(struct kitchen *k, enum recipe_order order, const char *all)
{
	struct told seen = { 0 };
	size_t pages = 0, before;

	do {
		struct recipe_filter f = {
			.order = order, .limit = 2, .after = buf_str(&seen.cursor)
		};
		struct buf last = BUF_INIT;

		buf_add(&last, f.after); /* the visitor writes over its cursor */
		f.after = buf_str(&last);
		before = seen.ids.len;
		assert_true(recipes_each(k->app, &f, take, &seen, &k->report));
		buf_done(&last);
		pages++;
	} while (seen.ids.len > before);
	assert_str(buf_str(&seen.ids), all);
	assert_int_equal(pages, 4); /* of six, and one that is empty */
	told_done(&seen);
}

static void pages_follow_each_other_in_every_order(void **state)
{
	struct kitchen *k = filled();

	(void)state;
	pages_follow_each_other(k, RECIPES_BY_ID, "alpha beta broken delta eta zeta ");
	pages_follow_each_other(k, RECIPES_BY_CALLS, "delta alpha beta broken eta zeta ");
	kitchen_free(k);
}

static void a_page_begins_behind_a_recipe_that_is_gone(void **state)
{
	struct kitchen *k = filled();

	(void)state;
	expect(k, (struct recipe_filter){ .after = S("carrot") }, "delta eta zeta ");
	expect(k, (struct recipe_filter){ .order = RECIPES_BY_CALLS, .after = S("5 gone") },
		"alpha beta broken eta zeta ");
	kitchen_free(k);
}

static bool check_delta(void *data, const struct recipe_info *info)
{
	struct kitchen *k = data;
	AUTO_BUF path = BUF_INIT;

	if (!str_eq(info->id, S("delta")))
		return true;
	buf_printf(&path, "%s/packaged/delta.json", k->top);
	assert_string_equal(info->layer, "user");
	assert_string_equal(info->format, "json");
	assert_int_equal(info->state, RECIPE_ACTIVE);
	assert_true(info->tool && info->async);
	assert_int_equal(info->shadowed_count, 1);
	assert_bytes(info->shadowed[0], buf_str(&path));
	assert_int_equal(json_integer_value(json_object_get(info->usage, "calls")), 7);
	assert_int_equal(info->error.len, 0);
	AUTO_JSON *json = recipe_info_json(info);
	assert_string_equal(json_string_value(json_object_get(json, "id")), "delta");
	assert_true(json_is_true(json_object_get(json, "tool")));
	k->report.warnings = 1; /* it was here */
	return false;
}

static void everything_about_one_is_told(void **state)
{
	struct kitchen *k = filled();

	(void)state;
	assert_true(recipes_each(k->app, NULL, check_delta, k, &k->report));
	assert_int_equal(k->report.warnings, 1);
	kitchen_free(k);
}

static void a_directory_that_cannot_be_read_is_an_issue(void **state)
{
	struct kitchen *k = kitchen_new();
	struct told t = { 0 };

	(void)state;
	kitchen_put(k, "agent/recipes", "a file");
	kitchen_put(k, "packaged/zeta.json", "{\"template\":\"true\"}");
	assert_false(recipes_each(k->app, NULL, take, &t, &k->report));
	assert_int_equal(k->report.errors, 1);
	assert_str(buf_str(&t.ids), "zeta ");
	told_done(&t);
	kitchen_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_told_by_id),
		cmocka_unit_test(filters_leave_out),
		cmocka_unit_test(pages_follow_each_other_in_every_order),
		cmocka_unit_test(a_page_begins_behind_a_recipe_that_is_gone),
		cmocka_unit_test(everything_about_one_is_told),
		cmocka_unit_test(a_directory_that_cannot_be_read_is_an_issue),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("list", tests, NULL, NULL);
}
