#include "cmdline/completion.h"

static const char functions[] =
	"#compdef roux\n"
	"# zsh completion for roux, made by 'roux completion zsh'.\n"
	"# Put it into a directory of $fpath as _roux, or: source <(roux completion zsh)\n"
	"\n"
	"# Offers what roux knows; fails when that is nothing.\n"
	"_roux_ask() {\n"
	"\tlocal what=$1\n"
	"\tlocal -a found\n"
	"\tshift\n"
	"\tfound=(${(f)\"$(command roux complete ${=what} 2>/dev/null </dev/null)\"})\n"
	"\t(( $#found )) && compadd \"$@\" -a found\n"
	"}\n"
	"\n"
	"# The same, for the words before the cursor.\n"
	"_roux_behind() {\n"
	"\tlocal what=$1\n"
	"\tlocal -a found\n"
	"\tshift\n"
	"\tfound=(${(f)\"$(command roux complete $what -- ${words[2,CURRENT-1]} 2>/dev/null "
	"</dev/null)\"})\n"
	"\t(( $#found )) && compadd \"$@\" -a found\n"
	"}\n"
	"\n"
	"# The nodes of the run that is among the words.\n"
	"_roux_nodes() {\n"
	"\t_roux_behind nodes \"$@\"\n"
	"}\n"
	"\n"
	"# The tools that the first of the words can be about.\n"
	"_roux_tools() {\n"
	"\t_roux_behind tools \"$@\"\n"
	"}\n"
	"\n"
	"# Behind a comma another one.\n"
	"_roux_statuses() {\n"
	"\tcompset -P '*,'\n"
	"\t_roux_ask statuses \"$@\"\n"
	"}\n"
	"\n"
	"_roux_template() {\n"
	"\tcompset -P @\n"
	"\t_files \"$@\"\n"
	"}\n"
	"\n"
	"_roux_recipe() {\n"
	"\t_roux_ask recipes \"$@\" || _roux_template \"$@\"\n"
	"}\n"
	"\n"
	"_roux_args() {\n"
	"\tlocal -a found\n"
	"\tfound=(${(f)\"$(command roux complete args -- ${words[2,CURRENT-1]} 2>/dev/null "
	"</dev/null)\"})\n"
	"\t(( $#found )) && compadd -S '' -a found && return\n"
	"\tcompset -P '*=' && _files # a value may be a file\n"
	"}\n"
	"\n"
	"_roux_run() {\n"
	"\t_roux_ask \"runs $words[1]\" \"$@\"\n"
	"}\n";

/* The script is either the autoloaded function's file or read as it is. */
static const char end[] = "\n"
			  "if [[ $funcstack[1] == _roux ]]; then\n"
			  "\t_roux \"$@\"\n"
			  "elif (( $+functions[compdef] )); then\n"
			  "\tcompdef _roux roux\n"
			  "fi\n";

static const char *const actions[] = {
	[COMPLETE_NONE] = " ", /* only the description is shown */
	[COMPLETE_FILE] = "_files",
	[COMPLETE_DIR] = "_files -/",
	[COMPLETE_TEMPLATE] = "_roux_template",
	[COMPLETE_RECIPE] = "_roux_recipe",
	[COMPLETE_RUN] = "_roux_run",
	[COMPLETE_NODE] = "_roux_nodes",
	[COMPLETE_TOOL] = "_roux_tools",
	[COMPLETE_STATUS] = "_roux_statuses",
	[COMPLETE_COMMAND] = "_roux_commands",
	[COMPLETE_WORDS] = "(", /* and the words */
};

/* Text inside single quotes, where _arguments and _describe still want `special` escaped. */
static void quoted(struct buf *b, const char *text, const char *special)
{
	for (; *text; text++) {
		if (*text == '\'')
			buf_adds(b, "'\\'");
		else if (*text == '\\' || strchr(special, *text))
			buf_addc(b, '\\');
		buf_addc(b, *text);
	}
}

