#include "prompts/agent-line.h"

#include "house.h"

static void a_bare_prompt_is_found(void **state UNUSED)
{
	static const struct {
		const char *line;
		bool bare;
	} cases[] = {
		{ "{bin} '{prompt}'", true },
		{ "{bin} \"{prompt}\"", true },
		{ "{bin} {prompt}", true },
		{ "{bin} $'{prompt}'", true },
		{ "{bin} -p '{prompt}'", true },
		{ "{bin} --message '{prompt}'", true },
		{ "{bin} '{prompt}' --", true },
		{ "{bin} -- x; {bin} '{prompt}'", true },
		{ "{bin} -- x | {bin} '{prompt}'", true },
		{ "X=1 {bin} '{prompt} and more'", true },
		{ "printf '{prompt}' | {bin}", true },
		{ "{bin} -- '{prompt}'", false },
		{ "{bin} '--' '{prompt}'", false },
		{ "{bin} run {model} -- x '{prompt}'", false },
		{ "{bin} --prompt='{prompt}'", false },
		{ "{bin} -m='{prompt}'", false },
		{ "{bin} 'say {prompt}'", false },
		{ "{bin} \"say '{prompt}'\"", false },
		{ "sh -c 'x \"{prompt}\"' {bin}", false },
		{ "P='{prompt}' {bin}", false },
		{ "{bin} '{prompt_file}'", false },
		{ "{bin} <<<'{prompt}'", false },
		{ "{bin} <<< '{prompt}'", false },
		{ "printf '%s' '{prompt}' | {bin}", false },
		{ "{bin}", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t offset = 0, length = 0;
		bool bare = agent_line_bare_prompt(str_of(cases[i].line), &offset, &length);

		if (bare != cases[i].bare)
			fail_msg("%s: %d", cases[i].line, bare);
		if (bare)
			assert_memory_equal(cases[i].line + offset, "{prompt}", length);
	}
}

static void batch_counts_when_it_is_there_and_asked_for(void **state UNUSED)
{
	struct house h;

	house_open(&h);
	assert_true(house_load(&h,
		"[agents.both]\nbin='a'\ncommand='{bin} {prompt}'\nbatch='{bin} {model}'\n"
		"[agents.one]\nbin='a'\ncommand='{bin} {role}'\nbatch=''\n",
		NULL));
	const struct config_entry *both = config_find(&h.config, KIND_AGENT, S("both"));
	const struct config_entry *one = config_find(&h.config, KIND_AGENT, S("one"));
	struct agent_line line = agent_line(both, true, IN_AGENT);

	assert_string_equal(line.field, "batch");
	assert_true(line.batch && agent_line_names(&line, PH_MODEL));
	assert_false(agent_line_has_prompt(&line) || agent_line_has_role(&line));
	line = agent_line(both, false, IN_AGENT);
	assert_string_equal(line.field, "command");
	assert_true(agent_line_has_prompt(&line));
	line = agent_line(one, true, IN_AGENT);
	assert_string_equal(line.field, "command");
	assert_true(!line.batch && agent_line_has_role(&line));
	house_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bare_prompt_is_found),
		cmocka_unit_test(batch_counts_when_it_is_there_and_asked_for),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts agent-line", tests, NULL, NULL);
}
