#include "graph/programs.h"

#define NODE_LIKE                                   \
	{ "-e", "--eval", "-p", "--print" },        \
	{                                           \
		"-r", "-C", "--require", "--import" \
	}
#define PYTHON_LIKE { "-c" }, { "-W", "-X" }, "m", true
#define SHELL_LIKE { "-c" }, { "-o", "-O", "--rcfile", "--init-file" }, .shell = true

/* Programs whose argument is code. */
static const struct {
	const char *program;
	const char *flags[5];  /* what introduces it */
	const char *valued[5]; /* options whose value is the rest of the word, or the next one */
	const char *joined;    /* letters of those whose value is the rest of the word only */
	bool attached;         /* so may be the code: -c1 */
	bool shell;            /* which is worth a word even without code */
	const char *word;      /* that introduces it; NULL: none */
} interpreters[] = {
	{ "sh", SHELL_LIKE },
	{ "bash", SHELL_LIKE },
	{ "dash", SHELL_LIKE },
	{ "zsh", SHELL_LIKE },
	{ "fish", { "-c", "--command" }, .shell = true },
	{ "ksh", SHELL_LIKE },
	{ "ash", SHELL_LIKE },
	{ "mksh", SHELL_LIKE },
	{ "csh", { "-c" }, .shell = true },
	{ "tcsh", { "-c" }, .shell = true },
	{ "pwsh", { "-Command", "-command" }, .shell = true },
	{ "node", NODE_LIKE },
	{ "nodejs", NODE_LIKE },
	{ "deno", { "-e", "--eval" }, .word = "eval" },
	{ "bun", NODE_LIKE, .word = "exec" },
	{ "tsx", NODE_LIKE },
	{ "ts-node", NODE_LIKE },
	{ "python3", PYTHON_LIKE },
	{ "python", PYTHON_LIKE },
	{ "pypy", PYTHON_LIKE },
	{ "ruby", { "-e" }, { "-r", "-I", "-C", "-E" }, "iFKTWx", true },
	{ "perl", { "-e", "-E" }, { "-I" }, "CDFMVdimx", true },
	{ "php", { "-r" }, { "-d", "-c" }, "", true },
	{ "lua", { "-e" }, { "-l" }, "", true },
	{ "luajit", { "-e" }, { "-l" }, "", true },
	{ "Rscript", { "-e" } },
	{ "julia", { "-e", "--eval", "-E", "--print" } },
	{ "elixir", { "-e", "--eval" } },
	{ "jruby", { "-e" }, { "-r", "-I", "-C", "-E" }, "iFKTWx", true },
	{ "raku", { "-e" } },
	{ "groovy", { "-e" } },
	{ "osascript", { "-e" } },
};

/* Whether a program is that one, or a version of it: python3.12. */
static bool is_version_of(struct str program, const char *name)
{
	struct str version =
		str_starts(program, str_of(name)) ? str_from(program, strlen(name)) : S("x");

	for (size_t i = 0; i < version.len; i++)
		if (!ascii_digit(version.p[i]) && version.p[i] != '.')
			return false;
	return true;
}

/* Programs that start another one, which stands behind their own options and operands. */
static const struct prefix {
	const char *program;
	const char *valued[16]; /* options whose value is the next word */
	size_t operands;
	bool assigns; /* NAME=value may stand before it */
} prefixes[] = {
	{ "sudo",
		{ "-u", "-g", "-h", "-p", "-C", "-r", "-t", "-T", "-U", "-D", "-R", "--user",
			"--group", "--host", "--chdir" },
		.assigns = true },
	{ "doas", { "-u", "-C" } },
	{ "env", { "-u", "-C", "--unset", "--chdir" }, .assigns = true },
	{ "nohup", { NULL } },
	{ "busybox", { NULL } },
	{ "nice", { "-n", "--adjustment" } },
	{ "timeout", { "-k", "-s", "--kill-after", "--signal" }, .operands = 1 },
	{ "xargs", { "-a", "-d", "-E", "-I", "-L", "-n", "-P", "-s", "--arg-file", "--delimiter",
			   "--max-args", "--max-chars", "--max-lines", "--max-procs" } },
	{ "stdbuf", { "-i", "-o", "-e", "--input", "--output", "--error" } },
	{ "ionice", { "-c", "-n", "--class", "--classdata" } },
	{ "setsid", { NULL } },
	{ "time", { "-f", "-o", "--format", "--output" } },
	{ "flock", { "-E", "-w", "--conflict-exit-code", "--timeout", "--wait" }, .operands = 1 },
};

