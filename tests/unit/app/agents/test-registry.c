#include "app/agents.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "put.h"

/* A home with a configuration, and a working directory with one of its own. */
static char top[64];

static void put(const char *below, const char *text)
{
	put_below(top, below, text);
}

static int set_up(void **state)
{
	(void)state;
	(void)snprintf(top, sizeof(top), "/tmp/test-agents-XXXXXX");
	if (!mkdtemp(top) || setenv("HOME", top, 1) || unsetenv("XDG_CONFIG_HOME"))
		return -1;
	put(".config/start/agents.toml",
		"[agents.second]\nbin = \"cat\"\ncommand = \"{bin} '{prompt}'\"\n"
		"[agents.first]\nbin = \"cat\"\ncommand = \"{bin} '{prompt}'\"\n"
		"[agents.\"*\"]\nbin = \"cat\"\ncommand = \"{bin}\"\n");
	put(".config/start/contexts.toml",
		"[contexts.now]\nrequired = true\ncommand = \"echo from-a-command\"\n"
		"prompt = \"It says {command_output}\"\n");
	put(".config/start/tasks.toml",
		"[tasks.zoo]\nalias = \"z\"\nprompt = \"Visit {instructions}\"\n"
		"[tasks.art]\nprompt = \"Paint\"\ndescription = \"with oil\"\n");
	put("work/.start/tasks.toml", "[tasks.local]\nprompt = \"Here\"\n");
	return 0;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static int tear_down(void **state)
{
	(void)state;
	return nftw(top, drop, 16, FTW_DEPTH | FTW_PHYS);
}

static struct str work(struct buf *b)
{
	buf_printf(b, "%s/work", top);
	return buf_str(b);
}

static bool take(void *data, const struct agents_entry *entry)
{
	struct buf *b = data;

	buf_printf(b, "%.*s%s%s ", STR(entry->name), entry->local ? " [local]" : "",
		entry->required ? " [required]" : "");
	return true;
}

static void expect(enum agents_kind kind, const char *names)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF cwd = BUF_INIT;
	AUTO_BUF told = BUF_INIT;

	assert_true(agents_each(kind, work(&cwd), take, &told, &r));
	assert_str(buf_str(&told), names);
}

static void each_kind_has_its_order(void **state)
{
	(void)state;
	expect(AGENTS_AGENT, "second first ");
	expect(AGENTS_ROLE, "");
	expect(AGENTS_CONTEXT, "now [required] ");
	expect(AGENTS_TASK, "art local [local] zoo ");
}

static void a_shortened_name_is_found(void **state)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF cwd = BUF_INIT;
	AUTO_BUF told = BUF_INIT;
	AUTO_BUF notes = BUF_INIT;

	(void)state;
	struct str dir = work(&cwd);
	assert_true(agents_find(AGENTS_TASK, dir, S("z"), &notes, take, &told, &r));
	assert_true(agents_find(AGENTS_AGENT, dir, S("sec"), &notes, take, &told, &r));
	assert_str(buf_str(&told), "zoo second ");
	assert_true(notes.len > 0);
	assert_false(agents_find(AGENTS_ROLE, dir, S("none"), &notes, take, &told, &r));
	assert_int_equal(r.errors, 1);
}

static json_t *render(bool commands, struct report *r)
{
	AUTO_BUF cwd = BUF_INIT;
	struct str dir = work(&cwd);

	return agents_render(&(struct agents_request){ .mode = AGENTS_LAUNCH_TASK,
				     .task = S("zoo"),
				     .instructions = S("the lions"),
				     .cwd = dir,
				     .stands = dir },
		commands, r);
}

static struct str text_of(const json_t *messages)
{
	assert_int_equal(json_array_size(messages), 1);
	return json_str(json_object_get(json_array_get(messages, 0), "text"));
}

static void a_task_is_rendered_as_it_would_be_sent(void **state)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *messages = render(true, &r);

	(void)state;
	assert_non_null(messages);
	assert_true(str_contains(text_of(messages), S("It says from-a-command")));
	assert_true(str_contains(text_of(messages), S("Visit the lions")));
}

static void commands_run_only_where_they_are_allowed(void **state)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *messages = render(false, &r);

	(void)state;
	assert_non_null(messages);
	assert_false(str_contains(text_of(messages), S("from-a-command")));
	assert_true(str_contains(text_of(messages), S("Visit the lions")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind_has_its_order),
		cmocka_unit_test(a_shortened_name_is_found),
		cmocka_unit_test(a_task_is_rendered_as_it_would_be_sent),
		cmocka_unit_test(commands_run_only_where_they_are_allowed),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("registry", tests, set_up, tear_down);
}
