#include "cmdline/parse.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>

#include "base/near.h"
#include "base/utf8.h"
#include "cmdline/suggest.h"

struct parser {
	const struct command *command;
	const char *const *argv;
	size_t argc, next; /* the word to be read next */
	struct arena *arena;
	char *opts;
	struct cmdline_result result;
	const char **operands;
	struct report *report;
};

/* An option and the field it fills. */
struct target {
	const struct opt *opt;
	void *field;
};

static const struct where nowhere;

static struct str shown(const struct parser *p, struct str word)
{
	return report_quote(p->report, word);
}

/* By its letter, or by its name when that is 0. */
static struct target find(struct parser *p, char letter, struct str name)
{
	for (const struct opt_set *set = NULL; (set = command_next_set(p->command, set));) {
		char *root = set == &command_help ? (char *)&p->result : p->opts + set->base;

		for (size_t i = 0; i < set->count; i++) {
			const struct opt *o = &set->opts[i];

			if (letter ? o->letter == letter : o->name && str_eq(str_of(o->name), name))
				return (struct target){ o, root + o->offset };
		}
	}
	return (struct target){ 0 };
}

static struct str nearest_name(const struct command *c, struct str name)
{
	struct near near = near_to(name);

	for (const struct opt_set *set = NULL; (set = command_next_set(c, set));)
		for (size_t i = 0; i < set->count; i++)
			near_offer(&near, str_of(set->opts[i].name));
	return near_best(&near);
}

/* Whether values are among its operands. Elsewhere they are often options. */
static bool takes_values(const struct command *c)
{
	return c->operands && strstr(c->operands, "name=value");
}

/* `spelled` with its dashes. */
static void unknown(struct parser *p, struct str spelled)
{
	const struct command *c = p->command;
	size_t dashes = str_starts(spelled, S("--")) ? 2 : 1;
	struct str name = str_from(spelled, dashes);
	struct str near = nearest_name(c, name);

	report_error(p->report, nowhere, "unknown option '%.*s'", STR(shown(p, spelled)));
	if (c->unknown_option && c->unknown_option(name, p->report))
		return;
	if (near.len)
		report_hint(p->report, "did you mean '--%.*s'?", STR(near));
	else if (name.len > 1 && takes_values(c))
		report_hint(p->report,
			"'roux help %s' lists the options; a value is written %.*s=…, without "
			"dashes",
			c->name, STR(shown(p, name)));
	else if (c->max_operands)
		report_hint(p->report,
			"'roux help %s' lists the options; an operand that begins with '-' goes "
			"after '--'",
			c->name);
	else
		report_hint(p->report, "'roux help %s' lists the options", c->name);
}

static void bad_number(struct parser *p, const struct opt *o, struct str spelled, struct str value)
{
	AUTO_BUF range = BUF_INIT;

	if (o->max == UINT64_MAX)
		buf_printf(&range, "of at least %" PRIu64, o->min);
	else
		buf_printf(&range, "from %" PRIu64 " to %" PRIu64, o->min, o->max);
	report_error(p->report, nowhere, "%.*s takes a whole number %s, found '%.*s'", STR(spelled),
		buf_cstr(&range), STR(shown(p, value)));
	if (value.len && strspn(value.p, "0123456789") == value.len)
		return; /* the range has been told */
	AUTO_BUF name = BUF_INIT;
	opt_value_name(o, &name);
	report_hint(p->report, "write %.*s %s, with digits for %s", STR(spelled), buf_cstr(&name),
		buf_cstr(&name));
}

static void store_number(struct parser *p, struct target t, struct str spelled, struct str value)
{
	const struct opt *o = t.opt;
	uint64_t number;

	if (!str_to_uint(value, &number) || number < o->min || number > o->max) {
		bad_number(p, o, spelled, value);
	} else if (o->size == sizeof(uint64_t)) {
		*(uint64_t *)t.field = number;
	} else {
		assert(o->max <= UINT_MAX);
		*(unsigned *)t.field = (unsigned)number;
	}
}

static void store_choice(struct parser *p, struct target t, struct str spelled, struct str value)
{
	const char *const *choices = t.opt->choices;

	for (unsigned i = 0; choices[i]; i++) {
		if (str_eq(str_of(choices[i]), value)) {
			*(unsigned *)t.field = i;
			return;
		}
	}
	AUTO_BUF words = BUF_INIT;
	suggest_list(choices, &words);
	report_error(p->report, nowhere, "%.*s takes %s, found '%.*s'", STR(spelled),
		buf_cstr(&words), STR(shown(p, value)));
	suggest_word(choices, value, p->report);
}

static void store_list(struct parser *p, struct opt_list *list, const char *value)
{
	/* No list can have more values than the line has words. */
	if (!list->len)
		list->at = arena_array(p->arena, const char *, p->argc);
	list->at[list->len++] = value;
}

static void store(struct parser *p, struct target t, struct str spelled, const char *value)
{
	switch (t.opt->kind) {
	case OPT_KIND_FLAG:
		UNREACHABLE("a flag has no value");
	case OPT_KIND_NUMBER:
		store_number(p, t, spelled, str_of(value));
		break;
	case OPT_KIND_TEXT:
		*(const char **)t.field = value;
		break;
	case OPT_KIND_CHOICE:
		store_choice(p, t, spelled, str_of(value));
		break;
	case OPT_KIND_LIST:
		store_list(p, t.field, value);
		break;
	}
}

