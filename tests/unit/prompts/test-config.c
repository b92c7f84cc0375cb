#include "prompts/config.h"

#include "house.h"

static void names_keep_their_order_and_local_ones_replace_in_place(void **state UNUSED)
{
	struct house h;
	AUTO_BUF names = BUF_INIT;

	house_open(&h);
	assert_true(house_load(&h,
		"[roles.z]\nprompt='g'\n[roles.a]\nprompt='g'\n[roles.m]\nprompt='g'\n",
		"[roles.new]\nprompt='l'\n[roles.a]\nfile='l'\n"));
	vec_each (e, &h.config.entries[KIND_ROLE])
		buf_printf(&names, "%.*s:%s ", STR((*e)->name),
			(*e)->scope == SCOPE_LOCAL ? "l" : "g");
	assert_str(buf_str(&names), "z:g a:l m:g new:l ");
	const struct config_entry *a = config_find(&h.config, KIND_ROLE, S("a"));
	assert_str(config_text(a, "file"), "l");
	assert_str(config_text(a, "prompt"), ""); /* no merge of fields */
	assert_non_null(a->hides);
	house_close(&h);
}

static void settings_merge_field_by_field(void **state UNUSED)
{
	struct house h;

	house_open(&h);
	assert_true(house_load(
		&h, "[settings]\ndefault_agent='a'\nshell='sh'\n", "[settings]\nshell='bash'\n"));
	assert_str(config_setting_text(&h.config, "default_agent"), "a");
	assert_str(config_setting_text(&h.config, "shell"), "bash");
	house_close(&h);
}

static void any_table_may_stand_in_any_file_but_a_name_only_once(void **state UNUSED)
{
	struct house h;

	house_open(&h);
	house_file(
		&h, "home/.config/start/tasks.toml", "[agents.x]\nbin='b'\n[agents.y]\nbin='b'\n");
	assert_true(house_load(&h, "[agents.x]\nbin='a'\n", NULL));
	const struct config_entry *x = config_find(&h.config, KIND_AGENT, S("x"));
	assert_false(config_check(&h.config, x, &h.report));
	assert_tells(&h.report, "agent 'x' is defined twice");
	assert_tells(&h.report, "tasks.toml:1:");
	assert_tells(&h.report, "config.toml:1:");
	report_reset(&h.report);
	assert_true(config_check(&h.config, config_find(&h.config, KIND_AGENT, S("y")), &h.report));
	house_close(&h);
}

static void a_file_that_does_not_parse_stops_everything(void **state UNUSED)
{
	struct house h;

	house_open(&h);
	assert_false(house_load(&h, "[agents.x]\nbin='a'\n", "[agents.x\n"));
	assert_int_equal(h.report.errors, 1);
	assert_tells(&h.report, ".start/config.toml:1:");
	house_close(&h);
}

static void wrong_types_are_told_where_they_stand(void **state UNUSED)
{
	static const struct {
		const char *text, *told;
	} cases[] = {
		{ "[contexts.x]\nrequired = 'yes'\n",
			":2:12: error: 'required' is a string; expected true or false" },
		{ "[contexts.x]\ntags = ['a', 1]\n", ":2:14: error: 'tags' has a number" },
		{ "[contexts.x]\ncommand_timeout = 0\n", "'command_timeout' is not positive" },
		{ "[contexts.x]\nprompt = 4\n", ":2:10:" },
		{ "[contexts]\nx = 1\n", "context 'x' is a number; expected a table" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;

		house_open(&h);
		assert_true(house_load(&h, cases[i].text, NULL));
		assert_false(config_check(
			&h.config, config_find(&h.config, KIND_CONTEXT, S("x")), &h.report));
		assert_tells(&h.report, cases[i].told);
		house_close(&h);
	}
}

static void a_table_that_is_none_is_an_error(void **state UNUSED)
{
	struct house h;

	house_open(&h);
	assert_false(house_load(&h, "agents = 3\n", NULL));
	assert_tells(&h.report, "'agents' is a number; expected a table");
	house_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_keep_their_order_and_local_ones_replace_in_place),
		cmocka_unit_test(settings_merge_field_by_field),
		cmocka_unit_test(any_table_may_stand_in_any_file_but_a_name_only_once),
		cmocka_unit_test(a_file_that_does_not_parse_stops_everything),
		cmocka_unit_test(wrong_types_are_told_where_they_stand),
		cmocka_unit_test(a_table_that_is_none_is_an_error),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts config", tests, NULL, NULL);
}
