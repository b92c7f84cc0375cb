#include "prompts/direct.h"

#include "base/lang.h"
#include "prompts/compile.h"

/* What a shell would not look up in PATH, with whether it is more than a program of that name:
 * a reserved word or a special built-in as the first word needs a shell. `source` and the rest of
 * the second list have no program that could stand for them. */
static const char *const reserved[] = { "!", "{", "}", "[[", "case", "coproc", "do", "done", "elif",
	"else", "esac", "fi", "for", "function", "if", "in", "select", "then", "time", "until",
	"while" };

static const char *const only_shell[] = { ".", ":", "alias", "bg", "bind", "break", "builtin",
	"caller", "cd", "command", "compgen", "complete", "compopt", "continue", "declare", "dirs",
	"disown", "enable", "eval", "exec", "exit", "export", "fc", "fg", "getopts", "hash", "help",
	"history", "jobs", "let", "local", "logout", "mapfile", "popd", "pushd", "read",
	"readarray", "readonly", "return", "set", "shift", "shopt", "source", "suspend", "times",
	"trap", "type", "typeset", "ulimit", "umask", "unalias", "unset", "wait" };

/* Built in, but as good as the program. */
static const char *const in_both[] = { "[", "echo", "false", "kill", "printf", "pwd", "test",
	"true" };

static bool listed(const char *const *list, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(str_of(list[i]), name))
			return true;
	return false;
}

bool compile_shell_has(struct str name)
{
	return listed(only_shell, ARRAY_SIZE(only_shell), name) ||
	       listed(in_both, ARRAY_SIZE(in_both), name);
}

struct reader {
	struct str text;
	size_t at;
	unsigned kinds;
	const struct placeholder_values *values;
	struct str home;
	struct buf word;
	bool present;    /* the word is there, even if it is empty */
	bool quoted;     /* some of it is quoted or came from a value: it is not a reserved word */
	bool braced;     /* has an unquoted { that is not a placeholder */
	bool listing;    /* has an unquoted , or .. */
	bool commands;   /* assignments are over */
	size_t name_len; /* of the assignment that the word is; 0: none */
	bool tilde;      /* a ~ here would be at the beginning of a word or value */
};

static bool name_char(char c, bool first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
	       (!first && ascii_digit(c));
}

/* The length of NAME of a word that begins with NAME=, or 0. */
static size_t assigned_name(struct str text, size_t at)
{
	size_t end = at;

	while (end < text.len && name_char(text.p[end], end == at))
		end++;
	return end > at && end < text.len && text.p[end] == '=' ? end - at : 0;
}

static bool placeholder(struct reader *r)
{
	enum prompt_placeholder p;
	size_t length;

	if (!placeholder_at(r->text, r->at, r->kinds, &p, &length))
		return false;
	buf_add(&r->word, r->values->at[p]);
	r->at += length;
	r->present = r->quoted = true;
	r->tilde = false;
	return true;
}

static bool single_quotes(struct reader *r)
{
	for (r->at++; r->text.p[r->at] != '\'';) {
		if (placeholder(r))
			continue;
		buf_addc(&r->word, r->text.p[r->at++]);
	}
	r->at++;
	return true;
}

static bool double_quotes(struct reader *r)
{
	for (r->at++; r->text.p[r->at] != '"';) {
		char c = r->text.p[r->at];

		if (c == '$' || c == '`')
			return false;
		if (c == '\\') {
			char next = r->text.p[r->at + 1];

			if (next == '$' || next == '`')
				return false;
			if (next == '\n') {
				r->at += 2;
				continue;
			}
			if (next == '"' || next == '\\')
				r->at++;
			buf_addc(&r->word, r->text.p[r->at++]);
			if (next != '"' && next != '\\')
				buf_addc(&r->word, r->text.p[r->at++]);
		} else if (!placeholder(r)) {
			buf_addc(&r->word, c);
			r->at++;
		}
	}
	r->at++;
	return true;
}

