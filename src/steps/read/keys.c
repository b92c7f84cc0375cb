#include "steps/read/keys.h"

#include <math.h>

#include "base/near.h"
#include "base/number.h"
#include "data/big.h"
#include "steps/language/value.h"
#include "steps/read/names.h"

struct place *key_place(const struct key_reader *kr, const struct key_object *o, struct str name)
{
	return place_member(kr->a, o->place, name);
}

bool key_present(const json_t *value)
{
	if (!value || json_is_null(value) || json_is_false(value))
		return false;
	if (json_is_string(value))
		return json_string_length(value) > 0;
	if (json_is_array(value))
		return json_array_size(value) > 0;
	if (json_is_object(value))
		return json_object_size(value) > 0;
	return !json_is_integer(value) || json_integer_value(value) != 0;
}

bool key_is_shell(struct str name)
{
	static const char *const names[] = { "run", "cmd", "cmds", "commands", "bash", "sh",
		"shell_command", "script", "exec" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(name, str_of(names[i])))
			return true;
	return false;
}

void key_unknown(const struct key_reader *kr, const struct key_object *o, struct str name)
{
	struct report *r = key_strict(o->in) ? kr->r : &kr->recipe->warnings;
	struct where w = place_key_where_for(r, key_place(kr, o, name));
	struct str near = key_nearest(o->in, name), shown = report_quote(r, name);

	/* What agents are given may have any keys. */
	if (o->in == KEY_IN_ORCHESTRATOR_CONFIG)
		return;
	if (key_strict(o->in))
		report_error(r, w, "%.*sunknown key '%.*s'", STR(o->what), STR(shown));
	else
		report_warning(
			r, w, "%.*sthe unknown key '%.*s' is ignored", STR(o->what), STR(shown));
	if (near.len)
		report_hint(r, "did you mean '%.*s'?", STR(near));
	else if (o->in == KEY_IN_STEP && key_is_shell(name))
		report_hint(r, "a shell command is `type: bash` with `command: …`");
	else
		report_action(r, ACTION_STEP_KEYS, S(""));
	if (near.len && !key_strict(o->in))
		report_slip(r);
}

/* -- one value -----------------------------------------------------------------------------------
 */

/* YAML takes words such as no and 1.0 for something else than texts. Returns false. */
static bool hint_quotes(const struct key_reader *kr, const json_t *value, const struct place *place)
{
	struct where w = place_where(place);
	struct str text = w.source ? str_sub(w.source->text, w.offset, w.length) : S("");
	bool word = text.len && !strchr("*&!\"'", text.p[0]) && text.len < 40;

	if (!word)
		return report_hint(kr->r, "put quotes around it");
	struct str shown = report_quote(kr->r, text);
	return report_hint(kr->r,
		"put quotes around it, \"%.*s\": without them YAML takes it for %s", STR(shown),
		json_is_boolean(value) ? "a boolean" : step_value_kind(value));
}

static bool wrong_type(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *value, const struct place *place)
{
	report_error(kr->r, place_where(place), "%.*s`%.*s` is %s, expected %s%s", STR(o->what),
		STR(k->name), step_value_kind(value), k->wanted,
		k->duration ? ", or one with a unit such as \"90s\"" : "");
	if (k->types == KEY_TEXT && !k->words && !k->example && !json_is_array(value) &&
		!json_is_object(value))
		return hint_quotes(kr, value, place);
	if (k->types == KEY_LIST && json_is_string(value))
		return report_hint(kr->r, "a list of one is written [%.*s]",
			STR(report_quote(kr->r, json_str(value))));
	return k->example ? report_hint(kr->r, "write %s", k->example)
			  : report_hint(kr->r, "%s", k->summary);
}

static bool check_word(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	struct str word, const struct place *place)
{
	struct near near = near_to(word);

	for (size_t i = 0; k->words[i]; i++) {
		if (str_eq(word, str_of(k->words[i])))
			return true;
		near_offer(&near, str_of(k->words[i]));
	}
	report_error(kr->r, place_where(place), "%.*s`%.*s` is '%.*s', expected %s", STR(o->what),
		STR(k->name), STR(report_quote(kr->r, word)), k->wanted);
	struct str best = near_best(&near);
	return best.len ? report_hint(kr->r, "did you mean '%.*s'?", STR(best))
			: report_hint(kr->r, "%s", k->summary);
}

