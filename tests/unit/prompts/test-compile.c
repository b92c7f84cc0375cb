#include "prompts/compile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/program.h"

#include "unit.h"

/* Values that break whoever treats them as text. */
static const struct str hostile[] = {
	S(""),
	S("it's"),
	S("'''"),
	S("say \"hi\""),
	S("$(touch pwned)"),
	S("`touch pwned`"),
	S("$HOME ${HOME} $1 ${1} $@"),
	S("'; touch pwned; '"),
	S("\"; touch pwned; \""),
	S("l1\nl2\n"),
	S("\n"),
	S("a\\b\\\\c\\"),
	S("a && b || c | d & e; f"),
	S("x > pwned < y"),
	S("* ? [a-z] {a,b} {prompt} {bin}"),
	S("~ ~/x # not a comment"),
	S("100% %s %d \\0 \\n"),
	S("-n"),
	S("--help"),
	S("na\xc3\xafve \xe2\x98\x83 \xe6\x97\xa5"),
	S("\xff\xfe\x80 \xc3"),
	S("  padded\t "),
	S("a'b\"c$(touch pwned)`touch pwned`\\d\n'"),
	S("\x01\x1b[31m\x7f"),
	S("a[$(touch pwned)]"),
	S("EOF\n$(touch pwned)\nEOF"),
};

static void compile_with(struct arena *a, struct str command, struct str value, const char *shell,
	struct compiled *ret)
{
	struct placeholder_values v = { 0 };
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF told = BUF_INIT;

	v.at[PH_BIN] = S("printf");
	v.at[PH_PROMPT] = value;
	v.at[PH_ROLE] = S("you're \"it\" $(touch pwned)");
	v.at[PH_MODEL] = S("m 1");
	bool ok = prompt_compile(a,
		&(struct compile_input){ .command = command,
			.kinds = IN_AGENT,
			.values = &v,
			.home = S("/home/me"),
			.shell = shell },
		ret, &r, &r);
	if (!ok) {
		report_text(&r, REPORT_ALL, &told);
		print_error("%s\n", buf_cstr(&told));
	}
	assert_true(ok);
	assert_int_equal(r.errors, 0);
}

/* What it prints on standard output. */
static void really_run(const struct compiled *c, struct buf *out)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		(void)dup2(fds[1], 1);
		(void)setenv("HOME", "/home/me", 1);
		(void)setenv("LC_ALL", "C", 1);
		for (size_t i = 0; i < c->envc; i++)
			(void)putenv((char *)c->env[i]);
		(void)execvp(c->argv[0], (char *const *)c->argv);
		_exit(127);
	}
	(void)close(fds[1]);
	assert_int_equal(fd_read_all(fds[0], 1 << 22, out), 0);
	(void)close(fds[0]);
	int status;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

/* Words behind `printf '%s\0'`, which prints each with a NUL behind it. */
static const char *const words[] = {
	"{prompt}",
	"'{prompt}'",
	"\"{prompt}\"",
	"a{prompt}b",
	"'a {prompt} b'",
	"\"a {prompt} b\"",
	"--p='{prompt}'x\"y z\"",
	"{prompt}{prompt} '{role}{prompt}' end",
	"'' {prompt} \"\" {model}",
	"~/x ~ '~/x' a~b ~\"/x\" ~{prompt} {prompt}",
	"\\$HOME \\'{prompt}\\\" \"\\\"{prompt}\\\\\" \"\\x\"",
	"'{{prompt}}' {} {prompt}",
	"\"it's {prompt}\" 'say \"{prompt}\"'",
};

static void both_forms_give_the_same_arguments(void **state UNUSED)
{
	static const char *const shells[] = { "sh", "bash", "dash" };

	for (size_t w = 0; w < ARRAY_SIZE(words); w++) {
		for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
			struct arena a = ARENA_INIT;
			AUTO_BUF command = BUF_INIT;
			AUTO_BUF want = BUF_INIT;
			struct compiled direct;

			buf_printf(&command, "{bin} '%%s\\0' %s", words[w]);
			compile_with(&a, buf_str(&command), hostile[i], "sh", &direct);
			assert_int_equal(direct.form, FORM_DIRECT);
			for (size_t k = 2; k < direct.argc; k++) {
				buf_adds(&want, direct.argv[k]);
				buf_addc(&want, '\0');
			}
			buf_adds(&command, " ;");
			for (size_t s = 0; s < ARRAY_SIZE(shells); s++) {
				AUTO_BUF got = BUF_INIT;
				struct compiled shell;

				compile_with(&a, buf_str(&command), hostile[i], shells[s], &shell);
				assert_int_equal(shell.form, FORM_SHELL);
				really_run(&shell, &got);
				assert_bytes(buf_str(&got), buf_str(&want));
			}
			arena_done(&a);
		}
	}
	assert_int_equal(access("pwned", F_OK), -1);
}

