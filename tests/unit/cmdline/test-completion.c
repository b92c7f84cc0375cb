#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "cmdline/completion.h"
#include "table.h"

/* The scripts are run by the real shells, in a folder with a few files and a stand-in for roux. */
struct fixture {
	char dir[64];
};

static void put(const struct fixture *f, const char *name, struct str text)
{
	AUTO_BUF path = BUF_INIT;

	buf_printf(&path, "%s/%s", f->dir, name);
	FILE *file = fopen(buf_cstr(&path), "w");
	assert_non_null(file);
	assert_int_equal(fwrite(text.p, 1, text.len, file), text.len);
	assert_int_equal(fclose(file), 0);
}

/* What a shell command prints when run in the folder, with the stand-in first in PATH. */
static void output(const struct fixture *f, const char *line, struct buf *ret)
{
	AUTO_BUF whole = BUF_INIT;
	char block[4096];

	buf_reset(ret);
	buf_printf(&whole, "cd %s/files && PATH=%s:$PATH && { %s\n} 2>&1", f->dir, f->dir, line);
	FILE *pipe = popen(buf_cstr(&whole), "r");
	assert_non_null(pipe);
	for (size_t n; (n = fread(block, 1, sizeof(block), pipe)) > 0;)
		buf_add(ret, (struct str){ block, n });
	pclose(pipe);
}

static int set_up(void **state)
{
	static struct fixture f;
	AUTO_BUF b = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	(void)snprintf(f.dir, sizeof(f.dir), "/tmp/roux-completion-XXXXXX");
	assert_non_null(mkdtemp(f.dir));
	for (size_t i = 0; completion_shells[i]; i++) {
		buf_reset(&b);
		assert_true(completion_script(
			str_of(completion_shells[i]), commands, ARRAY_SIZE(commands), &b, &r));
		put(&f, completion_shells[i], buf_str(&b));
	}
	/* `runs` fails after its first word and complains: neither may be seen. */
	put(&f, "roux",
		S("#!/bin/sh\n"
		  "case $* in\n"
		  "'complete recipes') printf '%s\\n' review 'release$(touch bad)' nightly ;;\n"
		  "'complete runs'*) echo review-1; echo oops >&2; exit 1 ;;\n"
		  "esac\n"));
	/* Completes its arguments as words of a command line, and prints one candidate a line. */
	put(&f, "ask-bash",
		S("source \"${0%/*}/bash\"\n"
		  "COMP_WORDS=(\"$@\") COMP_CWORD=$(($# - 1)) COMP_LINE=\"$LINE\"\n"
		  "COMP_POINT=${#COMP_LINE}\n"
		  "_roux\n"
		  "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n"));
	*state = &f;

	AUTO_BUF shell = BUF_INIT;
	buf_printf(&shell,
		"cd %s && chmod +x roux && mkdir -p files/folder && cd files && "
		"touch file.json 'my file' folder/inner.json",
		f.dir);
	return system(buf_cstr(&shell));
}

static int tear_down(void **state)
{
	const struct fixture *f = *state;
	AUTO_BUF shell = BUF_INIT;

	buf_printf(&shell, "rm -rf %s", f->dir);
	return system(buf_cstr(&shell));
}

/* `words` as bash parts them, `line` as it was typed (empty: the words as they are). */
static void assert_bash(
	const struct fixture *f, const char *line, const char *words, const char *expected)
{
	AUTO_BUF command = BUF_INIT;
	AUTO_BUF out = BUF_INIT;

	buf_printf(&command, "LINE='%s' bash ../ask-bash %s", line, words);
	output(f, buf_cstr(&command), &out);
	assert_string_equal(buf_cstr(&out), expected);
}

static void bash_completes_commands_and_options(void **state)
{
	assert_bash(*state, "", "roux ''",
		"run\nexec\ncheck\nlist\nstatus\nmessage\ncompletion\nhelp\n");
	assert_bash(*state, "", "roux e", "exec\n");
	assert_bash(*state, "", "roux deb", "");
	assert_bash(*state, "", "roux run --j", "--jobs\n--json\n");
	assert_bash(*state, "", "roux list -", "-a\n--all\n--json\n-C\n-h\n--help\n");
	assert_bash(*state, "", "roux run review --de", "--detach\n");
	assert_bash(*state, "", "roux run -- --de", "");
	assert_bash(*state, "", "roux nosuch ''", "");
}

static void bash_completes_the_values_of_options(void **state)
{
	assert_bash(*state, "", "roux run --progress ''", "auto\ntree\nplain\nnone\n");
	assert_bash(*state, "", "roux run -p t", "tree\n");
	assert_bash(*state, "", "roux run --values fi", "file.json\n");
	assert_bash(*state, "", "roux run -C f", "folder\n");
	assert_bash(*state, "", "roux run --as ''", "");
	assert_bash(*state,
		"roux run --progress=", "roux run --progress =", "auto\ntree\nplain\nnone\n");
	assert_bash(*state, "roux run --progress=t", "roux run --progress = t", "tree\n");
	assert_bash(*state, "roux run --values=fi", "roux run --values = fi", "file.json\n");
}

