#include "prompts/select.h"

#include "house.h"

#define AGENT(name) "[agents." name "]\nbin='x'\ncommand='{bin} {prompt}'\n"

static bool choose(struct house *h, struct prompt_request q, struct selection *s)
{
	q.stands = house_path(h, "work");
	return select_all(&h->config, &q, s, &h->report, &h->warnings);
}

static const char agents[] = AGENT("one") AGENT("two") AGENT("three") AGENT("'*'");

static void agents_are_found_whole_or_by_a_part_that_only_one_has(void **state UNUSED)
{
	static const struct {
		const char *typed, *agent, *told; /* agent NULL: refused with `told` */
	} cases[] = {
		{ "", "one", NULL },
		{ "two", "two", NULL },
		{ "tw", "two", NULL },
		{ "HRE", "three", NULL },
		{ "t", NULL, "two, three" },
		{ "nobody", NULL, "there are: one, two, three" },
		{ "*", NULL, "no agent '*'" },
		{ "thee", NULL, "did you mean 'three'?" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;
		struct selection s;

		house_open(&h);
		assert_true(house_load(&h, agents, NULL));
		bool ok =
			choose(&h, (struct prompt_request){ .agent = str_of(cases[i].typed) }, &s);
		assert_int_equal(ok, cases[i].agent != NULL);
		if (ok)
			assert_str(s.agent->name, cases[i].agent);
		else
			assert_tells(&h.report, cases[i].told);
		bool shortened =
			ok && *cases[i].typed && !str_eq(s.agent->name, str_of(cases[i].typed));
		assert_int_equal(s.notes.len > 0, shortened);
		selection_done(&s);
		house_close(&h);
	}
}

static void a_local_prefix_beats_a_global_one(void **state UNUSED)
{
	struct house h;
	struct selection s;

	house_open(&h);
	assert_true(house_load(&h, AGENT("code-a") AGENT("code-b"), AGENT("code-c")));
	assert_true(choose(&h, (struct prompt_request){ .agent = S("code") }, &s));
	assert_str(s.agent->name, "code-c");
	selection_done(&s);
	house_close(&h);
}

static void names_in_files_must_be_exact(void **state UNUSED)
{
	struct house h;
	struct selection s;

	house_open(&h);
	assert_true(house_load(&h, "[settings]\ndefault_agent='tw'\n" AGENT("two"), NULL));
	assert_false(choose(&h, (struct prompt_request){ 0 }, &s));
	assert_tells(&h.report, "config.toml:2:15: error: there is no agent 'tw'");
	selection_done(&s);
	house_close(&h);
}

static void only_what_is_selected_must_be_valid(void **state UNUSED)
{
	struct house h;
	struct selection s;

	house_open(&h);
	assert_true(house_load(&h,
		AGENT("good") "[agents.bad]\nbin=3\n[agents.worse]\ncommand='x'\n[roles.r]\nprompt="
			      "'r'\n[roles.bad]\nprompt=3\n"
			      "[tasks.t]\nagent='ghost'\nalias=4\n[contexts.c]\nprompt=3\n",
		NULL));
	assert_true(choose(&h, (struct prompt_request){ .mode = MODE_PROMPT }, &s));
	selection_done(&s);
	assert_false(choose(&h, (struct prompt_request){ .mode = MODE_START }, &s));
	assert_tells(&h.report, "'prompt' is a number");
	selection_done(&s);
	house_close(&h);
}

static void contexts_are_chosen_by_term(void **state UNUSED)
{
	static const char text[] =
		AGENT("a") "[contexts.opt]\nprompt='1'\n[contexts.req]\nprompt='2'\nrequired=true\n"
			   "[contexts.notes]\nprompt='3'\ntags=['extra','opt']\n[contexts.notice]"
			   "\nprompt='4'\n";
	static const struct {
		enum prompt_mode mode;
		const char *term, *want;
	} cases[] = {
		{ MODE_START, NULL, "opt req notes notice " },
		{ MODE_PROMPT, NULL, "req " },
		{ MODE_START, "notes", "req notes " },
		{ MODE_PROMPT, "notice, notes", "req notice notes " },
		{ MODE_PROMPT, "extra", "req notes " },
		{ MODE_PROMPT, "opt", "req opt " }, /* a name before a tag */
		{ MODE_PROMPT, "not", "req notes notice " },
		{ MODE_PROMPT, "tice", "req notice " },
		{ MODE_PROMPT, "default", "req opt notes notice " },
		{ MODE_PROMPT, "req,notes,notes", "req notes " },
		{ MODE_PROMPT, "./x.md,../work/x.md", "req ./x.md " },
		{ MODE_PROMPT, "zzz", "req " },
		{ MODE_PROMPT, ",,", "req " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;
		struct selection s;
		struct str term = str_of(cases[i].term);
		AUTO_BUF got = BUF_INIT;

		house_open(&h);
		assert_true(house_load(&h, text, NULL));
		assert_true(choose(&h,
			(struct prompt_request){ .mode = cases[i].mode,
				.contexts = &term,
				.context_count = cases[i].term ? 1 : 0 },
			&s));
		vec_each (c, &s.contexts)
			buf_printf(&got, "%.*s ", STR(c->name));
		assert_str(buf_str(&got), cases[i].want);
		assert_int_equal(
			h.warnings.warnings, cases[i].term && strcmp(cases[i].term, "zzz") == 0);
		selection_done(&s);
		house_close(&h);
	}
}

static void a_bare_request_gets_only_what_it_names(void **state UNUSED)
{
	struct house h;
	struct selection s;
	struct str term = S("b");

	house_open(&h);
	assert_true(house_load(&h,
		AGENT("a") "[contexts.a]\nprompt='1'\nrequired=true\n[contexts.b]\nprompt='2'\n["
			   "roles.r]\nprompt='r'\n",
		NULL));
	assert_true(choose(&h,
		(struct prompt_request){
			.mode = MODE_PROMPT, .bare = true, .contexts = &term, .context_count = 1 },
		&s));
	assert_false(s.has_role);
	assert_int_equal(s.contexts.len, 1);
	assert_str(s.contexts.at[0].name, "b");
	selection_done(&s);
	house_close(&h);
}

static void steps_name_agents_exactly_or_take_any(void **state UNUSED)
{
	static const struct {
		const char *named, *with_any, *without;
	} cases[] = { { "two", "two", "two" }, { "lab:two", "two", "two" }, { "tw", "*", NULL },
		{ "lab:x", "*", NULL } };

	for (size_t i = 0; i < 2 * ARRAY_SIZE(cases); i++) {
		bool any = i % 2;
		const char *want = any ? cases[i / 2].with_any : cases[i / 2].without;
		struct house h;
		struct selection s;

		house_open(&h);
		assert_true(house_load(&h, any ? agents : AGENT("one") AGENT("two"), NULL));
		bool ok = choose(&h,
			(struct prompt_request){ .mode = MODE_PROMPT,
				.bare = true,
				.agent = str_of(cases[i / 2].named) },
			&s);
		assert_int_equal(ok, want != NULL);
		if (ok)
			assert_str(s.agent->name, want);
		selection_done(&s);
		house_close(&h);
	}
}

static void models(void **state UNUSED)
{
	static const struct {
		const char *fields, *typed, *want; /* want NULL: refused */
	} cases[] = {
		{ "default_model='best'\n[agents.a.models]\nfast='f1'\nbest='b9'\n", "", "b9" },
		{ "[agents.a.models]\nzed='z1'\nabc='a1'\n", "", "z1" },
		{ "default_model='gpt'\n", "", "gpt" }, { "", "abc", "abc" }, { "", "", NULL },
		{ "[agents.a.models]\nfast='f1'\nbest='b9'\n", "b9", "b9" },
		{ "[agents.a.models]\nfast='f1'\nbest='b9'\n", "fa", "f1" },
		{ "[agents.a.models]\nfast='f1'\nbest='b9'\n", "es", "b9" },
		{ "[agents.a.models]\nson-new='2'\nson='1'\n", "son", "1" },
		{ "[agents.a.models]\nson-new='2'\nson-old='1'\n", "son", NULL },
		{ "[agents.a.models]\nxax='2'\nyay='1'\n", "a",
			"a" }, /* parts of several: as typed */
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;
		struct selection s;
		AUTO_BUF text = BUF_INIT;

		house_open(&h);
		buf_printf(
			&text, "[agents.a]\nbin='x'\ncommand='{bin} {model}'\n%s", cases[i].fields);
		assert_true(house_load(&h, buf_cstr(&text), NULL));
		bool ok =
			choose(&h, (struct prompt_request){ .model = str_of(cases[i].typed) }, &s);
		assert_int_equal(ok, cases[i].want != NULL);
		if (ok)
			assert_str(s.model, cases[i].want);
		selection_done(&s);
		house_close(&h);
	}
}

static void tasks_go_by_local_name_and_alias_before_global_ones(void **state UNUSED)
{
	static const struct {
		const char *typed, *want;
	} cases[] = { { "rv", "other" }, { "gl", "global" }, { "global", "global" },
		{ "oth", "other" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;
		struct selection s;

		house_open(&h);
		assert_true(house_load(&h,
			AGENT("a") "[tasks.rv]\nprompt='g'\n[tasks.global]\nalias='gl'\nprompt='g'"
				   "\n",
			"[tasks.other]\nalias='rv'\nprompt='l'\n"));
		assert_true(choose(&h,
			(struct prompt_request){
				.mode = MODE_TASK, .task = str_of(cases[i].typed) },
			&s));
		assert_str(s.task.name, cases[i].want);
		selection_done(&s);
		house_close(&h);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agents_are_found_whole_or_by_a_part_that_only_one_has),
		cmocka_unit_test(a_local_prefix_beats_a_global_one),
		cmocka_unit_test(names_in_files_must_be_exact),
		cmocka_unit_test(only_what_is_selected_must_be_valid),
		cmocka_unit_test(contexts_are_chosen_by_term),
		cmocka_unit_test(a_bare_request_gets_only_what_it_names),
		cmocka_unit_test(steps_name_agents_exactly_or_take_any),
		cmocka_unit_test(models),
		cmocka_unit_test(tasks_go_by_local_name_and_alias_before_global_ones),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts select", tests, NULL, NULL);
}