static bool check_name(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	struct str name, const struct place *place)
{
	if (!name_of_variable(name)) {
		report_error(kr->r, place_where(place),
			"%.*s`%.*s` is '%.*s', expected letters, digits and underscores",
			STR(o->what), STR(k->name), STR(report_quote(kr->r, name)));
		return report_hint(kr->r, "it is used as {{name}}");
	}
	/* A loop variable may hide what is reserved: recipes do `as: recipe`. */
	if (k->is_name == KEY_NAME_RESULT && name_reserved(name, true)) {
		report_error(kr->r, place_where(place), "%.*s`%.*s` is '%.*s', which is reserved",
			STR(o->what), STR(k->name), STR(name));
		return report_hint(kr->r, "roux itself sets recipe, session, step and stage");
	}
	return true;
}

/* Whole numbers beyond 64 bits are too large or too small for everything. */
static double number_of(const json_t *value)
{
	if (json_is_big(value))
		return json_big_digits(value).p[0] == '-' ? -INFINITY : INFINITY;
	return json_number_value(value);
}

static bool check_number(const struct key_reader *kr, const struct key_object *o,
	const struct key *k, const json_t *value, const struct place *place)
{
	double number = number_of(value);
	AUTO_BUF shown = BUF_INIT;

	if (number >= k->minimum && (k->maximum == 0 || number <= k->maximum) &&
		(json_is_real(value) || !json_is_big(value)))
		return true;
	step_value_render(&shown, value);
	struct str quoted = report_quote(kr->r, buf_str(&shown));
	if (k->maximum != 0)
		report_error(kr->r, place_where(place), "%.*s`%.*s` is %.*s, expected %g to %g",
			STR(o->what), STR(k->name), STR(quoted), k->minimum, k->maximum);
	else if (number < k->minimum)
		report_error(kr->r, place_where(place), "%.*s`%.*s` is %.*s, expected at least %g",
			STR(o->what), STR(k->name), STR(quoted), k->minimum);
	else
		report_error(kr->r, place_where(place), "%.*s`%.*s` is %.*s, which is too large",
			STR(o->what), STR(k->name), STR(quoted));
	return report_hint(kr->r, "%s", k->summary);
}

static bool check_items(const struct key_reader *kr, const struct key_object *o,
	const struct key *k, const json_t *value, const struct place *place)
{
	json_t *item;
	size_t i;

	if (k->items != KEY_ITEMS_TEXTS && k->items != KEY_ITEMS_NAMES &&
		k->items != KEY_ITEMS_MAPPINGS)
		return true;
	bool mappings = k->items == KEY_ITEMS_MAPPINGS, ok = true;
	json_array_foreach(value, i, item)
	{
		if (mappings ? json_is_object(item) : json_is_string(item) && !json_is_big(item))
			continue;
		report_error(kr->r, place_where(place_element(kr->a, place, i)),
			"%.*s%s is in `%.*s`, expected %s", STR(o->what), step_value_kind(item),
			STR(k->name), mappings ? "mappings" : "strings");
		ok = mappings ? report_hint(kr->r, "%s", k->summary)
			      : hint_quotes(kr, item, place_element(kr->a, place, i));
	}
	return ok;
}

/* Neither an argument nor a variable of the environment can have one. */
static bool check_nul(const struct key_reader *kr, const struct key_object *o, struct str name,
	struct str text, const struct place *place)
{
	size_t at = str_find(text, '\0', 0);

	if (at == text.len)
		return true;
	report_error(kr->r, place_where_in(place, at, 1), "%.*s`%.*s` has a NUL in it",
		STR(o->what), STR(name));
	return report_hint(kr->r, "no argument and no variable of the environment can have one");
}

/* Where a number has to be more than none, so has a duration. */
static bool check_duration(const struct key_reader *kr, const struct key_object *o,
	const struct key *k, const json_t *value, const struct place *place, double ms)
{
	report_note(&kr->recipe->extensions, place_where_for(&kr->recipe->extensions, place),
		"%.*s`%.*s` with a unit is an extension of roux", STR(o->what), STR(k->name));
	if (ms > 0 || k->minimum <= 0)
		return true;
	report_error(kr->r, place_where(place), "%.*s`%.*s` is '%.*s', expected more than nothing",
		STR(o->what), STR(k->name), STR(json_str(value)));
	return report_hint(kr->r, "%s", k->summary);
}

