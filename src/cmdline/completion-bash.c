#include "cmdline/completion.h"

/* `cur` is the word being completed, `prefix` the part of it that a candidate does not have. */
static const char functions[] =
	"# bash completion for roux, made by 'roux completion bash'.\n"
	"# Load it with: source <(roux completion bash)\n"
	"\n"
	"# Offers those of its arguments that begin like the current word.\n"
	"_roux_offer()\n"
	"{\n"
	"\tlocal word\n"
	"\tfor word in \"$@\"; do\n"
	"\t\t[[ $word != \"$cur\"* ]] || COMPREPLY+=(\"$word\")\n"
	"\tdone\n"
	"}\n"
	"\n"
	"# Offers a word that may need quoting; behind an open quote only one that needs no more.\n"
	"_roux_add()\n"
	"{\n"
	"\tlocal word=$1\n"
	"\tif [[ -z $quote ]]; then\n"
	"\t\tprintf -v word %q \"$1\"\n"
	"\telif [[ $word == *[\\\"\\'\\\\\\$\\`!]* ]]; then\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tCOMPREPLY+=(\"$word\")\n"
	"}\n"
	"\n"
	"# Offers what roux knows. Not with compgen -W, which would expand what it reads.\n"
	"_roux_ask()\n"
	"{\n"
	"\tlocal word\n"
	"\twhile IFS= read -r word; do\n"
	"\t\t[[ $word != \"$cur\"* ]] || _roux_add \"$word\"\n"
	"\tdone < <(command roux complete \"$@\" 2>/dev/null </dev/null)\n"
	"}\n"
	"\n"
	"_roux_files()\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
	"}\n"
	"\n"
	"_roux_dirs()\n"
	"{\n"
	"\tcompopt -o filenames 2>/dev/null\n"
	"\tmapfile -t COMPREPLY < <(compgen -d -- \"$cur\")\n"
	"}\n"
	"\n"
	"# Files, after an @ too. With that before it readline would not know a directory.\n"
	"_roux_template()\n"
	"{\n"
	"\tlocal file\n"
	"\tif [[ $cur != @* ]]; then\n"
	"\t\t_roux_files\n"
	"\t\treturn\n"
	"\tfi\n"
	"\tprefix+=@\n"
	"\twhile IFS= read -r file; do\n"
	"\t\tif [[ -d $file ]]; then\n"
	"\t\t\tfile+=/\n"
	"\t\t\tcompopt -o nospace 2>/dev/null\n"
	"\t\tfi\n"
	"\t\t_roux_add \"$file\"\n"
	"\tdone < <(compgen -f -- \"${cur#@}\")\n"
	"}\n"
	"\n"
	"# The arguments of the recipe that is among the words: name= and, where there are few, "
	"values;\n"
	"# a value may always be a file.\n"
	"_roux_args()\n"
	"{\n"
	"\t_roux_ask args -- \"${words[@]:2:last-2}\"\n"
	"\tif [[ ${#COMPREPLY[@]} -eq 0 && $cur == *=* ]]; then\n"
	"\t\tprefix+=${cur%%=*}=\n"
	"\t\tcur=${cur#*=}\n"
	"\t\t_roux_files\n"
	"\t\treturn\n"
	"\tfi\n"
	"\t[[ ${COMPREPLY[*]} != *=\\  && ${COMPREPLY[*]} != *= ]] || compopt -o nospace "
	"2>/dev/null\n"
	"}\n"
	"\n"
	"# The nodes of the run that is among the words.\n"
	"_roux_nodes()\n"
	"{\n"
	"\t_roux_ask nodes -- \"${words[@]:2:last-2}\"\n"
	"}\n"
	"\n"
	"# The tools that the first of the words can be about.\n"
	"_roux_tools()\n"
	"{\n"
	"\t_roux_ask tools -- \"${words[@]:2:last-2}\"\n"
	"}\n"
	"\n"
	"# Behind a comma another one.\n"
	"_roux_statuses()\n"
	"{\n"
	"\tprefix+=${cur%\"${cur##*,}\"}\n"
	"\tcur=${cur##*,}\n"
	"\t_roux_ask statuses\n"
	"}\n"
	"\n"
	"_roux_recipe()\n"
	"{\n"
	"\t[[ $cur == @* ]] || _roux_ask recipes\n"
	"\t[[ ${#COMPREPLY[@]} -gt 0 ]] || _roux_template\n"
	"}\n"
	"\n"
	"# The words up to the cursor, as roux would see them. Bash parts them at = and @ as "
	"well.\n"
	"_roux_split()\n"
	"{\n"
	"\tlocal rest=${COMP_LINE:0:COMP_POINT} i\n"
	"\twords=(\"${COMP_WORDS[@]:0:COMP_CWORD+1}\")\n"
	"\t[[ -n $rest ]] || return 0\n"
	"\twords=()\n"
	"\tfor ((i = 0; i <= COMP_CWORD; i++)); do\n"
	"\t\tif [[ $i -eq 0 || $rest == [[:blank:]]* || -z $rest ]]; then\n"
	"\t\t\twords+=(\"\")\n"
	"\t\t\trest=${rest#\"${rest%%[![:blank:]]*}\"}\n"
	"\t\tfi\n"
	"\t\tif ((i < COMP_CWORD)); then\n"
	"\t\t\twords[-1]+=${COMP_WORDS[i]}\n"
	"\t\t\trest=${rest#\"${COMP_WORDS[i]}\"}\n"
	"\t\telse\n"
	"\t\t\twords[-1]+=$rest\n"
	"\t\tfi\n"
	"\tdone\n"
	"}\n";

