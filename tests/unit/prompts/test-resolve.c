#include "prompts/resolve.h"

#include "house.h"

struct runner {
	unsigned runs;
	bool fails;
	struct buf seen; /* the arguments, between bars */
};

/* Prints the last argument, as `echo` in a shell would. */
static bool run(void *data, const char *const *argv, const char *cwd UNUSED,
	double timeout_s UNUSED, size_t max UNUSED, struct buf *out, struct buf *why)
{
	struct runner *r = data;

	r->runs++;
	for (size_t i = 0; argv[i]; i++)
		buf_printf(&r->seen, "%s|", argv[i]);
	buf_adds(out, "OUT\n\n");
	buf_adds(why, r->fails ? "it was told to" : "");
	return !r->fails;
}

/* The prompt that `prompt q`, or a task called t, comes to. */
static bool compose(struct house *h, struct runner *r, const char *text, struct resolved *d)
{
	struct prompt_request q = { .mode = MODE_PROMPT, .text = S("q\n"), .stands = S("/") };
	struct selection s;

	AUTO_BUF all = BUF_INIT;
	buf_printf(&all, "[agents.a]\nbin='x'\ncommand='{bin}'\n[settings]\nshell='sh'\n%s", text);
	assert_true(house_load(h, buf_cstr(&all), NULL));
	if (config_find(&h->config, KIND_TASK, S("t"))) {
		q.mode = MODE_TASK;
		q.task = S("t");
		q.instructions = S("{file} $(x)");
	}
	assert_true(select_all(&h->config, &q, &s, &h->report, &h->warnings));
	bool ok = prompt_resolve(&(struct resolve_input){ .config = &h->config,
					 .request = &q,
					 .selection = &s,
					 .date = S("DATE"),
					 .run = run,
					 .run_data = r },
		d, &h->report, &h->warnings);
	selection_done(&s);
	return ok;
}