static bool check(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *value, const struct place *place)
{
	double ms;

	if (!key_accepts(k, value))
		return wrong_type(kr, o, k, value, place);
	if (k->extension)
		report_note(&kr->recipe->extensions,
			place_key_where_for(&kr->recipe->extensions, place),
			"%.*s`%.*s` is an extension of roux", STR(o->what), STR(k->name));
	if (key_duration(k, value, &ms))
		return check_duration(kr, o, k, value, place, ms);
	if (json_is_big(value) || json_is_number(value))
		return !(k->types & (KEY_NUMBER | KEY_INTEGER)) || k->types & KEY_TEXT ||
		       check_number(kr, o, k, value, place);
	if (json_is_array(value))
		return check_items(kr, o, k, value, place);
	if (!json_is_string(value))
		return true;
	struct str text = json_str(value);
	if (k->words && !check_word(kr, o, k, text, place))
		return false;
	if (k->is_name && !check_name(kr, o, k, text, place))
		return false;
	return check_nul(kr, o, k->name, text, place);
}

/* -- storing -------------------------------------------------------------------------------------
 */

static uint64_t to_ms(double seconds)
{
	double ms = seconds * 1000;

	return ms >= 9e15 ? (uint64_t)9e15 : (uint64_t)llround(ms);
}

static struct recipe_text text_of(
	const struct key_reader *kr, const json_t *value, const struct place *place)
{
	AUTO_BUF shown = BUF_INIT;

	if (json_is_string(value) && !json_is_big(value))
		return (struct recipe_text){ json_str(value), place };
	step_value_render(&shown, value);
	return (struct recipe_text){ arena_str(kr->a, buf_str(&shown)), place };
}

static void store(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *value, const struct place *place)
{
	if (k->store == KEY_STORE_NOT)
		return;
	void *to = (char *)o->into + k->offset;
	double ms;

	switch (k->store) {
	case KEY_STORE_NOT:
		break;
	case KEY_STORE_TEXT:
		*(struct recipe_text *)to = text_of(kr, value, place);
		break;
	case KEY_STORE_VALUE:
		*(struct recipe_value *)to = (struct recipe_value){ value, place };
		break;
	case KEY_STORE_BOOL:
		*(bool *)to = json_is_true(value);
		break;
	case KEY_STORE_INT:
		/* Those that take durations are milliseconds. */
		*(int64_t *)to = key_duration(k, value, &ms) ? (int64_t)MIN(ms, 9e15)
							     : json_integer_value(value);
		break;
	case KEY_STORE_DOUBLE:
		*(double *)to = json_number_value(value);
		break;
	case KEY_STORE_SECONDS:
		*(uint64_t *)to = key_duration(k, value, &ms) ? (uint64_t)MIN(ms, 9e15)
							      : to_ms(json_number_value(value));
		break;
	case KEY_STORE_WORD:
		for (size_t i = 0; k->words[i]; i++)
			if (str_eq(json_str(value), str_of(k->words[i])))
				*(unsigned *)to = (unsigned)i; /* every enum here is one */
		break;
	}
}

/* Of the texts in the table: the reader of JSON is for what others write. */
static json_t *fallback_of(const struct key *k)
{
	struct str text = str_of(k->fallback);
	uint64_t n;

	if (str_eq(text, S("false")) || str_eq(text, S("true")))
		return json_boolean(text.p[0] == 't');
	if (str_to_uint(text, &n))
		return json_integer((json_int_t)n);
	return json_loads(k->fallback, JSON_DECODE_ANY, NULL);
}

void keys_default(enum key_in in, void *into)
{
	struct key_object o = { .in = in, .into = into };

	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];
		bool text = k->store == KEY_STORE_TEXT || k->store == KEY_STORE_VALUE;

		if (k->in != in || !k->fallback || k->store == KEY_STORE_NOT || text)
			continue;
		AUTO_JSON *value = fallback_of(k);
		store(NULL, &o, k, value, NULL);
	}
}

bool key_read(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *value, const struct place *place)
{
	if (!check(kr, o, k, value, place))
		return false;
	store(kr, o, k, value, place);
	return true;
}