static void bash_completes_operands(void **state)
{
	assert_bash(*state, "", "roux help mes", "message\n");
	assert_bash(*state, "", "roux completion ''", "bash\nzsh\nfish\n");
	assert_bash(*state, "", "roux completion z", "zsh\n");
	assert_bash(*state, "", "roux completion zsh ''", "");
	assert_bash(*state, "", "roux check x fi", "file.json\n");
	assert_bash(*state, "", "roux exec fi", "file.json\n");
	assert_bash(*state, "roux exec @fi", "roux exec @ fi", "@file.json\n");
	assert_bash(*state, "roux exec @fo", "roux exec @fo", "@folder/\n");
	assert_bash(*state, "", "roux list ''", "");
}

static void bash_asks_roux_for_recipes_and_runs(void **state)
{
	assert_bash(*state, "", "roux run rev", "review\n");
	assert_bash(*state, "", "roux run -j 4 rev", "review\n");
	assert_bash(*state, "", "roux run review rev", "");
	assert_bash(*state, "", "roux run fi", "file.json\n");
	assert_bash(*state, "roux run @fi", "roux run @ fi", "@file.json\n");
	assert_bash(*state, "roux run review in=fi", "roux run review in = fi", "file.json\n");
	assert_bash(*state, "", "roux status ''", "review-1\n");
	assert_bash(*state, "", "roux message review-1 ''", "");
}

static void bash_runs_nothing_that_it_is_told(void **state)
{
	const struct fixture *f = *state;
	AUTO_BUF out = BUF_INIT;

	assert_bash(f, "", "roux run rel", "release\\$\\(touch\\ bad\\)\n");
	output(f, "ls", &out);
	assert_false(str_contains(buf_str(&out), S("bad")));
}

static void assert_quiet(void **state, const char *shell, const char *check)
{
	AUTO_BUF find = BUF_INIT;
	AUTO_BUF out = BUF_INIT;

	buf_printf(&find, "command -v %s >/dev/null", shell);
	if (system(buf_cstr(&find)) != 0) {
		print_message("# left out: there is no %s\n", shell);
		return;
	}
	output(*state, check, &out);
	assert_string_equal(buf_cstr(&out), "");
}

static void bash_reads_its_script(void **state)
{
	assert_quiet(state, "bash", "bash -n ../bash");
}

static void shellcheck_has_nothing_to_say(void **state)
{
	assert_quiet(state, "shellcheck", "shellcheck -s bash ../bash");
}

static void zsh_reads_its_script(void **state)
{
	assert_quiet(state, "zsh", "zsh -fn ../zsh");
	assert_quiet(state, "zsh", "zsh -fc 'source ../zsh'");
}

static void fish_reads_its_script(void **state)
{
	assert_quiet(state, "fish", "HOME=$PWD fish -N -n ../fish");
}

static void assert_fish(const struct fixture *f, const char *line, const char *expected)
{
	AUTO_BUF command = BUF_INIT;
	AUTO_BUF out = BUF_INIT;

	buf_printf(&command,
		"HOME=${PWD%%/*} fish -c 'source ../fish; complete -C \"%s\"' 2>/dev/null", line);
	output(f, buf_cstr(&command), &out);
	assert_string_equal(buf_cstr(&out), expected);
}

static void fish_completes_everything_with_its_help(void **state)
{
	if (system("command -v fish >/dev/null") != 0) {
		print_message("# left out: there is no fish\n");
		return;
	}
	assert_fish(*state, "roux ex", "exec\trun one command template and keep no record of it\n");
	assert_fish(*state, "roux run --det", "--detach\treturn at once with the run's id\n");
	assert_fish(*state, "roux run --progress=t", "--progress=tree\thow progress is shown\n");
	assert_fish(*state, "roux run -j 4 rev", "review\n");
	assert_fish(*state, "roux run review rev", "");
	assert_fish(*state, "roux run review in=fi", "in=file.json\n");
	assert_fish(*state, "roux exec @fi", "@file.json\n");
	assert_fish(*state, "roux completion z", "zsh\n");
	assert_fish(*state, "roux status ", "review-1\n");
	assert_fish(*state, "roux list ", "");
	assert_fish(*state, "roux help mes", "message\n");
}

static void refuses_a_shell_it_does_not_know(void **state)
{
	(void)state;
	AUTO_BUF b = BUF_INIT;
	AUTO_REPORT r = REPORT_INIT;

	assert_false(completion_script(S("fihs"), commands, ARRAY_SIZE(commands), &b, &r));
	assert_int_equal(b.len, 0);
	assert_true(str_eq(r.issues.at[0].message,
		S("there is completion for bash, zsh or fish, found 'fihs'")));
	assert_true(str_eq(r.issues.at[0].hint, S("did you mean 'fish'?")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bash_completes_commands_and_options),
		cmocka_unit_test(bash_completes_the_values_of_options),
		cmocka_unit_test(bash_completes_operands),
		cmocka_unit_test(bash_asks_roux_for_recipes_and_runs),
		cmocka_unit_test(bash_runs_nothing_that_it_is_told),
		cmocka_unit_test(bash_reads_its_script),
		cmocka_unit_test(shellcheck_has_nothing_to_say),
		cmocka_unit_test(zsh_reads_its_script),
		cmocka_unit_test(fish_reads_its_script),
		cmocka_unit_test(fish_completes_everything_with_its_help),
		cmocka_unit_test(refuses_a_shell_it_does_not_know),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("completion", tests, set_up, tear_down);
}