/* One spelling of an option as _arguments has it: '(-j --jobs)--jobs=[explanation]:N: '. */
static void spec(const struct opt *o, enum opt_form form, struct buf *b)
{
	AUTO_BUF spelling = BUF_INIT;
	AUTO_BUF value_name = BUF_INIT;

	if (!opt_spelling(o, form, &spelling))
		return;
	buf_adds(b, " \\\n\t\t\t'");
	if (o->kind == OPT_KIND_LIST)
		buf_addc(b, '*');
	else if (o->letter && o->name)
		buf_printf(b, "(-%c --%s)", o->letter, o->name);
	buf_add(b, buf_str(&spelling));
	if (o->kind != OPT_KIND_FLAG)
		buf_addc(b, form == OPT_FORM_NAME ? '=' : '+');
	buf_addc(b, '[');
	quoted(b, o->help, "[]:");
	buf_addc(b, ']');
	if (o->kind == OPT_KIND_CHOICE) {
		buf_printf(b, ":%s:(", o->name ? o->name : "word");
		completion_add_words(o->choices, b);
		buf_adds(b, " )");
	} else if (o->kind != OPT_KIND_FLAG) {
		opt_value_name(o, &value_name);
		buf_addc(b, ':');
		quoted(b, buf_cstr(&value_name), ":");
		buf_printf(b, ":%s", actions[opt_complete(o)]);
	}
	buf_addc(b, '\'');
}

static void operand(const struct command *c, struct buf *b)
{
	enum complete_kind second = completion_second(c);
	AUTO_BUF word = BUF_INIT;

	if (!c->max_operands)
		return;
	buf_add(&word, command_operand(c, 0));
	buf_printf(b, " \\\n\t\t\t'%s:", command_completes_all(c) ? "*" : "1");
	quoted(b, buf_cstr(&word), ":");
	buf_printf(b, ":%s", actions[c->complete]);
	if (c->complete == COMPLETE_WORDS) {
		completion_add_operands(c, b);
		buf_addc(b, ')');
	}
	buf_addc(b, '\'');
	if (completion_takes_values(c))
		buf_adds(b, " \\\n\t\t\t'*:value:_roux_args'");
	else if (second)
		buf_printf(
			b, " \\\n\t\t\t'2:%.*s:%s'", STR(command_operand(c, 1)), actions[second]);
	else if (!command_completes_all(c) && c->max_operands > 1)
		buf_adds(b, " \\\n\t\t\t'*:operand: '");
}

static void arguments(const struct command *c, struct buf *b)
{
	buf_printf(b, "\t%s)\n\t\t_arguments -s -S :", c->name);
	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			for (enum opt_form form = 0; form < OPT_FORM_COUNT; form++)
				spec(&set->opts[i], form, b);
	operand(c, b);
	buf_adds(b, "\n\t\t;;\n");
}

void completion_zsh(const struct command *const *commands, size_t count, struct buf *b)
{
	buf_adds(b, functions);

	buf_adds(b, "\n_roux_commands() {\n\tlocal -a commands=(\n");
	for (size_t i = 0; i < count; i++) {
		if (commands[i]->hidden)
			continue;
		buf_printf(b, "\t\t'%s:", commands[i]->name);
		quoted(b, commands[i]->summary, "");
		buf_adds(b, "'\n");
	}
	buf_adds(b, "\t)\n\t_describe -t commands command commands\n}\n");

	/* `*::` makes the command the first of $words, so that its own operands count from 1. */
	buf_adds(b, "\n_roux() {\n"
		    "\tlocal curcontext=$curcontext state state_descr line\n"
		    "\tlocal -A opt_args\n\n"
		    "\t_arguments -C ': :_roux_commands' '*:: :->operands' && return\n"
		    "\t[[ $state == operands ]] || return\n"
		    "\tcase $words[1] in\n");
	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			arguments(commands[i], b);
	buf_adds(b, "\tesac\n}\n");
	buf_adds(b, end);
}
