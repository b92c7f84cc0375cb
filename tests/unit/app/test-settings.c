#include "app/settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

#include "unit.h"

/* A home of its own, with the file or without. */
struct home {
	char dir[64];
	struct buf file;
	struct settings settings;
	struct report errors, warnings;
	bool ok;
};

static void put(struct home *h, const char *below, struct str text)
{
	AUTO_BUF dir = BUF_INIT;

	buf_printf(&dir, "%s/%s", h->dir, below);
	assert_int_equal(dir_make(buf_cstr(&dir)), 0);
	buf_reset(&h->file);
	buf_printf(&h->file, "%s/config.toml", buf_cstr(&dir));
	FILE *f = fopen(buf_cstr(&h->file), "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text.p, 1, text.len, f), text.len);
	assert_int_equal(fclose(f), 0);
}

static void open_home(struct home *h)
{
	*h = (struct home){ .dir = "/tmp/test-settings-XXXXXX" };
	assert_non_null(mkdtemp(h->dir));
	assert_int_equal(setenv("HOME", h->dir, 1), 0);
	assert_int_equal(unsetenv("XDG_CONFIG_HOME"), 0);
	assert_int_equal(unsetenv("ROUX_USAGE"), 0);
}

static void read_home(struct home *h)
{
	h->ok = settings_read(&h->settings, &h->errors, &h->warnings);
	assert_int_equal(h->ok, h->errors.errors == 0);
}

static void read_given(struct home *h, const char *text)
{
	open_home(h);
	put(h, ".config/roux", str_of(text));
	read_home(h);
}

static void close_home(struct home *h)
{
	AUTO_BUF path = BUF_INIT;

	settings_done(&h->settings);
	report_done(&h->errors);
	report_done(&h->warnings);
	(void)unlink(buf_cstr(&h->file));
	(void)rmdir(buf_cstr(&h->file));
	static const char *const dirs[] = { ".config/roux", ".config", "xdg/roux", "xdg", "" };
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		buf_reset(&path);
		buf_printf(&path, "%s/%s", h->dir, dirs[i]);
		(void)rmdir(buf_cstr(&path));
	}
	assert_int_not_equal(access(h->dir, F_OK), 0);
	buf_done(&h->file);
}

static void assert_defaults(const struct settings *s)
{
	assert_int_equal(s->jobs, 64);
	assert_int_equal(s->max_parallel, 16);
	assert_int_equal(s->grace_ms, 5000);
	assert_false(s->durable);
	assert_int_equal(s->usage, SETTINGS_USAGE_FILE);
	assert_int_equal(s->collection_count, 0);
	assert_false(s->jobs_given || s->max_parallel_given || s->grace_given || s->durable_given);
	assert_false(s->usage_given || s->max_age_given || s->max_runs_given);
}

/* -- what is read --------------------------------------------------------------------------------
 */

static void without_a_file_there_are_defaults(void **state UNUSED)
{
	struct home h;

	open_home(&h);
	read_home(&h);
	assert_true(h.ok);
	assert_false(h.settings.found);
	assert_true(str_ends(h.settings.path, S("/.config/roux/config.toml")));
	assert_defaults(&h.settings);
	close_home(&h);
}

static void an_empty_file_says_nothing(void **state UNUSED)
{
	struct home h;

	read_given(&h, "# nothing\n[retention]\n[collections]\n");
	assert_true(h.ok);
	assert_true(h.settings.found);
	assert_defaults(&h.settings);
	assert_int_equal(h.warnings.warnings, 0);
	close_home(&h);
}

static void every_key_is_read(void **state UNUSED)
{
	struct home h;

	read_given(&h, "jobs = 0\nmax_parallel = 7\ngrace_ms = 250\ndurable = true\n"
		       "usage = \"ledger\"\n[retention]\nmax_age_days = 30\nmax_runs = 0\n");
	assert_true(h.ok);
	const struct settings *s = &h.settings;
	assert_true(s->jobs_given && s->jobs == 0);
	assert_true(s->max_parallel_given && s->max_parallel == 7);
	assert_true(s->grace_given && s->grace_ms == 250);
	assert_true(s->durable_given && s->durable);
	assert_true(s->usage_given && s->usage == SETTINGS_USAGE_LEDGER);
	assert_true(s->max_age_given && s->max_age_days == 30);
	assert_true(s->max_runs_given && s->max_runs == 0);
	assert_int_equal(h.warnings.warnings, 0);
	close_home(&h);
}