/* -- whole mappings ------------------------------------------------------------------------------
 */

static void missing(const struct key_reader *kr, const struct key_object *o, const struct key *k)
{
	const json_t *value = json_object_get(o->value, k->name.p);
	bool empty = value && !json_is_null(value);

	report_error(kr->r, place_where(empty ? key_place(kr, o, k->name) : o->place),
		"%.*s`%.*s` is %s", STR(o->what), STR(k->name), empty ? "empty" : "missing");
	report_hint(kr->r, "%s", k->summary);
}

void keys_read(const struct key_reader *kr, const struct key_object *o)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)o->value, name, value)
	{
		const struct key *k = key_find(o->in, str_of(name));

		if (!k)
			key_unknown(kr, o, str_of(name));
		else if (!json_is_null(value))
			(void)key_read(kr, o, k, value, key_place(kr, o, k->name));
	}
	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		if (k->in == o->in && k->required) {
			const json_t *v = json_object_get(o->value, k->name.p);

			/* A value of another type was complained about. */
			if (!key_present(v) && (!v || json_is_null(v) || key_accepts(k, v)))
				missing(kr, o, k);
		}
	}
}

struct key_object key_inside(
	const struct key_reader *kr, const struct key_object *o, const struct key *k, void *into)
{
	return (struct key_object){ .in = k->inside,
		.value = json_object_get(o->value, k->name.p),
		.place = key_place(kr, o, k->name),
		.what = arena_printf(kr->a, "%.*s%.*s: ", STR(o->what), STR(k->name)),
		.into = into };
}

bool key_texts(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *list, const struct place *place, const struct str **ret, size_t *count)
{
	struct str *texts = arena_array(kr->a, struct str, json_array_size(list));
	json_t *item;
	size_t i;

	if (!check(kr, o, k, list, place))
		return false;
	json_array_foreach(list, i, item) texts[i] = json_str(item);
	*ret = texts;
	*count = json_array_size(list);
	return true;
}

static bool check_pair(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	struct str name, const json_t *value, const struct place *place)
{
	if (k->items == KEY_ITEMS_BY_NAME) {
		if (name_of_variable(name) && !name_reserved(name, false))
			return true;
		report_error(kr->r, place_key_where(place), "%.*s`%.*s` sets '%.*s', %s",
			STR(o->what), STR(k->name), STR(report_quote(kr->r, name)),
			name_of_variable(name) ? "which is reserved"
					       : "expected letters, digits and underscores");
		return report_hint(kr->r, "a variable is used as {{name}}");
	}
	if (!name_of_environment(name)) {
		report_error(kr->r, place_key_where(place),
			"%.*s'%.*s' in `%.*s` is not a name of an environment variable",
			STR(o->what), STR(report_quote(kr->r, name)), STR(k->name));
		return report_hint(kr->r, "it must not be empty or have a '=' in it");
	}
	if (json_is_array(value) || json_is_object(value)) {
		report_error(kr->r, place_where(place),
			"%.*s'%.*s' in `%.*s` is %s, expected a string, a number or a boolean",
			STR(o->what), STR(report_quote(kr->r, name)), STR(k->name),
			step_value_kind(value));
		return report_hint(kr->r, "\"{{name}}\" gives a variable as JSON text");
	}
	return !json_is_string(value) || check_nul(kr, o, name, json_str(value), place);
}

bool key_pairs(const struct key_reader *kr, const struct key_object *o, const struct key *k,
	const json_t *mapping, const struct place *place, const struct recipe_pair **ret,
	size_t *count)
{
	if (!check(kr, o, k, mapping, place))
		return false;
	struct recipe_pair *pairs =
		arena_array(kr->a, struct recipe_pair, json_object_size(mapping));
	bool ok = true;
	const char *name;
	json_t *value;
	size_t n = 0;

	json_object_foreach((json_t *)mapping, name, value)
	{
		const struct place *at = place_member(kr->a, place, str_of(name));

		ok &= check_pair(kr, o, k, str_of(name), value, at);
		pairs[n] = (struct recipe_pair){ .name = at->key, .value = value };
		if (json_is_string(value) && !json_is_big(value))
			pairs[n].text = (struct recipe_text){ json_str(value), at };
		n++;
	}
	*ret = pairs;
	*count = n;
	return ok;
}