struct str program_name(const struct node *n, size_t at)
{
	struct str word = n->words[at].text->raw;
	size_t slash = 0;

	for (size_t i = 0; i < word.len; i++)
		if (word.p[i] == '/')
			slash = i + 1;
	return str_from(word, slash);
}

/* Where the first of the options of one letter stands in a word such as -ec, which is -e and -c;
 * 0: none of them does. `options` ends with NULL or after `count`. */
static size_t first_letter(struct str word, const char *const *options, size_t count)
{
	bool letters = word.len > 1 && word.p[0] == '-' && word.p[1] != '-';

	for (size_t i = 1; letters && i < word.len; i++)
		for (size_t k = 0; k < count && options[k]; k++)
			if (strlen(options[k]) == 2 && options[k][1] == word.p[i])
				return i;
	return 0;
}

/* Whether the value of one of the options in `word` is the next word. */
static bool next_is_value(struct str word, const char *const *options, size_t count)
{
	size_t at = first_letter(word, options, count);

	for (size_t k = 0; k < count && options[k]; k++)
		if (str_eq(word, str_of(options[k])))
			return true;
	return at && at + 1 == word.len;
}

/* --eval=CODE */
static bool has_value(struct str word, const char *flag)
{
	size_t len = strlen(flag);

	return str_starts(word, S("--")) && str_starts(word, str_of(flag)) && word.len > len &&
	       word.p[len] == '=';
}

static const struct prefix *prefix_named(struct str program)
{
	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (str_eq(program, str_of(prefixes[i].program)))
			return &prefixes[i];
	return NULL;
}

/* Behind the options and operands of the prefix that the word `at` names. */
static size_t behind_prefix(const struct node *n, const struct prefix *p, size_t at)
{
	for (at++; at < n->word_count; at++) {
		struct str word = n->words[at].text->raw;

		if (word.len < 2 || word.p[0] != '-')
			break;
		if (str_eq(word, S("--"))) {
			at++;
			break;
		}
		at += next_is_value(word, p->valued, ARRAY_SIZE(p->valued));
	}
	while (p->assigns && at < n->word_count && str_contains(n->words[at].text->raw, S("=")) &&
		!str_starts(n->words[at].text->raw, S("{")))
		at++;
	return at + p->operands;
}

size_t program_word(const struct node *n)
{
	const struct prefix *p;
	size_t at = 0;

	while ((p = prefix_named(program_name(n, at)))) {
		size_t next = behind_prefix(n, p, at);

		if (next >= n->word_count)
			break;
		at = next;
	}
	return at;
}

/* Whether `word` introduces code. *here: it has the code in it. */
static bool introduces_code(size_t which, struct str word, bool *here)
{
	const char *const *flags = interpreters[which].flags;
	const char *joined = interpreters[which].joined;
	size_t count = ARRAY_SIZE(interpreters[which].flags);
	size_t code = first_letter(word, flags, count);
	size_t value = first_letter(
		word, interpreters[which].valued, ARRAY_SIZE(interpreters[which].valued));

	*here = false;
	for (size_t k = 0; k < count && flags[k]; k++) {
		*here |= has_value(word, flags[k]);
		if (*here || str_eq(word, str_of(flags[k])))
			return true;
	}
	for (size_t i = 1; joined && i < code; i++)
		if (strchr(joined, word.p[i]))
			return false;
	*here = interpreters[which].attached && code + 1 < word.len;
	return code && (!value || code < value);
}

struct program_code program_code(const struct node *n, size_t program)
{
	struct str name = program_name(n, program);
	size_t k = 0, at = 0;

	while (k < ARRAY_SIZE(interpreters) && !is_version_of(name, interpreters[k].program))
		k++;
	if (k == ARRAY_SIZE(interpreters))
		return (struct program_code){ 0 };
	for (size_t i = program + 1; i < n->word_count && !at; i++) {
		struct str word = n->words[i].text->raw;
		bool here = false;

		if ((interpreters[k].word && str_eq(word, str_of(interpreters[k].word))) ||
			introduces_code(k, word, &here))
			at = here ? i : i + 1;
		else if (!word.len || word.p[0] != '-')
			break;
		i += next_is_value(
			word, interpreters[k].valued, ARRAY_SIZE(interpreters[k].valued));
	}
	return (struct program_code){ interpreters[k].program, interpreters[k].shell, at };
}

bool program_is_shell(struct str program)
{
	for (size_t i = 0; i < ARRAY_SIZE(interpreters); i++)
		if (interpreters[i].shell && is_version_of(program, interpreters[i].program))
			return true;
	return false;
}
