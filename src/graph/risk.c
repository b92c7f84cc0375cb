#include "graph/risk.h"

#include <ctype.h>

#include "graph/label.h"
#include "graph/programs.h"
#include "template/braces.h"

struct looking {
	struct graph *g;
	const struct node *n;
	size_t program; /* the word that names it, behind what starts it */
};

static struct where word_where(const struct node *n, size_t i)
{
	return braces_where(n->words[i].text, 0, n->words[i].text->raw.len);
}

static void count_placeholder(void *data, const struct placeholder *p)
{
	(void)p;
	++*(size_t *)data;
}

static bool has_placeholder(const struct text *t)
{
	size_t count = 0;

	t->ops->walk(t, count_placeholder, &count);
	return count > 0;
}

struct author {
	const struct looking *l;
	bool all;
};

static void see_author(void *data, const struct placeholder *p)
{
	struct author *a = data;
	const struct node *root = a->l->g->root;
	bool defaulted = false, declared = false;

	for (const struct node *n = a->l->n; n; n = n->parent ? n->parent : n->owner)
		defaulted |= presets_find(n->defaults, p->name) != NULL;
	vec_each (arg, &a->l->g->arguments)
		declared |= !arg->text && str_eq(arg->declaration.name, p->name);
	a->all &= root->args && defaulted && !declared;
}

/* A recipe that declares its arguments takes no others: what only its defaults name is its
 * author's. */
static bool authored(const struct looking *l, const struct text *t)
{
	struct author a = { l, l->n->origin != NULL };

	t->ops->walk(t, see_author, &a);
	return a.all;
}

static void look_at_interpreter(struct looking *l)
{
	const struct node *n = l->n;
	struct report *w = &l->g->warnings;
	struct program_code code = program_code(n, l->program);

	if (!code.interpreter)
		return;
	if (code.at && code.at < n->word_count && has_placeholder(n->words[code.at].text) &&
		!authored(l, n->words[code.at].text)) {
		report_warning(w, word_where(n, code.at), "a value is pasted into code for %s",
			code.interpreter);
		if (code.shell)
			report_hint(w, "pass it as an argument: %s -c 'cmd \"$1\"' _ {value}",
				code.interpreter);
		else
			report_hint(w, "pass it as an argument and read it there");
	} else if (code.at) {
		report_warning(w, word_where(n, l->program), "%s runs code from the template",
			code.interpreter);
	} else if (code.shell) {
		report_warning(w, word_where(n, l->program),
			"%s runs whatever it is given as shell code", code.interpreter);
	}
}

static bool broad(struct str path)
{
	size_t dots = 0;

	/* Of nothing but what stands for directories and all that is in them: . ../.. .* */
	while (dots < path.len && strchr("./*", path.p[dots]))
		dots++;
	if ((path.len && dots == path.len) || str_eq(path, S("~")))
		return true;
	/* Outside of where it runs. */
	return str_starts(path, S("/")) || str_starts(path, S("~/"));
}

static void look_at_files(struct looking *l)
{
	static const char *const movers[] = { "rm", "mv", "cp", "rsync" };
	const struct node *n = l->n;
	struct report *w = &l->g->warnings;
	struct str program = program_name(n, l->program);
	bool found = false;

	for (size_t k = 0; k < ARRAY_SIZE(movers); k++)
		found |= str_eq(program, str_of(movers[k]));
	for (size_t i = l->program + 1; found && i < n->word_count; i++) {
		struct str word = n->words[i].text->raw;

		if (str_starts(word, S("--target-directory=")))
			word = str_from(word, strlen("--target-directory="));
		if (str_eq(program, S("rm")) && word.len > 1 && word.p[0] == '-' &&
			(str_contains(word, S("r")) || str_contains(word, S("f")) ||
				str_contains(word, S("R")))) {
			report_warning(w, word_where(n, l->program),
				"rm with %.*s removes without asking", STR(word));
		} else if (has_placeholder(n->words[i].text)) {
			report_warning(w, word_where(n, i),
				"%.*s works on a path that a value decides", STR(program));
		} else if (broad(word)) {
			report_warning(
				w, word_where(n, i), "%.*s works on a broad path", STR(program));
		}
	}
}