/* ~ and ~/ are home; ~user is the shell's business. */
static bool tilde(struct reader *r)
{
	char next = '\0';

	if (r->at + 1 < r->text.len)
		next = r->text.p[r->at + 1];
	bool ends = next == '\0' || next == ' ' || next == '\t' || next == '/';

	if (next == ':' && r->name_len)
		return false;
	if (name_char(next, false) || next == '+' || next == '-')
		return false;
	if (ends && !r->home.len)
		return false;
	if (ends)
		buf_add(&r->word, r->home);
	else
		buf_addc(&r->word, '~');
	r->at++;
	return true;
}

static bool bare(struct reader *r)
{
	char c = r->text.p[r->at];

	if (str_find(S("|&;<>()$`*?[\n"), c, 0) < 13)
		return false;
	if ((c == '#' || c == '!') && !r->present)
		return false;
	r->listing |= c == ',' || (c == '.' && r->at && r->text.p[r->at - 1] == '.');
	r->braced |= c == '{';
	/* In what is assigned, and for some shells in what only looks like it, ~ behind : or = is
	 * home as well. */
	bool value = r->name_len > 0;
	if (c == '~' && r->tilde) {
		if (value && r->commands)
			return false;
		r->present = true;
		r->tilde = false;
		return tilde(r);
	}
	if (c == '~' && value && r->text.p[r->at - 1] == ':')
		return false;
	buf_addc(&r->word, c);
	r->at++;
	r->tilde = value && !r->quoted && r->word.len == r->name_len + 1;
	r->present = true;
	return true;
}

/* One piece of a word. */
static bool piece(struct reader *r)
{
	char c = r->text.p[r->at];
	bool ok;

	if (c == '\'' || c == '"') {
		r->present = r->quoted = true;
		r->tilde = false;
		ok = c == '"' ? double_quotes(r) : single_quotes(r);
		return ok;
	}
	if (c == '\\') {
		if (r->at + 1 >= r->text.len || r->text.p[r->at + 1] == '\n')
			return false;
		buf_addc(&r->word, r->text.p[r->at + 1]);
		r->at += 2;
		r->present = r->quoted = true;
		r->tilde = false;
		return true;
	}
	return placeholder(r) || bare(r);
}

static bool first_word_is_a_program(const struct reader *r, struct str word)
{
	if (!r->quoted && listed(reserved, ARRAY_SIZE(reserved), word))
		return false;
	return !listed(only_shell, ARRAY_SIZE(only_shell), word);
}

static bool blank(char c)
{
	return c == ' ' || c == '\t';
}

static bool word(struct arena *a, struct reader *r, struct direct *ret)
{
	size_t begin = r->at;

	buf_reset(&r->word);
	r->present = r->quoted = r->braced = r->listing = false;
	r->tilde = true;
	r->name_len = assigned_name(r->text, r->at);
	while (r->at < r->text.len && !blank(r->text.p[r->at]))
		if (!piece(r))
			return false;
	if (r->braced && r->listing)
		return false;
	struct direct_word w = {
		.text = arena_str(a, buf_str(&r->word)), .begin = begin, .end = r->at
	};
	if (!r->commands && r->name_len) {
		w.assignment = true;
		w.name_len = r->name_len;
	} else if (!r->commands) {
		/* NAME+=word is an assignment for some. */
		if (str_contains(w.text, S("+=")) || !first_word_is_a_program(r, w.text))
			return false;
		r->commands = true;
	}
	vec_push(&ret->words, w);
	return true;
}

bool direct_read(struct arena *a, struct str command, unsigned kinds,
	const struct placeholder_values *v, struct str home, struct direct *ret)
{
	struct reader r = { .text = command, .kinds = kinds, .values = v, .home = home };
	bool ok = true;

	while (ok) {
		while (r.at < command.len && blank(command.p[r.at]))
			r.at++;
		if (r.at == command.len)
			break;
		ok = word(a, &r, ret);
	}
	buf_done(&r.word);
	return ok && r.commands;
}

void direct_done(struct direct *d)
{
	vec_done(&d->words);
}
