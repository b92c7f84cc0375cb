/* Compiling an agent's command: the shell text never contains a value, and every word of the direct
 * form is made of the command and whole values. The first line is the command, the rest the value.
 */
#include <string.h>

#include "prompts/compile.h"

#include "fuzz.h"

enum { COMMAND_MAX = 4096 };

/* A value that no command can have written by itself. */
static void marked(struct buf *b, const char *mark, struct str value)
{
	buf_adds(b, mark);
	for (size_t i = 0; i < value.len && i < 512; i++)
		buf_addc(b, value.p[i] ? value.p[i] : ' ');
	buf_adds(b, mark);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
		n++;
	return n;
}

/* Each mark stands at both ends of a value, so whole values have an even number of them. */
static void check_words(const char *const *words, size_t words_count, struct str value)
{
	for (size_t i = 0; i < words_count; i++) {
		const char *at = strstr(words[i], "\x01M");

		HOLDS(count(words[i], "\x01M") % 2 == 0);
		HOLDS(!at || strncmp(at, value.p, value.len) == 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str input = fuzz_str(data, size), command;
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF prompt = BUF_INIT;
	struct placeholder_values v = { 0 };
	struct compiled c = { 0 };
	size_t end = str_find(input, '\0', 0);

	command = str_sub(input, 0, MIN(end, (size_t)COMMAND_MAX));
	struct str rest = end < input.len ? str_from(input, end + 1) : S("");
	if (strstr(arena_cstr(&a, command), "\x01M") || str_contains(rest, S("\x01M"))) {
		arena_done(&a);
		return 0;
	}
	marked(&prompt, "\x01M", rest);
	v.at[PH_PROMPT] = v.at[PH_ROLE] = v.at[PH_MODEL] = buf_str(&prompt);
	v.at[PH_BIN] = S("agent");
	v.at[PH_DATE] = S("2025-01-07T14:30:00Z");
	bool ok = prompt_compile(&a,
		&(struct compile_input){ .command = command,
			.kinds = IN_AGENT,
			.values = &v,
			.home = S("/home/me"),
			.shell = "sh" },
		&c, &r, &r);
	HOLDS(ok == (r.errors == 0));
	if (ok && c.form == FORM_SHELL) {
		HOLDS(c.argc >= 4 && strcmp(c.argv[1], "-c") == 0 && c.envc == 0);
		HOLDS(!strstr(c.argv[2], "\x01M"));
		check_words(c.argv + 4, c.argc - 4, buf_str(&prompt));
	} else if (ok) {
		HOLDS(c.argc >= 1);
		check_words(c.argv, c.argc, buf_str(&prompt));
		check_words(c.env, c.envc, buf_str(&prompt));
	}
	HOLDS(!ok || (!c.argv[c.argc] && !c.env[c.envc]));
	arena_done(&a);
	return 0;
}
