#include "hosts/cli/values.h"

#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/shell-words.h"
#include "base/utf8.h"
#include "data/big.h"
#include "data/mask.h"
#include "hosts/cli/template.h"
#include "hosts/cli/words.h"

enum { VALUES_MAX_BYTES = 64 << 20 };

bool values_claim_stdin(struct cli *cli, const char *operand, bool *stdin_used)
{
	if (strcmp(operand, "-") != 0)
		return true;
	if (*stdin_used) {
		report_error(&cli->report, (struct where){ 0 },
			"standard input can be read once: as the template, as one --values, or as "
			"one "
			"--lines");
		return false;
	}
	*stdin_used = true;
	return true;
}

static bool read_file(struct cli *cli, const char *file, json_t *values, bool *stdin_used)
{
	bool standard_input = strcmp(file, "-") == 0;
	AUTO_BUF text = BUF_INIT;

	if (!values_claim_stdin(cli, file, stdin_used))
		return false;
	int r = standard_input ? fd_read_all(STDIN_FILENO, VALUES_MAX_BYTES, &text)
			       : file_read(file, VALUES_MAX_BYTES, &text);
	if (r < 0)
		return report_errno(&cli->report, -r, "cannot read the values of '%s'", file);
	struct source source = { standard_input ? S("<stdin>") : str_of(file), buf_str(&text) };
	if (!str_trim(source.text).len)
		return report_error(&cli->report, (struct where){ &source, 0, 1 },
			"the file is empty, expected an object of names and values");
	AUTO_JSON *given = json_read_big(&source, &cli->report);
	if (!given)
		return false;
	if (!json_is_object(given))
		return report_error(&cli->report, (struct where){ &source, 0, 1 },
			"found %s, expected an object of names and values", json_kind(given));
	json_object_update(values, given);
	return true;
}

/* What a word behind a quoted template, a recipe or a run may have been meant for. */
static bool hint_at_value(struct cli *cli, const char *word)
{
	const char *first = cli->operands[0];
	struct str shown = report_quote(&cli->report, str_of(word));
	bool template = recipes_is_template(cli_app(cli), first);

	if (template && strpbrk(word, "[]{}\""))
		return report_hint(
			&cli->report, "a template with spaces in it has to be quoted whole");
	/* `name x` and `name = x`. */
	if ((template || cli->command->complete == COMPLETE_RUN) && recipes_is_name(str_of(word)))
		return report_hint(&cli->report,
			"a value is one word, without spaces around the =: %.*s=…", STR(shown));
	if (template || cli->command->complete == COMPLETE_RUN)
		return report_hint(
			&cli->report, "a value has a name before it: name=%.*s", STR(shown));
	return report_action(&cli->report, ACTION_SHOW_ARGUMENTS, str_of(first));
}

/* Most likely the command was not quoted. */
static bool hint_at_quotes(struct cli *cli)
{
	AUTO_BUF whole = BUF_INIT;
	AUTO_BUF quoted = BUF_INIT;

	for (size_t i = 0; i < cli->operand_count; i++)
		if (i == 0 || !strchr(cli->operands[i], '='))
			buf_printf(&whole, "%s%s", i ? " " : "", cli->operands[i]);
	command_display(&quoted, (const char *const[]){ buf_cstr(&whole) }, 1);
	return report_hint(&cli->report, "quote the command whole: roux %s %s", cli->command->name,
		buf_cstr(&quoted));
}

/* A word that is not a value. */
static bool not_a_value(struct cli *cli, const char *word)
{
	const char *first = cli->operands[0];

	report_error(&cli->report, (struct where){ 0 },
		"unexpected argument '%.*s': values are written name=value",
		STR(report_quote(&cli->report, str_of(word))));
	/* A template that has spaces was quoted. */
	if (cli->command->complete != COMPLETE_TEMPLATE || !*first ||
		recipes_is_template(cli_app(cli), first))
		return hint_at_value(cli, word);
	return hint_at_quotes(cli);
}

/* Whether what is started declares it: asked when there is something to say about the value. */
static bool is_secret(struct cli *cli, const struct template_opts *o, struct str name)
{
	AUTO_REPORT ignored = REPORT_INIT;
	const char *operand = cli->operands[0];
	const struct recipe_open as = { .as = o->template ? OPERAND_TEMPLATE : OPERAND_ANY,
		.dialect_0_9 = template_is_0_9(o),
		.values = json_null() };

	if (!operand || strcmp(operand, "-") == 0)
		return false; /* standard input can be read once */
	struct recipe_ref *ref = recipes_open(cli_app(cli), operand, &as, &ignored);
	bool hides = ref && recipe_ref_hides(ref, name);
	recipe_ref_free(ref);
	return hides;
}