static void what_is_given_is_told_from_its_default(void **state UNUSED)
{
	struct home h;

	read_given(&h, "durable = false\nretention.max_runs = 5\n");
	assert_true(h.ok);
	assert_true(h.settings.durable_given && !h.settings.durable);
	assert_true(h.settings.max_runs_given && !h.settings.max_age_given);
	assert_false(h.settings.jobs_given);
	assert_int_equal(h.settings.jobs, 64);
	close_home(&h);
}

static void collections_are_absolute_and_in_order(void **state UNUSED)
{
	struct home h;
	AUTO_BUF want = BUF_INIT;

	read_given(&h, "[collections]\nz = \"/opt/x/../y\"\na = '~/lib'\n\"b c\" = 'shared'\nhome "
		       "= '~'\n");
	assert_true(h.ok);
	const struct settings_collection *c = h.settings.collections;
	assert_int_equal(h.settings.collection_count, 4);
	assert_str(c[0].name, "z");
	assert_str(c[0].dir, "/opt/y");
	assert_str(c[1].name, "a");
	buf_printf(&want, "%s/lib", h.dir);
	assert_bytes(c[1].dir, buf_str(&want));
	assert_str(c[2].name, "b c");
	buf_reset(&want);
	buf_printf(&want, "%s/.config/roux/shared", h.dir);
	assert_bytes(c[2].dir, buf_str(&want));
	assert_str(c[3].dir, h.dir);
	close_home(&h);
}

static void xdg_config_home_comes_first_when_absolute(void **state UNUSED)
{
	struct home h;
	AUTO_BUF xdg = BUF_INIT;

	open_home(&h);
	put(&h, "xdg/roux", S("jobs = 3\n"));
	buf_printf(&xdg, "%s/xdg", h.dir);
	assert_int_equal(setenv("XDG_CONFIG_HOME", buf_cstr(&xdg), 1), 0);
	read_home(&h);
	assert_int_equal(h.settings.jobs, 3);
	settings_done(&h.settings);

	assert_int_equal(setenv("XDG_CONFIG_HOME", "xdg", 1), 0);
	read_home(&h);
	assert_false(h.settings.found);
	settings_done(&h.settings);

	/* Without HOME, the one of the password file. */
	assert_int_equal(unsetenv("HOME"), 0);
	read_home(&h);
	assert_true(str_ends(h.settings.path, S("/.config/roux/config.toml")));
	assert_false(str_starts(h.settings.path, str_of(h.dir)));
	close_home(&h);
}

static void the_variable_beats_the_file(void **state UNUSED)
{
	struct home h;

	open_home(&h);
	put(&h, ".config/roux", S("usage = 'ledger'\n"));
	assert_int_equal(setenv("ROUX_USAGE", "file", 1), 0);
	read_home(&h);
	assert_true(h.ok);
	assert_true(h.settings.usage_given);
	assert_int_equal(h.settings.usage, SETTINGS_USAGE_FILE);
	settings_done(&h.settings);

	assert_int_equal(setenv("ROUX_USAGE", "nowhere", 1), 0);
	read_home(&h);
	assert_false(h.ok);
	assert_str(h.errors.issues.at[0].message,
		"ROUX_USAGE is \"nowhere\", expected \"file\" or \"ledger\"");
	close_home(&h);
}

/* -- what is wrong -------------------------------------------------------------------------------
 */

static void assert_error(
	const char *text, size_t line, size_t column, const char *message, const char *hint)
{
	struct home h;

	read_given(&h, text);
	assert_false(h.ok);
	assert_int_equal(h.errors.issues.len, 1);
	const struct issue *i = &h.errors.issues.at[0];
	assert_bytes(i->file, buf_str(&h.file));
	assert_str(i->message, message);
	assert_str(i->hint, hint);
	assert_int_equal(i->line, line);
	assert_int_equal(i->column, column);
	/* Half of a file is worse than none. */
	assert_defaults(&h.settings);
	close_home(&h);
}

static void refuses_what_does_not_parse(void **state UNUSED)
{
	assert_error("jobs = 1\ngrace_ms = x\n", 2, 12, "not valid TOML: found x, expected a value",
		"a string needs quotes: \"x\"");
}