/* The value in the word after the option, whatever it looks like: `--values -`. */
static void store_next(struct parser *p, struct target t, struct str spelled)
{
	if (p->next < p->argc) {
		store(p, t, spelled, p->argv[p->next++]);
		return;
	}
	AUTO_BUF name = BUF_INIT;
	opt_value_name(t.opt, &name);
	report_error(p->report, nowhere, "%.*s needs a value", STR(spelled));
	report_hint(p->report, "write %.*s %s", STR(spelled), buf_cstr(&name));
}

/* --name, --name=value, --name value */
static void take_name(struct parser *p, const char *text)
{
	struct str word = str_of(text);
	size_t equals = str_find(word, '=', 0);
	bool joined = equals < word.len;
	struct str spelled = str_sub(word, 0, equals);
	struct target t = find(p, 0, str_from(spelled, 2));

	if (!t.opt) {
		unknown(p, spelled);
	} else if (t.opt->kind != OPT_KIND_FLAG) {
		if (joined)
			store(p, t, spelled, text + equals + 1);
		else
			store_next(p, t, spelled);
	} else if (joined) {
		report_error(p->report, nowhere, "%.*s takes no value, found '%.*s'", STR(spelled),
			STR(shown(p, str_from(word, equals + 1))));
		report_hint(p->report, "write %.*s alone", STR(spelled));
	} else {
		*(bool *)t.field = true;
	}
}

/* -d, -j4, -j 4, -dj4 */
static void take_letters(struct parser *p, const char *text)
{
	struct str word = str_of(text);

	for (size_t at = 1; at < word.len; at++) {
		struct target t = find(p, word.p[at], S(""));
		uint32_t character;
		size_t length = utf8_decode(word, at, &character);
		struct str spelled = arena_printf(p->arena, "-%.*s", (int)length, word.p + at);

		if (!t.opt) {
			/* The whole word, if nothing in it is known: a name may be near. */
			unknown(p, at == 1 ? word : spelled);
			return;
		}
		if (t.opt->kind != OPT_KIND_FLAG) {
			if (at + 1 < word.len)
				store(p, t, spelled, text + at + 1);
			else
				store_next(p, t, spelled);
			return;
		}
		*(bool *)t.field = true;
	}
}

static void take_word(struct parser *p, const char *text)
{
	struct str word = str_of(text);
	struct str spelled = str_sub(word, 0, str_find(word, '=', 0));

	if (word.p[1] == '-')
		take_name(p, text);
	else if (find(p, 0, str_from(spelled, 1)).opt)
		unknown(p, spelled); /* `-detach` is not -d -e with the value "tach" */
	else
		take_letters(p, text);
}

static void count_operands(struct parser *p)
{
	const struct command *c = p->command;
	size_t count = p->result.operand_count;
	AUTO_BUF usage = BUF_INIT;

	if (count >= c->min_operands && count <= c->max_operands)
		return;
	command_usage(c, &usage);
	if (c->example_count)
		buf_printf(&usage, "; for example: %s", c->examples[0].line);
	if (count < c->min_operands) {
		struct str missing = command_operand(c, count);

		if (!count && c->wants)
			report_error(p->report, nowhere, "roux %s needs %s", c->name, c->wants);
		else if (missing.len)
			report_error(
				p->report, nowhere, "roux %s needs a %.*s", c->name, STR(missing));
		else
			report_error(p->report, nowhere, "roux %s needs another operand", c->name);
	} else {
		struct str extra = shown(p, str_of(p->operands[c->max_operands]));

		if (c->max_operands)
			report_error(p->report, nowhere,
				"roux %s takes at most %u operand%s, found '%.*s' as well", c->name,
				c->max_operands, c->max_operands == 1 ? "" : "s", STR(extra));
		else
			report_error(p->report, nowhere, "roux %s takes no operands, found '%.*s'",
				c->name, STR(extra));
	}
	report_hint(p->report, "usage: %s", buf_cstr(&usage));
}

bool cmdline_parse(const struct command *c, size_t argc, const char *const *argv, struct arena *a,
	void *opts, struct cmdline_result *ret, struct report *r)
{
	struct parser p = { .command = c, .argv = argv, .argc = argc, .arena = a, .opts = opts };
	size_t errors = r->errors;
	bool ended = false;

	p.report = r;
	p.operands = arena_array(a, const char *, argc + 1);
	if (c->defaults)
		memcpy(opts, c->defaults, c->options_size);
	else if (c->options_size)
		memset(opts, 0, c->options_size);

	while (p.next < argc) {
		const char *word = argv[p.next++];

		if (ended || word[0] != '-' || !word[1])
			p.operands[p.result.operand_count++] = word;
		else if (strcmp(word, "--") == 0)
			ended = true;
		else
			take_word(&p, word);
	}
	p.result.operands = p.operands;
	/* After a wrong option it is not known which words are operands. */
	if (r->errors == errors && !p.result.help)
		count_operands(&p);
	if (r->errors > errors)
		return false;
	*ret = p.result;
	return true;
}