/* The value behind `name:=`. */
static json_t *read_json(
	struct cli *cli, const struct template_opts *o, struct str name, struct str text)
{
	AUTO_REPORT found = REPORT_INIT;
	struct source source = { arena_printf(&cli->arena, "%.*s:=", STR(name)), text };
	json_t *value = json_read_big(&source, &found);
	bool hidden = !value && is_secret(cli, o, name);

	if (hidden)
		report_error(&cli->report, (struct where){ 0 },
			"the value of '%.*s', which is a secret, is not JSON", STR(name));
	else
		report_move(&cli->report, &found);
	/* Inside brackets JSON is meant, and what is wrong with it has been said. */
	if (!value && (hidden || !(text.len && strchr("[{", text.p[0]))))
		report_hint(&cli->report,
			"after := comes JSON: a string needs double quotes of its own, or "
			"write %.*s=…",
			STR(name));
	return value;
}

static bool read_word(
	struct cli *cli, const struct template_opts *o, const char *word, json_t *values)
{
	struct str s = str_of(word);
	size_t equals = str_find(s, '=', 0);
	bool json = equals > 0 && equals < s.len && s.p[equals - 1] == ':';
	struct str name = str_sub(s, 0, json ? equals - 1 : equals);
	json_t *value;

	if (!recipes_is_name(name)) {
		report_error(&cli->report, (struct where){ 0 },
			"'%.*s' is not a name, expected letters, digits, _ and -",
			STR(report_quote(&cli->report, name)));
		bool blanks = str_contains(name, S(" ")) || utf8_trim(name).len < name.len;
		return report_hint(&cli->report, "%s",
			blanks ? "write name=value without spaces around the ="
			       : "a name begins with a letter or _");
	}
	struct str text = str_from(s, equals + 1);
	if (json) {
		value = read_json(cli, o, name, text);
		if (!value)
			return false;
	} else {
		value = json_from_str(text); /* any bytes: they arrive as they are */
	}
	json_object_setn_new_nocheck(values, name.p, name.len, value);
	return true;
}

/* -- lines ---------------------------------------------------------------------------------------
 */

/* The last one need not end. */
static json_t *lines_of(struct str text, char end)
{
	json_t *lines = json_array();

	for (size_t at = 0; at < text.len;) {
		size_t to = str_find(text, end, at);

		json_array_append_new(lines, json_from_str(str_sub(text, at, to - at)));
		at = to + 1;
	}
	return lines;
}

static bool read_lines(struct cli *cli, const char *option, const char *word, char end,
	json_t *values, bool *stdin_used)
{
	struct report *r = &cli->report;
	const char *equals = strchr(word, '=');
	struct str name = { word, equals ? (size_t)(equals - word) : 0 };
	AUTO_BUF text = BUF_INIT;

	if (!equals || !recipes_is_name(name)) {
		report_error(
			r, (struct where){ 0 }, "--%s takes NAME=FILE, found '%s'", option, word);
		return report_hint(r, "for example --%s files=-, for standard input", option);
	}
	const char *file = equals + 1;
	bool standard_input = strcmp(file, "-") == 0;
	if (!values_claim_stdin(cli, file, stdin_used))
		return false;
	int n = standard_input ? fd_read_all(STDIN_FILENO, VALUES_MAX_BYTES, &text)
			       : file_read(file, VALUES_MAX_BYTES, &text);
	if (n < 0)
		return report_errno(r, -n, "cannot read the lines of '%s'", file);
	if (!utf8_valid(buf_str(&text))) {
		report_error(r, (struct where){ 0 }, "--%s %.*s: '%s' is not UTF-8", option,
			STR(name), standard_input ? "<stdin>" : file);
		return report_hint(
			r, "values are strings; give such names as arguments, name=value");
	}
	json_object_setn_new_nocheck(values, name.p, name.len, lines_of(buf_str(&text), end));
	return true;
}

/* -- words ---------------------------------------------------------------------------------------
 */

/* `name=…` and `name:=…`. */
static bool is_named(const char *word)
{
	size_t end = strcspn(word, ":=");

	return recipes_is_name((struct str){ word, end }) &&
	       (word[end] == '=' || (word[end] == ':' && word[end + 1] == '='));
}

/* Whether words without a name may stand behind the first operand: it is a recipe, or is meant as
 * one, and that there is none is the first thing to say. */