static bool can_be_empty(const struct looking *l, const struct placeholder *p)
{
	switch (p->kind) {
	case PLACEHOLDER_DEFAULT:
	case PLACEHOLDER_FALLBACK:
		return !p->text.len;
	case PLACEHOLDER_CONDITION:
		return !p->text.len || !p->other.len;
	case PLACEHOLDER_VALUE:
		for (const struct node *n = l->n; n; n = n->parent ? n->parent : n->owner) {
			const struct preset *preset = presets_find(n->defaults, p->name);

			if (preset)
				return json_is_null(preset->value) ||
				       (json_is_string(preset->value) &&
					       !json_string_length(preset->value));
		}
		return false;
	case PLACEHOLDER_ITEM:
	case PLACEHOLDER_SPREAD:
	case PLACEHOLDER_EXPR:
		return false;
	}
	return false;
}

struct emptiness {
	const struct looking *l;
	size_t length; /* of all placeholders, braces included */
	bool all;
};

static void see_emptiness(void *data, const struct placeholder *p)
{
	struct emptiness *e = data;

	e->length += p->content.len + 2;
	e->all &= can_be_empty(e->l, p);
}

/* `--name {name=}`: the value vanishes and the flag takes the next word. */
static void look_at_flags(struct looking *l)
{
	const struct node *n = l->n;

	for (size_t i = 2; i < n->word_count && !n->keep_empty; i++) {
		struct str flag = n->words[i - 1].text->raw;
		struct emptiness e = { l, 0, true };

		if (n->words[i].quoted || flag.len < 2 || flag.p[0] != '-' ||
			has_placeholder(n->words[i - 1].text) || str_find(flag, '=', 0) < flag.len)
			continue;
		n->words[i].text->ops->walk(n->words[i].text, see_emptiness, &e);
		if (!e.length || !e.all || e.length != n->words[i].text->raw.len)
			continue;
		report_warning(&l->g->warnings, word_where(n, i),
			"'%.*s' can be empty and then vanishes, so %.*s takes the next word",
			STR(n->words[i].text->raw), STR(flag));
		report_hint(&l->g->warnings, "write %.*s=%.*s, or put it in double quotes",
			STR(flag), STR(n->words[i].text->raw));
	}
}

/* The last `{` of a word whose `}` is in another one, or word.len. */
static size_t open_brace(struct str word)
{
	size_t open = word.len;

	for (size_t i = 0; i < word.len; i++)
		open = word.p[i] == '{' ? i : word.p[i] == '}' ? word.len : open;
	return open;
}

static bool closes_first(struct str word)
{
	return str_find(word, '}', 0) < str_find(word, '{', 0);
}

/* `{name`: what begins like a placeholder and has only its name. */
static bool is_unclosed_name(struct str text)
{
	for (size_t i = 1; i < text.len; i++)
		if (!isalnum((unsigned char)text.p[i]) && text.p[i] != '_' && text.p[i] != '-')
			return false;
	return text.len > 1 && (isalpha((unsigned char)text.p[1]) || text.p[1] == '_');
}

static void warn_unclosed(struct looking *l, size_t i, size_t open)
{
	const struct text *text = l->n->words[i].text;
	struct str rest = str_from(text->raw, open);

	report_warning(&l->g->warnings, braces_where(text, open, rest.len),
		"'%.*s' is an ordinary argument: the brace is not closed", STR(rest));
	report_hint(&l->g->warnings, "write %.*s}; if it is meant, put it in quotes", STR(rest));
	report_slip(&l->g->warnings);
}

/* `{name = x}`: three words, none of them a placeholder; and `{name`. */
static void look_at_braces(struct looking *l)
{
	const struct node *n = l->n;

	for (size_t i = 0; i < n->word_count; i++) {
		struct str word = n->words[i].text->raw;
		size_t open = open_brace(word), end = i + 1;

		if (open + 1 >= word.len)
			continue;
		/* A cut placeholder ends a few words further on. */
		size_t far = MIN(n->word_count, i + 16);
		while (end < far && !closes_first(n->words[end].text->raw))
			end++;
		if (end >= far) {
			if (!n->words[i].quoted && is_unclosed_name(str_from(word, open)))
				warn_unclosed(l, i, open);
			continue;
		}
		report_warning(&l->g->warnings,
			braces_where(n->words[i].text, open, word.len - open),
			"'%.*s' has a brace without a partner: a space cut the placeholder",
			STR(report_quote(&l->g->warnings, str_from(word, open))));
		report_hint(&l->g->warnings, "leave out the space, or quote the whole word");
		report_slip(&l->g->warnings);
		i = end;
	}
}