/* What the display form does when it is pasted. */
static void paste(const struct compiled *c, struct buf *out)
{
	AUTO_BUF line = BUF_INIT;
	const char *argv[] = { "bash", "-c", NULL, NULL };

	buf_add(&line, c->display);
	argv[2] = buf_cstr(&line);
	really_run(&(struct compiled){ .argv = argv, .argc = 3 }, out);
}

static void the_display_form_can_be_pasted(void **state UNUSED)
{
	static const char *const commands[] = {
		"{bin} '%s\\0' '{prompt}' {role} \"x{prompt}\" ~/a",
		"V='{prompt}' sh -c 'printf \"%s\\0\" \"$V\"' {bin}",
		"{bin} '%s\\0' '{prompt}' \"<{prompt}>\" {prompt} $'x\\t{prompt}' | cat",
		"{bin} '%s\\0' \"$({bin} %s '{prompt}')\"",
		"{bin} '%s\\0' \"`{bin} %s '{prompt}'`\"",
	};

	for (size_t c = 0; c < ARRAY_SIZE(commands); c++) {
		for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
			struct arena a = ARENA_INIT;
			AUTO_BUF want = BUF_INIT;
			AUTO_BUF got = BUF_INIT;
			struct compiled compiled;

			compile_with(&a, str_of(commands[c]), hostile[i], "bash", &compiled);
			really_run(&compiled, &want);
			paste(&compiled, &got);
			assert_bytes(buf_str(&got), buf_str(&want));
			arena_done(&a);
		}
	}
	assert_int_equal(access("pwned", F_OK), -1);
}

static void values_are_data_wherever_the_shell_form_has_them(void **state UNUSED)
{
	/* Each prints the value once with a NUL behind it. */
	static const char *const commands[] = {
		"V='{prompt}'; {bin} '%s\\0' \"$V\"",
		"V={prompt}; {bin} '%s\\0' \"$V\"",
		"{bin} '%s\\0' \"$({bin} '%s.' '{prompt}' | sed '$ s/[.]$//')\" | cat",
		"# it's a comment {prompt}\n{bin} '%s\\0' {prompt}",
		"{bin} '%s\\0' {prompt} # it's over",
		"if true; then {bin} '%s\\0' '{prompt}'; fi",
		"({bin} '%s\\0' '{prompt}')",
		"{bin} '%s\\0' {prompt} > /dev/stdout",
		"cat <<'X' >/dev/null\nit's {prompt}\nX\n{bin} '%s\\0' {prompt}",
		"cat <<X >/dev/null\nit's \"{prompt}\nX\n{bin} '%s\\0' \"{prompt}\"",
		"x=${y:-{}; : ${z:-it}; {bin} '%s\\0' '{prompt}'",
		"{bin} '%s\\0' '{prompt}' $((1 + 1 > 5)) | head -z -n 1",
		"{bin} '%s\\0' \"$(: \"it's ) `: ')'`\")\"'{prompt}'",
	};

	for (size_t c = 0; c < ARRAY_SIZE(commands); c++) {
		for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
			struct arena a = ARENA_INIT;
			AUTO_BUF got = BUF_INIT;
			struct compiled compiled;
			struct str value = hostile[i];

			/* Command substitution itself eats line breaks at the end. */
			if (c == 2 && value.len && value.p[value.len - 1] == '\n')
				continue;
			compile_with(&a, str_of(commands[c]), value, "bash", &compiled);
			assert_int_equal(compiled.form, FORM_SHELL);
			assert_true(!value.len || strstr(commands[c], value.p) ||
				    !strstr(compiled.argv[2], value.p));
			really_run(&compiled, &got);
			assert_true(got.len == value.len + 1);
			assert_bytes(str_sub(buf_str(&got), 0, value.len), value);
			arena_done(&a);
		}
	}
	assert_int_equal(access("pwned", F_OK), -1);
}