static const char body[] =
	"\n"
	"_roux()\n"
	"{\n"
	"\tlocal words=() value=() cur quote=\"\" prefix=\"\" whole kept=\"\" breaks=\"\" "
	"ended=\"\"\n"
	"\tlocal command last word i operands=0\n"
	"\n"
	"\tCOMPREPLY=()\n"
	"\t_roux_split\n"
	"\tlast=$((${#words[@]} - 1))\n"
	"\tcur=${words[last]}\n"
	"\twhole=$cur\n"
	"\tif [[ $cur == [\\\"\\']* ]]; then\n"
	"\t\t# Readline keeps an opening quote and breaks nothing behind it.\n"
	"\t\tquote=${cur:0:1}\n"
	"\t\tcur=${cur:1}\n"
	"\t\twhole=\"\"\n"
	"\tfi\n"
	"\tcommand=${words[1]}\n"
	"\t# After -- a word is an operand: the / before it keeps it from being taken for an "
	"option.\n"
	"\tfor ((i = 2; i < last; i++)); do\n"
	"\t\tcase $ended${words[i]} in\n"
	"\t\t--) ended=/ ;;\n"
	"\t\t-?*) ! _roux_value \"$command\" \"${words[i]}\" || ((++i)) ;;\n"
	"\t\t*) ((++operands)) ;;\n"
	"\t\tesac\n"
	"\tdone\n"
	"\n"
	"\tif ((last < 2)); then\n"
	"\t\t_roux_commands\n"
	"\telif ((i > last)); then\n"
	"\t\t\"${value[@]}\"\n"
	"\telif [[ $ended$cur == --*=* ]]; then\n"
	"\t\tprefix=${cur%%=*}=\n"
	"\t\tcur=${cur#*=}\n"
	"\t\t! _roux_value \"$command\" \"${prefix%=}\" || \"${value[@]}\"\n"
	"\telif [[ $ended$cur == -* ]]; then\n"
	"\t\t_roux_options \"$command\"\n"
	"\telse\n"
	"\t\t_roux_operand \"$command\" \"$operands\"\n"
	"\tfi\n"
	"\n"
	"\t# Readline replaces only what stands after the last of its break characters, an @ "
	"included.\n"
	"\tfor i in = : @; do\n"
	"\t\t[[ $COMP_WORDBREAKS != *$i* ]] || breaks+=$i\n"
	"\tdone\n"
	"\t[[ -z $breaks ]] || kept=${whole%\"${whole##*[\"$breaks\"]}\"}\n"
	"\tkept=${kept%@}\n"
	"\tfor i in \"${!COMPREPLY[@]}\"; do\n"
	"\t\tword=$prefix${COMPREPLY[i]}\n"
	"\t\tCOMPREPLY[i]=${word#\"$kept\"}\n"
	"\tdone\n"
	"}\n"
	"\n"
	"complete -F _roux roux\n";

