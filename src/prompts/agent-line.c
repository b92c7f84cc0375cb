#include "prompts/agent-line.h"

#include "prompts/compile.h"
#include "prompts/shell-text.h"

struct agent_line agent_line(const struct config_entry *agent, bool batch, unsigned kinds)
{
	bool has = batch && config_text(agent, "batch").len;
	const char *field = has ? "batch" : "command";
	struct str text = config_text(agent, field);

	return (struct agent_line){
		.field = field, .text = text, .names = placeholders_in(text, kinds), .batch = has
	};
}

bool agent_line_has_prompt(const struct agent_line *l)
{
	return agent_line_names(l, PH_PROMPT) || agent_line_names(l, PH_PROMPT_FILE);
}

bool agent_line_has_role(const struct agent_line *l)
{
	return agent_line_names(l, PH_ROLE) || agent_line_names(l, PH_ROLE_FILE);
}

bool agent_line_check(struct config *c, const struct config_entry *agent,
	const struct agent_line *l, struct report *r)
{
	const struct place *place = config_place(c, agent, l->field);

	if (agent_line_names(l, PH_BIN))
		return compile_check(l->text, place, r);
	report_error(r, place_where(place), "the %s of agent '%.*s' does not name {bin}", l->field,
		STR(agent->name));
	return report_hint(r, "write {bin} where the program stands");
}

/* -- prompts that look like options --------------------------------------------------------------
 */

static bool blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n';
}

static bool separates(char c)
{
	return c == ';' || c == '|' || c == '&' || c == '(' || c == '\n';
}

/* Where the word begins that begins with the placeholder, its quote included; SIZE_MAX: something
 * stands before it. */
static size_t word_begin(struct str s, const struct shell_hole *h)
{
	size_t at = h->offset;
	char quote = h->quoting == QUOTE_DOUBLE ? '"' : '\'';

	if (h->quoting == QUOTE_DOCUMENT || (h->quoting != QUOTE_NONE && s.p[at - 1] != quote))
		return SIZE_MAX;
	at -= h->quoting != QUOTE_NONE;
	at -= h->quoting == QUOTE_ANSI;
	return !at || blank(s.p[at - 1]) || separates(s.p[at - 1]) ? at : SIZE_MAX;
}

static bool is_double_dash(struct str word)
{
	return str_eq(word, S("--")) || str_eq(word, S("'--'")) || str_eq(word, S("\"--\""));
}

/* Whether the words before `end`, back to where its command begins, have `--` among them. printf
 * knows no options behind its format, and what stands behind < is not an argument. */
static bool options_ended(struct str s, size_t end)
{
	struct str first = S(""), last = S("");
	bool ended = false;

	for (size_t at = 0; at < end;) {
		size_t begin = at;

		while (at < end && !blank(s.p[at]) && !separates(s.p[at]))
			at++;
		struct str word = str_sub(s, begin, at - begin);
		if (word.len) {
			ended |= is_double_dash(word);
			first = first.len ? first : word;
			last = word;
		}
		if (at < end && separates(s.p[at])) {
			first = last = S("");
			ended = false;
		}
		at++;
	}
	bool redirected = last.len && last.p[last.len - 1] == '<';
	return ended || redirected || (str_eq(first, S("printf")) && last.p != first.p);
}

bool agent_line_bare_prompt(struct str line, size_t *offset, size_t *length)
{
	struct shell_walk w;
	bool found = false;

	shell_walk(line, IN_AGENT, &w);
	vec_each (h, &w.holes) {
		size_t begin = word_begin(line, h);

		if (found || h->placeholder != PH_PROMPT || begin == SIZE_MAX ||
			options_ended(line, begin))
			continue;
		*offset = h->offset;
		*length = h->length;
		found = true;
	}
	shell_walk_done(&w);
	return found;
}