/* Words that are signs for a shell, and what to write instead. */
static const struct {
	const char *word, *instead;
} shell_signs[] = {
	{ "|", "for a pipe write an array, [\"one\", \"two\"]" },
	{ "&&", "for one after the other write an array, [\"one\", \"two\"]" },
	{ "||", "let a shell do it, sh -c '…'" },
	{ ">", "to write a file let a shell do it, sh -c '…'" },
	{ ">>", "to write a file let a shell do it, sh -c '…'" },
	{ "2>", "to write a file let a shell do it, sh -c '…'" },
	{ "2>&1", "let a shell do it, sh -c '…'" },
	{ "<", "to read a file write cat FILE before it, or let a shell do it, sh -c '…'" },
};

/* Whether < and > compare for it. */
static bool compares(struct str program)
{
	return str_eq(program, S("test")) || str_eq(program, S("[")) || str_eq(program, S("expr"));
}

static bool is_one_of(struct str word, const char *const *words)
{
	for (; *words; words++)
		if (str_eq(word, str_of(*words)))
			return true;
	return false;
}

/* Those that read patterns themselves: `find . -name *.c` is right here. */
static const char *const pattern_readers[] = { "find", "fd", "locate", "grep", "egrep", "fgrep",
	"rg", "ag", "git", "sed", "awk", "expr", "test", "[", "tar", "zip", "unzip", "rsync",
	"tree", "jq", NULL };

/* `$HOME`, `${HOME}`, `$(date)`: letters after the sign, so that a regular expression may end with
 * one. */
static bool is_expansion(struct str word)
{
	for (size_t i = 0; i + 1 < word.len; i++) {
		unsigned char next = (unsigned char)word.p[i + 1];

		if (word.p[i] == '$' &&
			(isalpha(next) || next == '_' || next == '{' || next == '('))
			return true;
	}
	return false;
}

/* That of a placeholder, {files[*]}, is not meant. */
static bool has_star(struct str word)
{
	int depth = 0;

	for (size_t i = 0; i < word.len; i++) {
		depth += (word.p[i] == '{') - (word.p[i] == '}');
		if (word.p[i] == '*' && depth <= 0)
			return true;
	}
	return false;
}

/* `*.c`, `src/...` with a star: a name of files. Behind an option it is the option's pattern. */
static bool is_file_pattern(const struct node *n, struct str program, size_t i)
{
	struct str before = n->words[i - 1].text->raw, word = n->words[i].text->raw;

	return has_star(word) && !str_starts(word, S("-")) &&
	       !(i > 1 && str_starts(before, S("-"))) && !is_one_of(program, pattern_readers);
}

/* What a shell would replace and no shell reads here. */
static const char *shell_meant(const struct looking *l, size_t i)
{
	const struct node *n = l->n;
	struct str word = n->words[i].text->raw, program = program_name(n, l->program);

	if (program_is_shell(program))
		return NULL;
	for (size_t k = 0; k < ARRAY_SIZE(shell_signs); k++)
		if (str_eq(word, str_of(shell_signs[k].word)) && !compares(program))
			return shell_signs[k].instead;
	if (is_expansion(word))
		return "write {name} and give it as a value, or let a shell do it, sh -c '…'";
	if (str_contains(word, S("`")))
		return "write the command before it in an array, or let a shell do it, sh -c '…'";
	if (is_file_pattern(n, program, i))
		return "give the files as a value, or let a shell do it, sh -c '…'";
	return NULL;
}

/* `NAME=value program`: in a shell a variable for that program. */
static void look_at_assignment(struct looking *l)
{
	const struct node *n = l->n;
	struct str word = n->words[0].text->raw;
	struct str name = { word.p, str_find(word, '=', 0) };

	if (name.len >= word.len || !name.len || n->words[0].quoted ||
		isdigit((unsigned char)name.p[0]))
		return;
	for (size_t i = 0; i < name.len; i++)
		if (!isalnum((unsigned char)name.p[i]) && name.p[i] != '_')
			return;
	report_warning(&l->g->warnings, word_where(n, 0),
		"'%.*s' would be the program: no shell reads this line",
		STR(report_quote(&l->g->warnings, word)));
	report_hint(&l->g->warnings, "write env before it: env %.*s=…", STR(name));
	report_action(&l->g->warnings, ACTION_SET_VARIABLE, S(""));
	report_slip(&l->g->warnings);
}

