#include "cmdline/help.h"

#include "base/utf8.h"
#include "cmdline/wrap.h"

enum {
	INDENT = 2,
	INDENT_WHAT = 6, /* of what an example does, below it */
	GAP = 2,         /* at least this much between the columns */
	LABEL_MAX = 24,  /* a wider label has a line for itself */
};

/* The column where explanations begin, when the widest label that shares their line is `widest`. */
static size_t column_after(size_t widest)
{
	return INDENT + widest + GAP;
}

/* One row of two columns. */
static void row(struct buf *b, struct str label, struct str text, size_t column)
{
	buf_fill(b, ' ', INDENT);
	buf_add(b, label);
	if (wrap_column(b) + GAP > column)
		buf_addc(b, '\n');
	buf_fill(b, ' ', column - wrap_column(b));
	wrap_words(b, text, column);
	buf_addc(b, '\n');
}

static void usage(struct buf *b, struct str line)
{
	buf_adds(b, "Usage: ");
	wrap_words(b, line, strlen("Usage: roux "));
	buf_addc(b, '\n');
}

static void heading(struct buf *b, const char *title)
{
	buf_printf(b, "\n%s:\n", title);
}

/* The summary as a sentence. */
static void summary(struct buf *b, const struct command *c)
{
	AUTO_BUF sentence = BUF_INIT;

	buf_printf(&sentence, "%s.", c->summary);
	if (sentence.p[0] >= 'a' && sentence.p[0] <= 'z')
		sentence.p[0] = (char)(sentence.p[0] - 'a' + 'A');
	buf_addc(b, '\n');
	wrap_words(b, buf_str(&sentence), 0);
	buf_addc(b, '\n');
}

static void details(struct buf *b, const struct command *c)
{
	struct str rest = str_of(c->details);

	for (struct paragraph p; paragraph_next(&rest, &p);) {
		buf_addc(b, '\n');
		if (p.verbatim)
			buf_add(b, p.text);
		else
			wrap_words(b, p.text, 0);
		buf_addc(b, '\n');
	}
}

/* "-j, --jobs N", with the names one below the other. */
static void label(const struct opt *o, struct buf *ret)
{
	AUTO_BUF spelling = BUF_INIT;

	buf_reset(ret);
	if (opt_spelling(o, OPT_FORM_LETTER, &spelling))
		buf_printf(ret, "%s%s", buf_cstr(&spelling), o->name ? ", " : "");
	else
		buf_fill(ret, ' ', strlen("-j, "));
	if (opt_spelling(o, OPT_FORM_NAME, &spelling))
		buf_add(ret, buf_str(&spelling));
	if (o->kind != OPT_KIND_FLAG)
		buf_addc(ret, ' ');
	opt_value_name(o, ret);
}

static size_t widest_label(const struct command *c)
{
	AUTO_BUF text = BUF_INIT;
	size_t widest = 0;

	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));) {
		for (size_t i = 0; i < set->count; i++) {
			label(&set->opts[i], &text);
			size_t width = utf8_count(buf_str(&text));
			if (width <= LABEL_MAX)
				widest = MAX(widest, width);
		}
	}
	return widest;
}

static void options(struct buf *b, const struct command *c)
{
	size_t column = column_after(widest_label(c));
	AUTO_BUF text = BUF_INIT;
	bool first = true;

	for (const struct opt_set *set = NULL; (set = command_next_set(c, set)); first = false) {
		if (set->title || first)
			heading(b, set->title ? set->title : "Options");
		for (size_t i = 0; i < set->count; i++) {
			label(&set->opts[i], &text);
			row(b, buf_str(&text), str_of(set->opts[i].help), column);
		}
	}
}

static void examples(struct buf *b, const struct command *c)
{
	if (c->example_count)
		heading(b, "Examples");
	for (size_t i = 0; i < c->example_count; i++) {
		const struct command_example *e = &c->examples[i];

		/* Never wrapped: it is there to be copied. */
		buf_printf(b, "  %s\n", e->line);
		if (!e->what)
			continue;
		buf_fill(b, ' ', INDENT_WHAT);
		wrap_words(b, str_of(e->what), INDENT_WHAT);
		buf_addc(b, '\n');
	}
}

void help_command(const struct command *c, struct buf *b)
{
	AUTO_BUF line = BUF_INIT;

	command_usage(c, &line);
	usage(b, buf_str(&line));
	summary(b, c);
	details(b, c);
	options(b, c);
	examples(b, c);
}

void help_overview(const struct command *const *commands, size_t count, struct buf *b)
{
	size_t widest = 0;
	bool first = true;

	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			widest = MAX(widest, strlen(commands[i]->name));

	usage(b, S("roux COMMAND [OPTION]... [OPERAND]..."));
	buf_addc(b, '\n');
	wrap_words(b,
		S("roux runs recipes: deterministic local automation that people, scripts and "
		  "agents share."),
		0);
	buf_addc(b, '\n');

	for (size_t i = 0; i < count; i++) {
		const struct command *c = commands[i];

		if (c->hidden)
			continue;
		if (c->heading || first)
			heading(b, c->heading ? c->heading : "Commands");
		row(b, str_of(c->name), str_of(c->summary), column_after(widest));
		first = false;
	}

	heading(b, "Programs of their own");
	buf_adds(b, "  roux serve          runs and recipes in a browser\n"
		    "  roux telegram       runs and agents in a chat\n");
	heading(b, "More help");
	buf_adds(b,
		"  roux help COMMAND   what a command takes; roux COMMAND --help says the same\n"
		"  man roux            everything in one place\n");
	heading(b, "A first example");
	buf_adds(b, "  roux exec 'echo hello {name=world}'\n");
}
