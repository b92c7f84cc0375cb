#include "app/catalog/ref.h"

#include "kitchen.h"

static struct recipe_ref *open_as(struct kitchen *k, const char *operand, struct recipe_open o)
{
	report_reset(&k->report);
	return recipes_open(k->app, operand, &o, &k->report);
}

static struct recipe_ref *open_any(struct kitchen *k, const char *operand)
{
	struct recipe_ref *ref = open_as(k, operand, (struct recipe_open){ 0 });

	assert_non_null(ref);
	return ref;
}

static void every_form_of_an_operand_opens(void **state)
{
	static const char *const templates[] = { "echo {name=x} b", "[\"a\", \"b\"]", "@t.json" };
	static const char *const recipes[] = { "greet", "./adhoc.json", "adhoc.json" };
	struct kitchen *k = kitchen_new();

	(void)state;
	kitchen_put(k, "agent/recipes/greet.json", "{\"template\":\"echo hello\",\"async\":true}");
	kitchen_put(k, "work/adhoc.json", "{\"template\":\"true\"}");
	kitchen_put(k, "work/t.json", "{\"template\":\"true\"}");
	for (size_t i = 0; i < ARRAY_SIZE(templates); i++) {
		struct recipe_ref *ref = open_any(k, templates[i]);

		assert_null(ref->recipe);
		assert_str(recipe_ref_id(ref), "");
		assert_false(recipe_ref_async(ref));
		assert_true(recipes_is_template(k->app, templates[i]));
		recipe_ref_free(ref);
	}
	for (size_t i = 0; i < ARRAY_SIZE(recipes); i++) {
		struct recipe_ref *ref = open_any(k, recipes[i]);

		assert_non_null(ref->recipe);
		assert_str(recipe_ref_id(ref), i ? "adhoc" : "greet");
		assert_int_equal(recipe_ref_async(ref), i == 0);
		assert_false(recipes_is_template(k->app, recipes[i]));
		assert_true(recipes_has(k->app, recipes[i]));
		recipe_ref_free(ref);
	}
	assert_false(recipes_has(k->app, "nothing"));
	kitchen_free(k);
}

static void a_kind_can_be_insisted_on(void **state)
{
	struct kitchen *k = kitchen_new();

	(void)state;
	kitchen_put(k, "agent/recipes/greet.json", "{\"template\":\"echo hello\"}");
	struct recipe_ref *ref =
		open_as(k, "greet", (struct recipe_open){ .as = OPERAND_TEMPLATE });
	assert_non_null(ref);
	assert_null(ref->recipe);
	recipe_ref_free(ref);
	assert_null(open_as(k, "echo hello", (struct recipe_open){ .as = OPERAND_RECIPE }));
	assert_int_equal(k->report.errors, 1);
	kitchen_free(k);
}

static void a_disabled_recipe_is_only_looked_at(void **state)
{
	struct kitchen *k = kitchen_new();

	(void)state;
	kitchen_put(k, "agent/recipes/off.json", "{\"template\":\"true\",\"disabled\":true}");
	recipe_ref_free(open_any(k, "off"));
	assert_null(open_as(k, "off", (struct recipe_open){ .launch = true }));
	assert_int_equal(k->report.errors, 1);
	kitchen_free(k);
}

static void it_outlives_the_app_and_its_file(void **state)
{
	struct kitchen *k = kitchen_new();

	(void)state;
	kitchen_put(k, "agent/recipes/greet.json", "{\"template\":\"echo hello\"}");
	struct recipe_ref *ref = open_any(k, "greet");
	struct recipe_ref *same = recipe_ref_share(ref);
	recipe_ref_free(ref);
	kitchen_free(k);
	assert_str(recipe_ref_id(same), "greet");
	recipe_ref_free(same);
}

static const char steps[] = "name: hello\ndescription: d\nversion: 1.0.0\ncontext:\n  who: \"\"\n"
			    "steps:\n  - id: a\n    type: bash\n    command: echo {{who}}\n";

