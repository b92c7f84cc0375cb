#include "prompts/doctor.h"

#include "house.h"

#define GOOD "[agents.a]\nbin='sh'\ncommand='{bin} -- {prompt}'\n"

static void findings_are_told_with_their_place(void **state UNUSED)
{
	static const struct {
		const char *text, *told;
		bool error;
	} cases[] = {
		{ "[agents.a]\ncommand='{bin} {prompt}'\n", ":1:9: error: agent 'a' has no 'bin'",
			true },
		{ "[agents.a]\nbin='sh'\n", "has no 'command'", true },
		{ "[agents.a]\nbin='sh'\ncommand='sh {prompt}'\n", "does not name {bin}", true },
		{ "[agents.a]\nbin='no-such-xyz'\ncommand='{bin} {prompt}'\n",
			":2:5: error: the program 'no-such-xyz'", true },
		{ "[agents.a]\nbin='sh'\ncommand='{bin} \"{prompt}'\n",
			":3:16: error: \" in column 7", true },
		{ "[agents.a]\nbin='sh'\ncommand='{bin}'\n", "does not name {prompt}", false },
		{ GOOD "default_model='x'\n[agents.a.models]\ny='1'\n",
			"default_model 'x' is not among", false },
		{ "[agents.a]\nbin='sh'\ncommand='{bin} {prompt}'\n",
			":3:16: warning: a prompt that begins with - is an option to 'sh' here",
			false },
		{ GOOD "batch='sh x'\n", ":4:7: error: the batch of agent 'a' does not name {bin}",
			true },
		{ GOOD "batch='{bin} -p {prompt}'\n", ":4:17: warning: a prompt that begins",
			false },
		{ GOOD "batch='{bin} {promt}'\n", ":4:14: warning: unknown placeholder", false },
		{ GOOD "batch=3\n", "'batch' is a number", true },
		{ GOOD "[agents.a.env]\nX='1'\n", "[agents.NAME.env]", false },
		{ GOOD "flavour='mint'\n", ":4:1: warning: unknown field 'flavour'", false },
		{ GOOD "descripton='mint'\n", "did you mean 'description'?", false },
		{ "[roles.r]\ndescription='x'\n", "role 'r' has neither", true },
		{ "[roles.r]\nprompt='{file}'\n", "but has no 'file'", true },
		{ "[roles.r]\nprompt='{promt}'\n", ":2:9: warning: unknown placeholder {promt}",
			false },
		{ "[roles.r]\nprompt='{prompt}'\n", "{prompt} is not known in a role", false },
		{ "[roles.r]\nprompt='{command_ouput}'\n", "did you mean {command_output}?",
			false },
		{ "[roles.r]\nprompt='{system_prompt}'\n", "write {role}", false },
		{ "[roles.r]\nprompt='{{.prompt}}'\n", "write {prompt}", false },
		{ "[roles.r]\nprompt='x'\ncommand='y'\n",
			":3:9: warning: 'command' of role 'r' is not used", false },
		{ "[roles.r]\nfile='~/gone.md'\n", "gone.md' of role 'r' cannot be read", false },
		{ "[roles.R_x]\nprompt='x'\n", "the name of role 'R_x' is unusual", false },
		{ "[contexts.c]\nprompt='x'\ntags=3\n", "'tags' is a number", true },
		{ "[contexts.c]\nprompt='x'\ncommand_timeout=-1\n", "not positive", true },
		{ "[tasks.t]\nprompt='x'\nagent='ghost'\n",
			":3:7: error: there is no agent 'ghost'", true },
		{ "[tasks.t]\nprompt='x'\nrole='ghost'\n", "no role 'ghost'", true },
		{ "[tasks.t]\nprompt='x'\nalias='u'\n[tasks.u]\nprompt='x'\n",
			"the alias 'u' is also the name of task 'u'", true },
		{ "[tasks.t]\nprompt='x'\nalias='w'\n[tasks.u]\nprompt='x'\nalias='w'\n",
			"the alias 'w'", true },
		{ "[settings]\ndefault_agent='ghost'\n", "no agent 'ghost'", true },
		{ "[settings]\nlog_level='loud'\n", "log_level 'loud' is not known", true },
		{ "[settings]\ncolour='x'\n", "unknown field 'colour'", false },
		{ "[gents.x]\nbin='x'\n", "unknown table 'gents'", false },
		{ "[agent.x]\nbin='x'\n", "did you mean 'agents'?", false },
		{ "[roles.r]\nfile='~/r.md'\ncommand='x'\n",
			":3:9: warning: 'command' of role 'r' is not used: its file does not name",
			false },
		{ "[roles.r]\nprompt='a {command_output}'\n",
			":2:11: error: role 'r' names {command_output} but has no 'command'",
			true },
		{ "[roles.r]\nprompt='{{.x {{.y'\n[roles.R]\nprompt='x'\n", "unusual", false },
		{ "[settings]\ndefault_agent='*'\n[agents.'*']\nbin='sh'\ncommand='{bin}'\n",
			"no agent '*'", true },
		{ "[tasks.t]\nprompt=1979-05-27\n",
			":2:8: error: 'prompt' is a date or time; expected a string", true },
		{ "[contexts.t]\nprompt='x'\ntags=['a', 07:32:00]\n", "put it in quotes", true },
		{ "[contexts.t]\nprompt='1979-05-27'\ncommand_timeout=inf\n",
			"'command_timeout' is inf or nan", true },
		{ "[roles.t]\nfile=\"a\\u0000b\"\n", "'file' has a NUL character", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;

		house_open(&h);
		house_file(&h, "home/r.md", "no names");
		assert_true(house_load(&h, cases[i].text, NULL));
		prompts_doctor(&h.config, &h.report);
		assert_tells(&h.report, cases[i].told);
		assert_int_equal(h.report.errors > 0, cases[i].error);
		vec_each (issue, &h.report.issues) {
			bool advised = issue->hint.len || issue->actions[0].what;

			if (!advised)
				print_error("no advice: %.*s\n", STR(issue->message));
			assert_true(advised && issue->line > 0);
		}
		house_close(&h);
	}
}

static void what_is_right_is_not_mentioned(void **state UNUSED)
{
	struct house h;

	house_open(&h);
	house_file(&h, "home/r.md", "r");
	assert_true(house_load(&h,
		"[settings]\ndefault_agent='a'\ndefault_role='r'\nlog_level='debug'\nasset_repo='x'"
		"\n" GOOD "[agents.'*']\nbin='cat'\ncommand='{bin} --mode {mode} "
		"${HOME}'\n[roles.r]\nfile='~/r.md'\n"
		"[contexts.c]\nrequired=true\ncommand='x'\nprompt='{command_output} {a} "
		"'\n[tasks.t]\nprompt='{instructions}'\nrole='r'\n",
		NULL));
	prompts_doctor(&h.config, &h.report);
	assert_int_equal(h.report.errors, 0);
	assert_int_equal(h.report.warnings, 1);
	assert_tells(&h.report, "{a}");
	house_close(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(findings_are_told_with_their_place),
		cmocka_unit_test(what_is_right_is_not_mentioned),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts doctor", tests, NULL, NULL);
}
