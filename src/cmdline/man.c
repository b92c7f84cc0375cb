#include "cmdline/man.h"

#include "cmdline/wrap.h"

/* Text that scdoc prints as it is. */
static void escaped(struct buf *b, struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		if (strchr("\\*_+", text.p[i]) && text.p[i])
			buf_addc(b, '\\');
		buf_addc(b, text.p[i]);
	}
}

/* A paragraph on one line: scdoc gives a meaning to characters at the beginning of a line. */
static void paragraph(struct buf *b, struct str text, const char *indent)
{
	AUTO_BUF line = BUF_INIT;

	buf_add(&line, text);
	for (size_t i = 0; i < line.len; i++)
		if (line.p[i] == '\n')
			line.p[i] = ' ';
	buf_adds(b, indent);
	if (line.len && strchr("#-;[]|`", line.p[0]))
		buf_addc(b, '\\');
	escaped(b, buf_str(&line));
	buf_addc(b, '\n');
}

/* Lines as they are, in a literal block. */
static void literal(struct buf *b, struct str text, const char *indent)
{
	buf_printf(b, "%s```\n", indent);
	while (text.len) {
		size_t end = str_find(text, '\n', 0);

		buf_printf(b, "%s%.*s\n", indent, STR(str_sub(text, 0, end)));
		text = str_from(text, MIN(end + 1, text.len));
	}
	buf_printf(b, "%s```\n", indent);
}

static void command(const struct command *c, struct buf *b)
{
	struct str rest = str_of(c->details);

	buf_printf(b, "*roux %s*", c->name);
	if (c->operands) {
		buf_addc(b, ' ');
		escaped(b, str_of(c->operands));
	}
	buf_addc(b, '\n');
	paragraph(b, str_of(c->summary), "\t");
	for (struct paragraph p; paragraph_next(&rest, &p);) {
		buf_addc(b, '\n');
		if (p.verbatim)
			literal(b, p.text, "\t");
		else
			paragraph(b, p.text, "\t");
	}
	buf_addc(b, '\n');
}

void man_commands(const struct command *const *commands, size_t count, struct buf *b)
{
	for (size_t i = 0; i < count; i++) {
		const struct command *c = commands[i];

		if (c->hidden)
			continue;
		if (c->heading)
			buf_printf(b, "## %s\n\n", c->heading);
		command(c, b);
	}
}

static void option(const struct opt *o, struct buf *b)
{
	AUTO_BUF spelling = BUF_INIT;
	AUTO_BUF value = BUF_INIT;
	const char *between = "";

	for (enum opt_form form = 0; form < OPT_FORM_COUNT; form++) {
		if (!opt_spelling(o, form, &spelling))
			continue;
		buf_printf(b, "%s*", between);
		escaped(b, buf_str(&spelling));
		buf_addc(b, '*');
		between = ", ";
	}
	opt_value_name(o, &value);
	if (value.len) {
		buf_adds(b, " _");
		escaped(b, buf_str(&value));
		buf_addc(b, '_');
	}
	buf_addc(b, '\n');
	paragraph(b, str_of(o->help), "\t");
	buf_addc(b, '\n');
}

void man_options(const struct command *c, struct buf *b)
{
	buf_printf(b, "## roux %s\n\n", c->name);
	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));) {
		if (set->title) {
			escaped(b, str_of(set->title));
			buf_adds(b, ":\n\n");
		}
		for (size_t i = 0; i < set->count; i++)
			option(&set->opts[i], b);
	}
}