static void names_of_values_are_checked(void **state)
{
	struct kitchen *k = kitchen_new();
	AUTO_JSON *good = json_pack("{s:s}", "name", "Ada");
	AUTO_JSON *bad = json_pack("{s:s}", "nam", "Ada");

	(void)state;
	kitchen_put(k, "agent/recipes/greet.json",
		"{\"template\":\"echo {name}\",\"args\":[\"name\"]}");
	struct recipe_ref *ref = open_any(k, "greet");
	assert_true(recipe_ref_check_names(ref, false, &k->report));
	struct recipe_ref *right = recipe_ref_with(ref, good, &k->report);
	assert_true(recipe_ref_check_names(right, false, &k->report));
	struct recipe_ref *wrong = recipe_ref_with(ref, bad, &k->report);
	recipe_ref_free(ref); /* what was made of it keeps the recipe */
	assert_false(recipe_ref_check_names(wrong, false, &k->report));
	assert_int_equal(k->report.errors, 1);
	assert_ptr_equal(right->recipe, wrong->recipe);
	recipe_ref_free(right);
	recipe_ref_free(wrong);
	kitchen_free(k);
}

static void a_person_may_set_what_is_not_declared(void **state)
{
	struct kitchen *k = kitchen_new();
	AUTO_JSON *hidden = json_pack("{s:s}", "how", "loudly");

	(void)state;
	kitchen_put(k, "agent/recipes/greet.json",
		"{\"template\":\"echo {name} {how=softly}\",\"args\":[\"name\"]}");
	struct recipe_ref *ref = open_any(k, "greet");
	struct recipe_ref *given = recipe_ref_with(ref, hidden, &k->report);
	assert_true(recipe_ref_check_names(given, true, &k->report));
	assert_false(recipe_ref_check_names(given, false, &k->report));
	recipe_ref_free(ref);
	recipe_ref_free(given);
	kitchen_free(k);
}

static void a_step_recipe_begins_with_its_values(void **state)
{
	struct kitchen *k = kitchen_new();
	AUTO_JSON *values = json_pack("{s:s}", "who", "Ada");

	(void)state;
	kitchen_put(k, "work/s.yaml", steps);
	struct recipe_ref *ref =
		open_as(k, "s.yaml", (struct recipe_open){ .values = json_null() });
	assert_non_null(ref);
	assert_true(recipe_ref_is_steps(ref));
	assert_null(ref->values);
	kitchen_put(k, "work/s.yaml", "no: recipe\n");
	struct recipe_ref *with = recipe_ref_with(ref, values, &k->report);
	assert_non_null(with); /* from the file as it was */
	assert_ptr_not_equal(with->graph, ref->graph);
	assert_ptr_equal(with->values, values);
	recipe_ref_free(with);
	recipe_ref_free(ref);
	kitchen_free(k);
}

static void a_text_is_what_its_name_says(void **state)
{
	struct kitchen *k = kitchen_new();

	(void)state;
	struct recipe_ref *ref =
		recipes_open_text(k->app, S("s.yaml"), str_of(steps), NULL, &k->report);
	assert_non_null(ref);
	assert_true(recipe_ref_is_steps(ref));
	recipe_ref_free(ref);
	ref = recipes_open_text(k->app, S("<text>"), S("echo hi"), NULL, &k->report);
	assert_non_null(ref);
	assert_false(recipe_ref_is_steps(ref));
	recipe_ref_free(ref);
	kitchen_free(k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form_of_an_operand_opens),
		cmocka_unit_test(a_kind_can_be_insisted_on),
		cmocka_unit_test(a_disabled_recipe_is_only_looked_at),
		cmocka_unit_test(it_outlives_the_app_and_its_file),
		cmocka_unit_test(names_of_values_are_checked),
		cmocka_unit_test(a_person_may_set_what_is_not_declared),
		cmocka_unit_test(a_step_recipe_begins_with_its_values),
		cmocka_unit_test(a_text_is_what_its_name_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("ref", tests, NULL, NULL);
}
