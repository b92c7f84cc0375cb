#include "cmdline/command.h"

#include "cmdline/parse.h"

static const struct opt help_opts[] = {
	OPT_FLAG('h', "help", struct cmdline_result, help, "show this help"),
};

const struct opt_set command_help = OPT_SET(NULL, help_opts);

const struct command *command_find(
	const struct command *const *commands, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(str_of(commands[i]->name), name))
			return commands[i];
	return NULL;
}

const struct opt_set *command_next_set(const struct command *c, const struct opt_set *set)
{
	if (set == &command_help)
		return NULL;
	if (c->set_count && !set)
		return c->sets;
	return set && set + 1 < c->sets + c->set_count ? set + 1 : &command_help;
}

void command_usage(const struct command *c, struct buf *b)
{
	buf_printf(b, "roux %s [OPTION]...", c->name);
	if (c->operands)
		buf_printf(b, " %s", c->operands);
}

/* Word `i` of the operands as written, brackets and all. */
static struct str operand_word(const struct command *c, size_t i)
{
	struct str rest = str_trim(str_of(c->operands));

	for (;;) {
		size_t end = str_find(rest, ' ', 0);

		if (i-- == 0)
			return str_sub(rest, 0, end);
		rest = str_trim(str_from(rest, end));
	}
}

struct str command_operand(const struct command *c, size_t i)
{
	struct str word = operand_word(c, i);

	if (str_ends(word, S("...")))
		word.len -= 3;
	if (str_starts(word, S("[")))
		word = str_from(word, 1);
	if (str_ends(word, S("]")))
		word.len--;
	return word;
}

bool command_completes_all(const struct command *c)
{
	return str_ends(operand_word(c, 0), S("..."));
}

bool opt_spelling(const struct opt *o, enum opt_form form, struct buf *ret)
{
	buf_reset(ret);
	if (form == OPT_FORM_LETTER && o->letter)
		buf_printf(ret, "-%c", o->letter);
	else if (form == OPT_FORM_NAME && o->name)
		buf_printf(ret, "--%s", o->name);
	return ret->len > 0;
}

void opt_value_name(const struct opt *o, struct buf *b)
{
	if (o->kind != OPT_KIND_CHOICE) {
		buf_adds(b, o->arg ? o->arg : "");
		return;
	}
	for (size_t i = 0; o->choices[i]; i++)
		buf_printf(b, "%s%s", i ? "|" : "", o->choices[i]);
}

enum complete_kind opt_complete(const struct opt *o)
{
	static const struct {
		const char *arg;
		enum complete_kind kind;
	} known[] = {
		{ "FILE", COMPLETE_FILE },
		{ "FILE|-", COMPLETE_FILE },
		{ "PATH", COMPLETE_FILE },
		{ "DIR", COMPLETE_DIR },
		{ "RECIPE", COMPLETE_RECIPE },
		{ "RUN", COMPLETE_RUN },
		{ "NODE", COMPLETE_NODE },
		{ "STATUS", COMPLETE_STATUS },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (str_eq(str_of(o->arg), str_of(known[i].arg)))
			return known[i].kind;
	return COMPLETE_NONE;
}
