#include "cmdline/completion.h"

static const char functions[] =
	"# fish completion for roux, made by 'roux completion fish'.\n"
	"# Put it into ~/.config/fish/completions/roux.fish, or: roux completion fish | source\n"
	"\n"
	"# Whether the command is the one named first.\n"
	"function __roux_is\n"
	"    set -l words (commandline -opc)\n"
	"    test (count $words) -ge 2; and test $words[2] = $argv[1]\n"
	"end\n"
	"\n"
	"# The same while it has no operand; the other arguments are its options with a value.\n"
	"function __roux_first\n"
	"    __roux_is $argv[1]; or return\n"
	"    set -l words (commandline -opc)\n"
	"    set -l skip no\n"
	"    for word in $words[3..-1]\n"
	"        if test $skip = yes\n"
	"            set skip no\n"
	"        else if contains -- $word $argv[2..-1]\n"
	"            set skip yes\n"
	"        else if not string match -qr -- '^-.' $word\n"
	"            return 1\n"
	"        end\n"
	"    end\n"
	"end\n"
	"\n"
	"function __roux_none\n"
	"    test (count (commandline -opc)) -eq 1\n"
	"end\n"
	"\n"
	"function __roux_ask\n"
	"    command roux complete $argv[1] 2>/dev/null </dev/null\n"
	"end\n"
	"\n"
	"# Those that the command can be about.\n"
	"function __roux_runs\n"
	"    set -l words (commandline -opc)\n"
	"    command roux complete runs $words[2] 2>/dev/null </dev/null\n"
	"end\n"
	"\n"
	"# The nodes of the run that is among the words.\n"
	"function __roux_nodes\n"
	"    set -l words (commandline -opc)\n"
	"    command roux complete nodes -- $words[3..-1] 2>/dev/null </dev/null\n"
	"end\n"
	"\n"
	"# The tools that the first of the words can be about.\n"
	"function __roux_tools\n"
	"    set -l words (commandline -opc)\n"
	"    command roux complete tools -- $words[3..-1] 2>/dev/null </dev/null\n"
	"end\n"
	"\n"
	"# Behind a comma another one.\n"
	"function __roux_statuses\n"
	"    set -l before (string match -r '^(?:-.*=)?(.*,)?' -- (commandline -ct))[2]\n"
	"    __roux_ask statuses | string replace -r '^' \"$before\"\n"
	"end\n"
	"\n"
	"# The arguments of the recipe that is among the words.\n"
	"function __roux_args\n"
	"    set -l words (commandline -opc)\n"
	"    command roux complete args -- $words[3..-1] 2>/dev/null </dev/null\n"
	"    # A value may be a file.\n"
	"    set -l word (commandline -ct)\n"
	"    set -l name (string match -r '^[^=]+=' -- $word); or return\n"
	"    __fish_complete_path (string replace -- $name '' $word) | string replace -r '^' "
	"$name\n"
	"end\n"
	"\n"
	"# The files after an @.\n"
	"function __roux_at_files\n"
	"    set -l word (commandline -ct)\n"
	"    string match -q -- '@*' $word; or return\n"
	"    __fish_complete_path (string sub -s 2 -- $word) | string replace -r '^' '@'\n"
	"end\n"
	"\n"
	"complete -c roux -e\n"
	"complete -c roux -f\n";

/* What follows `complete -c roux -n CONDITION` for an operand, or the option for a value. */
static const char *const actions[] = {
	[COMPLETE_NONE] = "",
	[COMPLETE_FILE] = " -F",
	[COMPLETE_DIR] = " -a '(__fish_complete_directories (commandline -ct))'",
	[COMPLETE_TEMPLATE] = " -F -a '(__roux_at_files)'",
	[COMPLETE_RECIPE] = " -F -a '(__roux_ask recipes; __roux_at_files)'",
	[COMPLETE_RUN] = " -a '(__roux_runs)'",
	[COMPLETE_NODE] = " -a '(__roux_nodes)'",
	[COMPLETE_TOOL] = " -a '(__roux_tools)'",
	[COMPLETE_STATUS] = " -a '(__roux_statuses)'",
	[COMPLETE_COMMAND] = " -a '(__roux_commands)'",
	[COMPLETE_WORDS] = " -a '", /* and the words */
};

static void quoted(struct buf *b, const char *text)
{
	buf_addc(b, '\'');
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			buf_addc(b, '\\');
		buf_addc(b, *text);
	}
	buf_addc(b, '\'');
}

static void option(const struct command *c, const struct opt *o, struct buf *b)
{
	enum complete_kind kind = opt_complete(o);

	buf_printf(b, "complete -c roux -n '__roux_is %s'", c->name);
	if (o->letter)
		buf_printf(b, " -s %c", o->letter);
	if (o->name)
		buf_printf(b, " -l %s", o->name);
	if (o->kind == OPT_KIND_CHOICE) {
		buf_adds(b, " -x -a '");
		for (size_t i = 0; o->choices[i]; i++)
			buf_printf(b, "%s%s", i ? " " : "", o->choices[i]);
		buf_addc(b, '\'');
	} else if (o->kind != OPT_KIND_FLAG) {
		buf_adds(b, kind == COMPLETE_FILE || kind == COMPLETE_RECIPE ? " -r" : " -x");
		buf_adds(b, actions[kind]);
	}
	buf_adds(b, " -d ");
	quoted(b, o->help);
	buf_addc(b, '\n');
}

/* The spellings of the options of `c` that take a value, each after a space. */
static void valued(const struct command *c, struct buf *b)
{
	AUTO_BUF spelling = BUF_INIT;

	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			for (enum opt_form form = 0; form < OPT_FORM_COUNT; form++)
				if (set->opts[i].kind != OPT_KIND_FLAG &&
					opt_spelling(&set->opts[i], form, &spelling))
					buf_printf(b, " %s", buf_cstr(&spelling));
}

static void operand(const struct command *c, struct buf *b)
{
	enum complete_kind second = completion_second(c);

	if (!completion_has_operand(c))
		return;
	buf_printf(b, "complete -c roux -n '__roux_%s %s",
		command_completes_all(c) ? "is" : "first", c->name);
	if (!command_completes_all(c))
		valued(c, b);
	buf_printf(b, "'%s", actions[c->complete]);
	if (c->complete == COMPLETE_WORDS) {
		completion_add_operands(c, b);
		buf_addc(b, '\'');
	}
	buf_addc(b, '\n');
	if (!completion_takes_values(c) && !second)
		return;
	buf_printf(
		b, "complete -c roux -n '__roux_is %s; and not __roux_first %s", c->name, c->name);
	valued(c, b);
	buf_printf(b, "'%s\n", second ? actions[second] : " -a '(__roux_args)'");
}

static void command(const struct command *c, struct buf *b)
{
	buf_printf(b, "\ncomplete -c roux -n __roux_none -a %s -d ", c->name);
	quoted(b, c->summary);
	buf_addc(b, '\n');
	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			option(c, &set->opts[i], b);
	operand(c, b);
}

void completion_fish(const struct command *const *commands, size_t count, struct buf *b)
{
	buf_adds(b, functions);
	buf_adds(b, "\nfunction __roux_commands\n    printf '%s\\n'");
	completion_add_commands(commands, count, b);
	buf_adds(b, "\nend\n");
	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			command(commands[i], b);
}