static const char *const actions[] = {
	[COMPLETE_NONE] = ":",
	[COMPLETE_FILE] = "_roux_files",
	[COMPLETE_DIR] = "_roux_dirs",
	[COMPLETE_TEMPLATE] = "_roux_template",
	[COMPLETE_RECIPE] = "_roux_recipe",
	[COMPLETE_RUN] = "_roux_ask runs \"$command\"",
	[COMPLETE_NODE] = "_roux_nodes",
	[COMPLETE_TOOL] = "_roux_tools",
	[COMPLETE_STATUS] = "_roux_statuses",
	[COMPLETE_COMMAND] = "_roux_commands",
	[COMPLETE_WORDS] = "_roux_offer", /* and the words */
};

/* All spellings of all options, each after a space. */
static void options(const struct command *c, struct buf *b)
{
	AUTO_BUF spelling = BUF_INIT;

	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			for (enum opt_form form = 0; form < OPT_FORM_COUNT; form++)
				if (opt_spelling(&set->opts[i], form, &spelling))
					buf_printf(b, " %s", buf_cstr(&spelling));
}

/* The line of _roux_value() for one option that takes a value. */
static void value(const struct command *c, const struct opt *o, struct buf *b)
{
	AUTO_BUF spelling = BUF_INIT;
	const char *between = "\t";

	for (enum opt_form form = 0; form < OPT_FORM_COUNT; form++) {
		if (!opt_spelling(o, form, &spelling))
			continue;
		buf_printf(b, "%s\"%s %s\"", between, c->name, buf_cstr(&spelling));
		between = " | ";
	}
	buf_adds(b, ") value=(");
	if (o->kind == OPT_KIND_CHOICE) {
		buf_adds(b, "_roux_offer");
		completion_add_words(o->choices, b);
	} else {
		buf_adds(b, actions[opt_complete(o)]);
	}
	buf_adds(b, ") ;;\n");
}

static void values(const struct command *c, struct buf *b)
{
	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			if (set->opts[i].kind != OPT_KIND_FLAG)
				value(c, &set->opts[i], b);
}

static void operand(const struct command *c, struct buf *b)
{
	enum complete_kind second = completion_second(c);

	if (!completion_has_operand(c))
		return;
	if (completion_takes_values(c))
		buf_printf(b, "\t%s) if [[ $2 -gt 0 ]]; then _roux_args; else %s; fi", c->name,
			actions[c->complete]);
	else if (second)
		buf_printf(b, "\t%s) case $2 in 1) %s ;; 0) %s", c->name, actions[second],
			actions[c->complete]);
	else
		buf_printf(b, "\t%s) %s%s", c->name,
			command_completes_all(c) ? "" : "[[ $2 -gt 0 ]] || ", actions[c->complete]);
	if (c->complete == COMPLETE_WORDS)
		completion_add_operands(c, b);
	buf_adds(b, second ? " ;; esac ;;\n" : " ;;\n");
}

void completion_bash(const struct command *const *commands, size_t count, struct buf *b)
{
	buf_adds(b, functions);

	buf_adds(b, "\n_roux_commands()\n{\n\t_roux_offer");
	completion_add_commands(commands, count, b);
	buf_adds(b, "\n}\n\n_roux_options()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < count; i++) {
		if (commands[i]->hidden)
			continue;
		buf_printf(b, "\t%s) _roux_offer", commands[i]->name);
		options(commands[i], b);
		buf_adds(b, " ;;\n");
	}

	buf_adds(b, "\tesac\n}\n\n"
		    "# Puts what completes the value of an option into $value; fails when it takes "
		    "none.\n"
		    "_roux_value()\n{\n\tcase \"$1 $2\" in\n");
	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			values(commands[i], b);

	buf_adds(b, "\t*) return 1 ;;\n\tesac\n}\n\n"
		    "# Completes an operand of command $1 that has $2 others before it.\n"
		    "_roux_operand()\n{\n\tcase $1 in\n");
	for (size_t i = 0; i < count; i++)
		if (!commands[i]->hidden)
			operand(commands[i], b);
	buf_adds(b, "\tesac\n}\n");
	buf_adds(b, body);
}
