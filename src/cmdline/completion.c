#include "cmdline/completion.h"

#include <string.h>

#include "base/utf8.h"
#include "cmdline/suggest.h"

const char *const completion_shells[] = { "bash", "zsh", "fish", NULL };

static void (*const writers[])(const struct command *const *, size_t, struct buf *) = {
	completion_bash,
	completion_zsh,
	completion_fish,
};

_Static_assert(ARRAY_SIZE(writers) + 1 == ARRAY_SIZE(completion_shells), "one for each shell");

bool completion_script(struct str shell, const struct command *const *commands, size_t count,
	struct buf *b, struct report *r)
{
	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		if (str_eq(shell, str_of(completion_shells[i]))) {
			writers[i](commands, count, b);
			return true;
		}
	}
	AUTO_BUF words = BUF_INIT;
	suggest_list(completion_shells, &words);
	report_error(r, (struct where){ 0 }, "there is completion for %s, found '%.*s'",
		buf_cstr(&words), STR(utf8_cut(shell, 60)));
	suggest_word(completion_shells, shell, r);
	return false;
}

bool completion_takes_values(const struct command *c)
{
	return c->complete == COMPLETE_RECIPE && c->operands && strstr(c->operands, "name=value");
}

enum complete_kind completion_second(const struct command *c)
{
	struct str word = command_operand(c, 1);

	if (c->complete == COMPLETE_RUN && str_eq(word, S("NODE")))
		return COMPLETE_NODE;
	return c->complete == COMPLETE_WORDS && str_eq(word, S("NAME")) ? COMPLETE_TOOL
									: COMPLETE_NONE;
}

bool completion_has_operand(const struct command *c)
{
	return c->max_operands && c->complete != COMPLETE_NONE;
}

void completion_add_commands(const struct command *const *commands, size_t count, struct buf *b)
{
	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			buf_printf(b, " %s", commands[i]->name);
}

void completion_add_operands(const struct command *c, struct buf *b)
{
	struct str rest = command_operand(c, 0);

	while (rest.len) {
		size_t end = str_find(rest, '|', 0);

		buf_printf(b, " %.*s", (int)end, rest.p);
		rest = str_from(rest, MIN(end + 1, rest.len));
	}
}

void completion_add_words(const char *const *words, struct buf *b)
{
	for (size_t i = 0; words[i]; i++)
		buf_printf(b, " %s", words[i]);
}