static void refuses_values_of_the_wrong_kind(void **state UNUSED)
{
	static const char jobs[] = "correct or remove it: it says how many commands run at once, 0 "
				   "for one per processor";
	static const char dirs[] = "correct or remove it: it says the directory that @name:path of "
				   "a step recipe looks in";

	assert_error("\n  jobs = '4'\n", 2, 10,
		"'jobs' is \"4\", expected a whole number from 0 to 100000", jobs);
	assert_error("jobs = -1\n", 1, 8, "'jobs' is -1, expected a whole number from 0 to 100000",
		jobs);
	assert_error("jobs = 100001\n", 1, 8,
		"'jobs' is 100001, expected a whole number from 0 to 100000", jobs);
	assert_error("jobs = 1.5\n", 1, 8,
		"'jobs' is a number, expected a whole number from 0 to 100000", jobs);
	assert_error("[jobs]\n", 1, 1,
		"'jobs' is a table, expected a whole number from 0 to 100000", jobs);
	assert_error("max_parallel = 0\n", 1, 16,
		"'max_parallel' is 0, expected a whole number from 1 to 100000",
		"correct or remove it: it says the width of `parallel: true` in a step recipe");
	assert_error("durable = 1\n", 1, 11, "'durable' is a number, expected true or false",
		"correct or remove it: it says whether every record is on disk before the run "
		"continues");
	assert_error("usage = 'db'\n", 1, 9, "'usage' is \"db\", expected \"file\" or \"ledger\"",
		"correct or remove it: it says where launches are counted");
	assert_error("usage = ''\n", 1, 9,
		"'usage' is an empty string, expected \"file\" or \"ledger\"",
		"correct or remove it: it says where launches are counted");
	assert_error("retention = 7\n", 1, 13, "'retention' is a number, expected a table",
		"write [retention] and its keys below it");
	assert_error("[[retention]]\n", 1, 1, "'retention' is an array, expected a table",
		"write [retention] and its keys below it");
	assert_error("[collections]\na = 1\n", 2, 5,
		"'a' is a number, expected a string, the name of a directory", dirs);
	assert_error("[collections.a]\n", 1, 1,
		"'a' is a table, expected a string, the name of a directory", dirs);
}

static void finds_every_mistake_in_one_go(void **state UNUSED)
{
	struct home h;

	read_given(&h, "jobs = true\ngrace_ms = []\njob = 1\n[retention]\nmax_runs = 'x'\n");
	assert_int_equal(h.errors.errors, 3);
	assert_int_equal(h.warnings.warnings, 1);
	close_home(&h);
}

static void refuses_what_cannot_be_read(void **state UNUSED)
{
	struct home h;

	open_home(&h);
	put(&h, ".config/roux", S(""));
	assert_int_equal(unlink(buf_cstr(&h.file)), 0);
	assert_int_equal(mkdir(buf_cstr(&h.file), 0700), 0);
	read_home(&h);
	assert_false(h.ok);
	assert_true(str_contains(h.errors.issues.at[0].message, S("Is a directory")));
	close_home(&h);
}

static void unknown_keys_are_warnings(void **state UNUSED)
{
	struct home h;

	read_given(
		&h, "job = 1\n[retentoin]\n[retention]\nmax_run = 1\nzzz = 1\n[telegram]\nx = 1\n");
	assert_true(h.ok);
	assert_int_equal(h.warnings.warnings, 5);
	const struct issue *i = h.warnings.issues.at;
	assert_str(i[0].message, "unknown setting 'job'");
	assert_str(i[0].hint, "did you mean 'jobs'?");
	assert_int_equal(i[0].line, 1);
	assert_str(i[1].message, "unknown setting 'retentoin'");
	assert_str(i[1].hint, "did you mean 'retention'?");
	assert_int_equal(i[1].column, 2);
	assert_str(i[2].message, "unknown setting 'max_run'");
	assert_str(i[2].hint, "did you mean 'max_runs'?");
	assert_str(i[3].message, "unknown setting 'zzz'");
	assert_str(i[3].hint, "it has no effect: remove it");
	assert_int_equal(i[3].line, 5);
	assert_str(i[4].message, "unknown setting 'telegram'");
	close_home(&h);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_file_there_are_defaults),
		cmocka_unit_test(an_empty_file_says_nothing),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(what_is_given_is_told_from_its_default),
		cmocka_unit_test(collections_are_absolute_and_in_order),
		cmocka_unit_test(xdg_config_home_comes_first_when_absolute),
		cmocka_unit_test(the_variable_beats_the_file),
		cmocka_unit_test(refuses_what_does_not_parse),
		cmocka_unit_test(refuses_values_of_the_wrong_kind),
		cmocka_unit_test(finds_every_mistake_in_one_go),
		cmocka_unit_test(refuses_what_cannot_be_read),
		cmocka_unit_test(unknown_keys_are_warnings),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("settings", tests, NULL, NULL);
}