/* `a | b`: it reads like a shell's, but `|` is one of the arguments of a. In quotes it is meant.
 * What comes after a builtin is left alone: the advice there is a shell for the whole line. */
static void look_at_shell_signs(struct looking *l)
{
	const struct node *n = l->n;
	struct str first = n->words[0].text->raw;

	if (str_eq(first, S("cd")) || str_eq(first, S("export")) || str_eq(first, S("source"))) {
		report_warning(&l->g->warnings, word_where(n, 0),
			"'%.*s' is a shell builtin: it would not affect the other commands",
			STR(first));
		bool cd = str_eq(first, S("cd"));
		report_hint(
			&l->g->warnings, "let a shell do it, sh -c '%s…'", cd ? "cd DIR && " : "");
		report_action(&l->g->warnings, cd ? ACTION_OTHER_DIR : ACTION_SET_VARIABLE, S(""));
		report_slip(&l->g->warnings);
		return;
	}
	look_at_assignment(l);
	/* To find the place of a word takes as long as the line. */
	for (size_t i = 1; i < n->word_count && !report_full(&l->g->warnings); i++) {
		const char *instead = n->words[i].quoted ? NULL : shell_meant(l, i);

		if (!instead)
			continue;
		report_warning(&l->g->warnings, word_where(n, i),
			"'%.*s' is an ordinary argument: no shell reads this line",
			STR(report_quote(&l->g->warnings, n->words[i].text->raw)));
		report_hint(&l->g->warnings, "%s; if it is meant, put it in quotes", instead);
		report_slip(&l->g->warnings);
	}
}

/* The rest of the line is then one word, which its author hardly meant. */
static void look_at_quotes(struct looking *l)
{
	const struct node *n = l->n;

	if (!words_unclosed(n->line))
		return;
	report_warning(&l->g->warnings, word_where(n, n->word_count - 1),
		"the quote is not closed, so the word goes to the end of the line");
	report_hint(&l->g->warnings, "close it, or write a backslash before it");
	report_slip(&l->g->warnings);
}

static void look_at_command(struct looking *l)
{
	const struct node *n = l->n;

	l->program = program_word(n);
	if (has_placeholder(n->words[l->program].text))
		report_warning(&l->g->warnings, word_where(n, l->program),
			"a value decides which program runs");
	look_at_interpreter(l);
	look_at_files(l);
	look_at_quotes(l);
	look_at_flags(l);
	look_at_braces(l);
	look_at_shell_signs(l);
}

/* Whether a failure of the node can reach further than the node. */
static bool escalates(const struct node *n)
{
	if (n->failure != FAILURE_CONTINUE)
		return true;
	for (size_t i = 0; i < n->child_count; i++)
		if (escalates(n->children[i]))
			return true;
	return false;
}

static bool can_fail(const struct node *n)
{
	if (n->kind != NODE_SEQUENCE || escalates(n))
		return true;
	if (n->wrapper)
		return can_fail(n->children[0]);
	return !n->parent && n->child_count == 1;
}

static void look_at_retry(struct looking *l)
{
	const struct node *n = l->n;
	bool retries = n->retry.text || n->retry.value > 1;

	if (retries && !can_fail(n)) {
		report_warning(&l->g->warnings, place_where(n->retry.place),
			"`retry` never happens: a failure of these steps does not fail the group");
		report_hint(&l->g->warnings, "add \"failure\": \"branch\"");
		report_slip(&l->g->warnings);
	}
	if (n->recover && !retries) {
		report_warning(&l->g->warnings, place_where(n->recover->place),
			"`recover` never runs: it stands between attempts, and there is only one");
		report_hint(&l->g->warnings, "add \"retry\": 2 or more");
		report_slip(&l->g->warnings);
	}
}

static void look(struct graph *g, const struct node *n, bool whole)
{
	struct looking l = { .g = g, .n = n };

	/* What an imported file says is reported where that file is looked at. */
	if ((n->origin && n->origin->up) || report_full(&g->warnings))
		return;
	if (n->kind == NODE_COMMAND)
		look_at_command(&l);
	if (whole && n->kind != NODE_EACH)
		look_at_retry(&l);
	for (size_t i = 0; i < n->child_count; i++)
		look(g, n->children[i], whole);
	if (n->recover)
		look(g, n->recover, whole);
}

void risk_warn(struct graph *g, bool whole)
{
	look(g, g->root, whole);
	label_names_warn(g);
}