static bool takes_positions(struct cli *cli)
{
	return !recipes_is_template(cli_app(cli), cli->operands[0]);
}

json_t *values_read(struct cli *cli, const struct template_opts *o, size_t count,
	const char *const *words, struct opt_list *positions, bool *stdin_used)
{
	json_t *values = json_object();
	bool ok = true, told = false;
	const char **places = arena_array(&cli->arena, const char *, count);
	size_t placed = 0;

	for (size_t i = 0; i < o->values.len; i++)
		ok &= read_file(cli, o->values.at[i], values, stdin_used);
	for (size_t i = 0; i < o->lines.len; i++)
		ok &= read_lines(cli, "lines", o->lines.at[i], '\n', values, stdin_used);
	for (size_t i = 0; i < o->lines0.len; i++)
		ok &= read_lines(cli, "lines0", o->lines0.at[i], '\0', values, stdin_used);
	for (size_t i = 0; i < count; i++) {
		/* Of `name = x` only the first word is reported. */
		bool is_value = strchr(words[i], '=') != NULL && !(told && words[i][0] == '=');

		if (positions && !is_named(words[i]) && takes_positions(cli)) {
			places[placed++] = words[i];
			continue;
		}
		if (is_value)
			ok &= read_word(cli, o, words[i], values);
		else if (!told)
			ok = not_a_value(cli, words[i]);
		told |= !is_value;
	}
	if (positions)
		*positions = (struct opt_list){ places, placed };
	if (ok)
		return values;
	json_decref(values);
	return NULL;
}

struct placing {
	const struct opt_list *words;
	size_t next;
	json_t *values;
};

static void place(void *data, const struct recipe_argument *arg)
{
	struct placing *p = data;

	if (p->next == p->words->len || json_object_getn(p->values, arg->name.p, arg->name.len))
		return;
	json_object_setn_new_nocheck(p->values, arg->name.p, arg->name.len,
		json_from_str(str_of(p->words->at[p->next++])));
}

static bool place_all(struct cli *cli, const struct recipe_ref *ref,
	const struct opt_list *positions, json_t *values)
{
	struct placing p = { positions, 0, values };

	if (!positions->len)
		return true;
	if (!recipe_ref_declares(ref))
		return not_a_value(cli, positions->at[0]);
	recipe_arguments_each(ref, place, &p);
	if (p.next == positions->len)
		return true;
	report_error(&cli->report, (struct where){ 0 },
		"unexpected argument '%.*s': every argument of the recipe has a value",
		STR(report_quote(&cli->report, str_of(positions->at[p.next]))));
	return report_action(&cli->report, ACTION_SHOW_ARGUMENTS, recipe_ref_operand(ref));
}

/* Of a recipe that is not opened because it lacks a value: its words all the same. */
static void place_without(struct cli *cli, const char *operand, const struct recipe_open *o,
	const struct opt_list *positions)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *values = json_copy(o->values);
	struct recipe_open bare = *o;

	bare.values = json_null();
	struct recipe_ref *ref = recipes_open(cli_app(cli), operand, &bare, &ignored);
	if (ref)
		(void)place_all(cli, ref, positions, values);
	recipe_ref_free(ref);
}

/* Whether a command may be meant, and not a recipe: neither a path nor nearly the name of one. */
static bool is_command(struct cli *cli, const char *operand)
{
	const struct report *r = &cli->report;

	return *operand && !strchr(operand, '/') && r->issues.len &&
	       !r->issues.at[r->issues.len - 1].hint.len;
}

struct recipe_ref *values_open(struct cli *cli, const char *operand, const struct recipe_open *o,
	const struct opt_list *positions)
{
	struct recipe_ref *ref = cli_open_recipe(cli, operand, o);

	if (ref && place_all(cli, ref, positions, o->values))
		return ref;
	if (ref)
		(void)recipe_ref_check_values(ref, &cli->report);
	else if (positions->len && recipes_has(cli_app(cli), operand))
		place_without(cli, operand, o, positions);
	else if (positions->len && is_command(cli, operand))
		hint_at_quotes(cli);
	recipe_ref_free(ref);
	return NULL;
}

void values_warn(struct cli *cli, struct report *warnings)
{
	AUTO_BUF text = BUF_INIT;

	report_word(warnings, cli_words);
	mask_report(cli->mask, warnings);
	vec_each (i, &warnings->issues)
		if (!i->file.len || i->slip)
			issue_text(i, &text);
	if (text.len)
		cli_say(mask_text(cli->mask, buf_str(&text), &cli->arena));
}