static void every_kind_of_section_becomes_its_text(void **state UNUSED)
{
	static const struct {
		const char *section, *want;
		unsigned runs;
		bool warns;
	} cases[] = {
		{ "[contexts.c]\nrequired=true\nfile='~/f.md'\n",
			"F {command_output} {prompt}\n\nq", 0, false },
		{ "[contexts.c]\nrequired=true\ncommand='x'\n", "OUT\n\nq", 1, false },
		{ "[contexts.c]\nrequired=true\nprompt='P'\n", "P\n\nq", 0, false },
		{ "[contexts.c]\nrequired=true\nfile='~/f.md'\ncommand='x {date}'\n",
			"F OUT {prompt}\n\nq", 1, false },
		{ "[contexts.c]\nrequired=true\nfile='~/plain.md'\ncommand='x'\n",
			"plain {file}\n\nq", 0, true },
		{ "[contexts.c]\nrequired=true\nfile='~/f.md'\nprompt='{file_contents}'\n",
			"F {command_output} {prompt}\n\nq", 0, false },
		{ "[contexts.c]\nrequired=true\ncommand='x'\nprompt='<{command}>'\n", "<x>\n\nq", 0,
			false },
		{ "[contexts.c]\nrequired=true\nprompt='<{command}>'\n", "q", 0, true },
		{ "[contexts.c]\nrequired=true\nprompt='<{file}>'\n", "q", 0, true },
		{ "[contexts.c]\nrequired=true\nfile='~/none.md'\nprompt='{file}'\n", "q", 0,
			true },
		{ "[contexts.c]\nrequired=true\nfile='~/none.md'\nprompt='P'\n", "P\n\nq", 0,
			true },
		{ "[contexts.c]\nrequired=true\nfile='~'\n", "q", 0, true },
		{ "[contexts.c]\nrequired=true\n", "q", 0, true },
		{ "[contexts.c]\nrequired=true\nprompt='{instructions} {date}'\n",
			"{instructions} DATE\n\nq", 0, false },
		{ "[tasks.t]\nprompt='I: {instructions}'\n", "I: {file} $(x)", 0, false },
		{ "[tasks.t]\nfile='~/t.md'\n", "T {file} $(x) {command_output} {file_contents}", 0,
			false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;
		struct runner r = { 0 };
		struct resolved d;

		house_open(&h);
		house_file(&h, "home/f.md", "F {command_output} {prompt}\n");
		house_file(&h, "home/plain.md", "plain {file}\n");
		house_file(&h, "home/t.md", "T {instructions} {command_output} {file_contents}\n");
		assert_true(compose(&h, &r, cases[i].section, &d));
		assert_str(buf_str(&d.prompt), cases[i].want);
		assert_int_equal(r.runs, cases[i].runs);
		assert_int_equal(h.warnings.warnings > 0, cases[i].warns);
		resolved_done(&d);
		buf_done(&r.seen);
		house_close(&h);
	}
}

static void a_command_that_fails_is_an_empty_text_and_a_warning(void **state UNUSED)
{
	struct house h;
	struct runner r = { .fails = true };
	struct resolved d;

	house_open(&h);
	assert_true(compose(&h, &r, "[tasks.t]\ncommand='x'\nprompt='<{command_output}>'\n", &d));
	assert_str(buf_str(&d.prompt), "<>");
	assert_tells(&h.warnings, "it was told to");
	assert_str(buf_str(&r.seen), "sh|-c|x|");
	resolved_done(&d);
	buf_done(&r.seen);
	house_close(&h);
}

static void an_invalid_role_or_task_is_an_error(void **state UNUSED)
{
	static const char *const cases[] = { "[roles.r]\nfile='~/gone.md'\n",
		"[roles.r]\ndescription='x'\n", "[tasks.t]\nfile='~/gone.md'\n",
		"[tasks.t]\nprompt='{file_contents}'\n" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct house h;
		struct runner r = { 0 };
		struct resolved d;

		house_open(&h);
		assert_false(compose(&h, &r, cases[i], &d));
		assert_int_equal(h.report.errors, 1);
		resolved_done(&d);
		house_close(&h);
	}
}

static void a_role_that_is_a_file_keeps_its_path_and_bytes(void **state UNUSED)
{
	struct house h;
	struct runner r = { 0 };
	struct resolved d;

	house_open(&h);
	house_file(&h, "home/role.md", "R {date}\n\n");
	assert_true(compose(&h, &r, "[roles.r]\nfile='~/x/../role.md'\n", &d));
	assert_str(buf_str(&d.role), "R {date}\n\n");
	assert_bytes(d.role_path, house_path(&h, "home/role.md"));
	resolved_done(&d);
	house_close(&h);
}

static void dates_are_replaced_wherever_they_came_from(void **state UNUSED)
{
	struct house h;
	struct runner r = { 0 };
	struct resolved d;

	house_open(&h);
	house_file(&h, "home/d.md", "file {date}");
	assert_true(compose(&h, &r, "[contexts.c]\nrequired=true\nfile='~/d.md'\n", &d));
	assert_str(buf_str(&d.prompt), "file DATE\n\nq");
	resolved_done(&d);
	house_close(&h);
}

static void relative_files_are_looked_for_where_they_belong(void **state UNUSED)
{
	struct house h;
	struct section s = { .kind = IN_CONTEXT, .file = S("a.md") };

	house_open(&h);
	assert_true(house_load(&h, "[contexts.g]\nfile='a.md'\n", "[contexts.l]\nfile='a.md'\n"));
	s.entry = config_find(&h.config, KIND_CONTEXT, S("l"));
	assert_bytes(section_path(&h.config, &s), house_path(&h, "work/a.md"));
	s.entry = config_find(&h.config, KIND_CONTEXT, S("g"));
	assert_bytes(section_path(&h.config, &s), house_path(&h, "home/.config/start/a.md"));
	house_file(&h, "work/a.md", "");
	assert_bytes(section_path(&h.config, &s), house_path(&h, "work/a.md"));
	house_file(&h, "home/a.md", "");
	assert_bytes(section_path(&h.config, &s), house_path(&h, "home/a.md"));
	house_file(&h, "home/.config/start/a.md", "");
	assert_bytes(section_path(&h.config, &s), house_path(&h, "home/.config/start/a.md"));
	house_close(&h);
}

static void shells_get_their_own_flag(void **state UNUSED)
{
	static const struct {
		const char *shell, *want;
	} cases[] = { { "sh", "sh|-c|T|" }, { "/usr/bin/ruby", "/usr/bin/ruby|-e|T|" },
		{ "perl", "perl|-E|T|" }, { "deno", "deno|eval|T|" },
		{ "bash -eu -c", "bash|-eu|-c|T|" }, { "fish", "fish|-c|T|" } };
	struct house h;

	house_open(&h);
	assert_true(house_load(&h, "", NULL));
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_BUF got = BUF_INIT;
		const char *const *argv = section_argv(&h.config,
			&(struct section){ .command = S("T"), .shell = str_of(cases[i].shell) });

		for (size_t k = 0; argv[k]; k++)
			buf_printf(&got, "%s|", argv[k]);
		assert_str(buf_str(&got), cases[i].want);
	}
	house_close(&h);
}

static void a_date_has_its_offset(void **state UNUSED)
{
	static const struct {
		const char *zone, *want;
	} cases[] = { { "UTC", "2025-01-07T04:30:00Z" }, { "AAA-10", "2025-01-07T14:30:00+10:00" },
		{ "BBB3:30", "2025-01-07T01:00:00-03:30" } };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_BUF got = BUF_INIT;

		assert_int_equal(setenv("TZ", cases[i].zone, 1), 0);
		prompt_date(&got, 1736224200);
		assert_str(buf_str(&got), cases[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_of_section_becomes_its_text),
		cmocka_unit_test(a_command_that_fails_is_an_empty_text_and_a_warning),
		cmocka_unit_test(an_invalid_role_or_task_is_an_error),
		cmocka_unit_test(a_role_that_is_a_file_keeps_its_path_and_bytes),
		cmocka_unit_test(dates_are_replaced_wherever_they_came_from),
		cmocka_unit_test(relative_files_are_looked_for_where_they_belong),
		cmocka_unit_test(shells_get_their_own_flag),
		cmocka_unit_test(a_date_has_its_offset),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts resolve", tests, NULL, NULL);
}