static void arithmetic_never_sees_a_value(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct compiled c;

	/* bash would execute the subscript of a[$(…)] in an arithmetic expression. */
	compile_with(&a,
		S("{bin} $(( {prompt} + 1 )) $[{prompt}] ((x={prompt})) \"${a:-{prompt}}\""),
		S("a[$(touch pwned)]"), "bash", &c);
	assert_string_equal(c.argv[2],
		"\"${1}\" $(( {prompt} + 1 )) $[{prompt}] ((x={prompt})) \"${a:-{prompt}}\"");
	assert_int_equal(c.argc, 5);
	arena_done(&a);
}

static void what_needs_a_shell_gets_one(void **state UNUSED)
{
	static const char *const shell[] = { "{bin} a | b", "{bin} &", "a; {bin}", "{bin} <x",
		"{bin} >x", "({bin})", "{bin} $HOME", "{bin} `x`", "{bin} *", "{bin} a?",
		"{bin} [a]", "{bin}\nx", "# {bin}", "! {bin}", "{bin} {a,b}", "{bin} x{1..3}",
		"exec {bin}", "exit {bin}", ". {bin}", "set {bin}", "if {bin}", "{bin} \"$x\"",
		"{bin} \"`x`\"", "A={bin}", "{bin} ~root/x", "A=~/x:~/y {bin}", "{bin} A=~/x",
		"{bin} $'x'", "cd {bin}", "", "{bin} #x", "A+=b {bin}", "{ {bin}", "{bin} a\\\nb" };
	static const char *const direct[] = { "{bin}", "  {bin}\t a  ", "A=b {bin} '|&;' \"a;b\"",
		"{bin} a#b a!b", "{bin} \\; \\|", "{bin} {} {x} a,b '{a,b}' '$x'", "A= {bin}",
		"{bin} exit if", "env A=b {bin}", "{bin} --x=~/y" };

	for (size_t i = 0; i < ARRAY_SIZE(shell) + ARRAY_SIZE(direct); i++) {
		bool needs = i < ARRAY_SIZE(shell);
		const char *text = needs ? shell[i] : direct[i - ARRAY_SIZE(shell)];
		struct arena a = ARENA_INIT;
		struct compiled c;

		compile_with(&a, str_of(text), S("v"), "sh", &c);
		if ((c.form == FORM_SHELL) != needs)
			print_error("%s\n", text);
		assert_int_equal(c.form == FORM_SHELL, needs);
		arena_done(&a);
	}
}

static void assignments_are_environment(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct compiled c;

	compile_with(
		&a, S("A='{prompt}' B=x{prompt} C=~/y D= {bin} E={prompt}"), S("it's"), "sh", &c);
	assert_int_equal(c.form, FORM_DIRECT);
	assert_int_equal(c.envc, 4);
	assert_string_equal(c.env[0], "A=it's");
	assert_string_equal(c.env[1], "B=xit's");
	assert_string_equal(c.env[2], "C=/home/me/y");
	assert_string_equal(c.env[3], "D=");
	assert_null(c.env[4]);
	assert_int_equal(c.argc, 2);
	assert_string_equal(c.argv[1], "E=it's");
	assert_null(c.argv[2]);
	assert_str(c.display, "A='it'\\''s' B='xit'\\''s' C=/home/me/y D='' printf 'E=it'\\''s'");
	arena_done(&a);
}

static void references_fit_their_place(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct compiled c;

	compile_with(&a,
		S("{bin} {model} {prompt} 'a {prompt} b' \"a {prompt} b\" $'a {prompt}' "
		  "${prompt};"),
		S("v"), "sh", &c);
	assert_string_equal(c.argv[0], "sh");
	assert_string_equal(c.argv[1], "-c");
	assert_string_equal(c.argv[2], "\"${1}\" \"${2}\" \"${3}\" 'a '\"${3}\"' b' \"a ${3} b\" "
				       "$'a '\"${3}\"$'' ${prompt};");
	assert_string_equal(c.argv[3], "start");
	assert_string_equal(c.argv[4], "printf");
	assert_string_equal(c.argv[5], "m 1");
	assert_string_equal(c.argv[6], "v");
	assert_null(c.argv[7]);
	arena_done(&a);
}

