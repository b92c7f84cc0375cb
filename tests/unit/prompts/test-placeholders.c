#include "prompts/placeholders.h"

#include "unit.h"

static void assert_replaced(const char *text, unsigned kinds, const char *want)
{
	struct placeholder_values v = { 0 };
	AUTO_BUF got = BUF_INIT;

	v.at[PH_DATE] = S("DATE");
	v.at[PH_PROMPT] = S("P {role} {prompt} {date}");
	v.at[PH_ROLE] = S("R");
	v.at[PH_COMMAND_OUTPUT] = S("{instructions}{command_output}");
	v.at[PH_INSTRUCTIONS] = S("I");
	v.at[PH_FILE] = S("/f");
	uint32_t mask = placeholders_in(str_of(text), kinds);
	placeholders_replace(&got, str_of(text), mask, &v);
	assert_str(buf_str(&got), want);
}

static void known_names_are_replaced_in_one_pass(void **state UNUSED)
{
	assert_replaced("a {prompt} b {role}{role}", IN_AGENT, "a P {role} {prompt} {date} b RR");
	assert_replaced(
		"{command_output}|{instructions}", IN_TASK, "{instructions}{command_output}|I");
	assert_replaced("", IN_TASK, "");
}

static void names_out_of_scope_stay(void **state UNUSED)
{
	assert_replaced("{prompt} {instructions} {date}", IN_ROLE, "{prompt} {instructions} DATE");
	assert_replaced("{file} {prompt}", IN_AGENT, "{file} P {role} {prompt} {date}");
	assert_replaced("{instructions}", IN_CONTEXT, "{instructions}");
	assert_replaced("{step}", IN_AGENT, "{step}");
	assert_replaced("{step}", IN_STEP, "");
}

static void other_braces_are_not_special(void **state UNUSED)
{
	assert_replaced("{} {a,b} {{role}} { role } {role } {Role} {unknown} {role", IN_AGENT,
		"{} {a,b} {R} { role } {role } {Role} {unknown} {role");
	assert_replaced("{\"p\":\"{role}\"}", IN_AGENT, "{\"p\":\"R\"}");
	assert_replaced("{{{{", IN_AGENT, "{{{{");
}

static void every_name_is_found_where_the_table_says(void **state UNUSED)
{
	static const unsigned kinds[] = { IN_AGENT, IN_STEP, IN_ROLE, IN_CONTEXT, IN_TASK };

	for (unsigned p = 0; p < PH_COUNT; p++) {
		AUTO_BUF text = BUF_INIT;
		enum prompt_placeholder found;
		size_t length;

		buf_printf(&text, "{%.*s}", STR(placeholder_name((enum prompt_placeholder)p)));
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			bool known = placeholder_places((enum prompt_placeholder)p) & kinds[i];

			assert_int_equal(
				placeholder_at(buf_str(&text), 0, kinds[i], &found, &length),
				known);
			assert_true(!known || (found == p && length == text.len));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_names_are_replaced_in_one_pass),
		cmocka_unit_test(names_out_of_scope_stay),
		cmocka_unit_test(other_braces_are_not_special),
		cmocka_unit_test(every_name_is_found_where_the_table_says),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts placeholders", tests, NULL, NULL);
}