/* The message for a command that is refused. */
static void refuse(struct str command, struct str value, struct buf *told)
{
	struct arena a = ARENA_INIT;
	struct placeholder_values v = { 0 };
	AUTO_REPORT r = REPORT_INIT;
	struct compiled c;

	v.at[PH_BIN] = S("x");
	v.at[PH_PROMPT] = v.at[PH_ROLE] = value;
	assert_false(prompt_compile(&a,
		&(struct compile_input){
			.command = command, .kinds = IN_AGENT, .values = &v, .shell = "sh" },
		&c, &r, &r));
	report_text(&r, REPORT_ALL, told);
	arena_done(&a);
}

static void a_quote_that_never_ends_is_told_with_its_column(void **state UNUSED)
{
	static const struct {
		const char *command, *told;
	} cases[] = {
		{ "{bin} '%s {prompt}", "' in column 7" },
		{ "\xc3\xa9 {bin} \"x", "\" in column 9" },
		{ "{bin} $(x", "$( in column 7" },
		{ "{bin} `x", "` in column 7" },
		{ "{bin} ${x", "${ in column 7" },
		{ "{bin} $'x\\'", "$' in column 7" },
		{ "{bin} \"$(a \"b)\"", "in column" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_BUF told = BUF_INIT;

		refuse(str_of(cases[i].command), S("v"), &told);
		if (!strstr(buf_cstr(&told), cases[i].told))
			print_error("%s\n", buf_cstr(&told));
		assert_non_null(strstr(buf_cstr(&told), cases[i].told));
	}
}

static void what_the_kernel_would_refuse_is_found_before(void **state UNUSED)
{
	AUTO_BUF value = BUF_INIT;
	static const char *const commands[] = { "{bin} '{prompt}'", "{bin} '{prompt}' | cat",
		"V='{prompt}' {bin}" };

	buf_fill(&value, 'x', PROGRAM_STRING_MAX);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		AUTO_BUF told = BUF_INIT;

		refuse(str_of(commands[i]), buf_str(&value), &told);
		assert_non_null(strstr(buf_cstr(&told), "{prompt} is 131072 bytes"));
		assert_non_null(strstr(buf_cstr(&told), "{prompt_file}"));
	}
	AUTO_BUF told = BUF_INIT;
	refuse(S("{bin} {role}"), buf_str(&value), &told);
	assert_non_null(strstr(buf_cstr(&told), "{role_file}"));

	/* One byte less is fine, and arrives. */
	struct arena a = ARENA_INIT;
	struct compiled c;
	AUTO_BUF got = BUF_INIT;
	buf_truncate(&value, PROGRAM_STRING_MAX - 1);
	compile_with(&a, S("{bin} %s {prompt}"), buf_str(&value), "sh", &c);
	really_run(&c, &got);
	assert_bytes(buf_str(&got), buf_str(&value));
	arena_done(&a);
}

static void nul_bytes_are_left_out_with_a_warning(void **state UNUSED)
{
	struct arena a = ARENA_INIT;
	struct placeholder_values v = { 0 };
	AUTO_REPORT r = REPORT_INIT;
	struct compiled c;

	v.at[PH_BIN] = S("x");
	v.at[PH_PROMPT] = S("a\0b\0");
	assert_true(prompt_compile(&a,
		&(struct compile_input){
			.command = S("{bin} {prompt} {prompt}"), .kinds = IN_AGENT, .values = &v },
		&c, &r, &r));
	assert_int_equal(r.warnings, 1);
	assert_string_equal(c.argv[1], "ab");
	assert_string_equal(c.argv[2], "ab");
	arena_done(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_forms_give_the_same_arguments),
		cmocka_unit_test(the_display_form_can_be_pasted),
		cmocka_unit_test(values_are_data_wherever_the_shell_form_has_them),
		cmocka_unit_test(arithmetic_never_sees_a_value),
		cmocka_unit_test(what_needs_a_shell_gets_one),
		cmocka_unit_test(assignments_are_environment),
		cmocka_unit_test(references_fit_their_place),
		cmocka_unit_test(a_quote_that_never_ends_is_told_with_its_column),
		cmocka_unit_test(what_the_kernel_would_refuse_is_found_before),
		cmocka_unit_test(nul_bytes_are_left_out_with_a_warning),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("prompts compile", tests, NULL, NULL);
}
