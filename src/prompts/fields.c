/* The fields of the tables and what may stand in them. */
#include <inttypes.h>

#include "prompts/config.h"

enum {
	AGENT = 1 << KIND_AGENT,
	ROLE = 1 << KIND_ROLE,
	CONTEXT = 1 << KIND_CONTEXT,
	TASK = 1 << KIND_TASK,
	SECTION = ROLE | CONTEXT | TASK,
	SETTINGS = 1 << KIND_SETTINGS,
};

const struct config_field config_fields[] = {
	{ "bin", CONFIG_TEXT, AGENT },
	{ "command", CONFIG_TEXT, AGENT | SECTION },
	{ "batch", CONFIG_TEXT, AGENT },
	{ "description", CONFIG_TEXT, AGENT | SECTION },
	{ "url", CONFIG_TEXT, AGENT },
	{ "models_url", CONFIG_TEXT, AGENT },
	{ "default_model", CONFIG_TEXT, AGENT },
	{ "models", CONFIG_TEXT_TABLE, AGENT },
	{ "stdin", CONFIG_TEXT, AGENT },
	{ "file", CONFIG_TEXT, SECTION },
	{ "prompt", CONFIG_TEXT, SECTION },
	{ "shell", CONFIG_TEXT, SECTION | SETTINGS },
	{ "command_timeout", CONFIG_SECONDS, SECTION | SETTINGS },
	{ "required", CONFIG_BOOL, CONTEXT },
	{ "tags", CONFIG_TEXTS, CONTEXT },
	{ "alias", CONFIG_TEXT, TASK },
	{ "role", CONFIG_TEXT, TASK },
	{ "agent", CONFIG_TEXT, TASK },
	{ "model", CONFIG_TEXT, TASK },
	{ "default_agent", CONFIG_TEXT, SETTINGS },
	{ "default_role", CONFIG_TEXT, SETTINGS },
	{ "log_level", CONFIG_TEXT, SETTINGS },
	{ "asset_download", CONFIG_ANY, SETTINGS },
	{ "asset_repo", CONFIG_ANY, SETTINGS },
	{ "asset_path", CONFIG_ANY, SETTINGS },
	{ NULL, CONFIG_ANY, 0 },
};

const struct config_field *config_field(enum config_kind kind, struct str name)
{
	for (const struct config_field *f = config_fields; f->name; f++)
		if (f->kinds & 1u << kind && str_eq(str_of(f->name), name))
			return f;
	return NULL;
}

const struct place *config_place(struct config *c, const struct config_entry *e, const char *field)
{
	return place_member(&c->arena, e->place, str_of(field));
}

static const char *wanted(enum config_type type)
{
	static const char *const names[] = {
		[CONFIG_TEXT] = "a string in quotes",
		[CONFIG_BOOL] = "true or false",
		[CONFIG_SECONDS] = "a positive number of seconds",
		[CONFIG_TEXTS] = "an array of strings",
		[CONFIG_TEXT_TABLE] = "a table of strings",
		[CONFIG_ANY] = "anything",
	};

	return names[type];
}

/* Dates, times, inf and nan are texts to us, but they were not written as texts. */
static bool written_bare(const struct place *p, const json_t *value)
{
	struct str s = json_str(value);
	bool date = s.len >= 8 && ascii_digit(s.p[0]) && ascii_digit(s.p[1]);

	if (!date && !str_ends(s, S("inf")) && !str_ends(s, S("nan")))
		return false;
	struct where w = place_where(p);
	char first = w.offset < w.source->text.len ? w.source->text.p[w.offset] : '"';
	return first != '"' && first != '\'';
}

static bool is_text(const struct place *p, const json_t *value)
{
	return json_is_string(value) && !written_bare(p, value);
}

static const char *kind_of(const struct place *p, const json_t *value)
{
	if (!json_is_string(value) || !written_bare(p, value))
		return json_kind(value);
	return ascii_digit(json_str(value).p[0]) ? "a date or time" : "inf or nan";
}

static bool wrong(
	const struct place *p, const struct config_field *f, const json_t *value, struct report *r)
{
	if (f->type == CONFIG_SECONDS && json_is_number(value))
		report_error(r, place_where(p), "'%s' is not positive", f->name);
	else
		report_error(r, place_where(p), "'%s' is %s; expected %s", f->name,
			kind_of(p, value), wanted(f->type));
	if (f->type == CONFIG_TEXT)
		return report_hint(r, "write %s = \"…\"", f->name);
	return report_hint(r, "give it %s", wanted(f->type));
}

static bool check_texts(struct config *c, const struct place *p, const json_t *array,
	const struct config_field *f, struct report *r)
{
	bool ok = true;

	for (size_t i = 0; i < json_array_size(array); i++) {
		const json_t *item = json_array_get(array, i);
		const struct place *at = place_element(&c->arena, p, i);

		if (is_text(at, item))
			continue;
		report_error(r, place_where(at), "'%s' has %s in it; expected strings", f->name,
			kind_of(at, item));
		ok = report_hint(r, "put it in quotes");
	}
	return ok;
}

static bool check_text_table(struct config *c, const struct place *p, const json_t *table,
	const struct config_field *f, struct report *r)
{
	const char *key;
	json_t *item;
	bool ok = true;

	json_object_foreach((json_t *)table, key, item)
	{
		const struct place *at = place_member(&c->arena, p, str_of(key));

		if (is_text(at, item))
			continue;
		report_error(r, place_where(at), "'%.*s' of '%s' is %s; expected a string",
			STR(report_quote(r, str_of(key))), f->name, kind_of(at, item));
		ok = report_hint(r, "put it in quotes");
	}
	return ok;
}

/* The system would take the text up to its first NUL. */
static bool check_nul(
	const struct place *p, const struct config_field *f, const json_t *value, struct report *r)
{
	static const char *const names[] = { "bin", "file", "shell" };
	struct str s = json_str(value);

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (str_find(s, '\0', 0) == s.len || !str_eq(str_of(f->name), str_of(names[i])))
			continue;
		report_error(r, place_where(p), "'%s' has a NUL character in it", f->name);
		return report_hint(r, "leave out \\u0000: no path can hold it");
	}
	return true;
}

static bool check_value(struct config *c, const struct place *p, const struct config_field *f,
	const json_t *value, struct report *r)
{
	switch (f->type) {
	case CONFIG_TEXT:
		return is_text(p, value) ? check_nul(p, f, value, r) : wrong(p, f, value, r);
	case CONFIG_BOOL:
		return json_is_boolean(value) || wrong(p, f, value, r);
	case CONFIG_SECONDS:
		return (json_is_number(value) && json_number_value(value) > 0) ||
		       wrong(p, f, value, r);
	case CONFIG_TEXTS:
		return json_is_array(value) ? check_texts(c, p, value, f, r)
					    : wrong(p, f, value, r);
	case CONFIG_TEXT_TABLE:
		return json_is_object(value) ? check_text_table(c, p, value, f, r)
					     : wrong(p, f, value, r);
	case CONFIG_ANY:
		return true;
	}
	UNREACHABLE("a field of no type");
}

bool config_check_field(
	struct config *c, const struct config_entry *e, const char *field, struct report *r)
{
	const json_t *value = config_value(e, field);

	return !value || check_value(c, config_place(c, e, field),
				 config_field(e->kind, str_of(field)), value, r);
}

static bool check_twin(const struct config_entry *e, struct report *r)
{
	if (!e->twin)
		return true;
	AUTO_REPORT first = REPORT_INIT;
	report_error(&first, place_key_where(e->place), "first");
	const struct issue *i = &first.issues.at[0];
	report_error(r, place_key_where(e->twin->place), "%s '%.*s' is defined twice",
		config_kind_name(e->kind), STR(e->name));
	return report_hint(r, "the other is at %.*s:%zu:%zu; leave one of them", STR(i->file),
		i->line, i->column);
}

bool config_check(struct config *c, const struct config_entry *e, struct report *r)
{
	const char *key;
	json_t *value;
	bool ok = check_twin(e, r);

	if (!json_is_object(e->value)) {
		report_error(r, place_where(e->place), "%s '%.*s' is %s; expected a table",
			config_kind_name(e->kind), STR(e->name), json_kind(e->value));
		return report_hint(r, "write [%s.%.*s]", config_table_name(e->kind), STR(e->name));
	}
	json_object_foreach((json_t *)e->value, key, value)
	{
		const struct config_field *f = config_field(e->kind, str_of(key));

		if (f)
			ok &= check_value(c, config_place(c, e, key), f, value, r);
	}
	return ok;
}

bool config_check_settings(struct config *c, struct report *r)
{
	bool ok = true;

	vec_each (e, &c->entries[KIND_SETTINGS]) {
		const struct config_field *f = config_field(KIND_SETTINGS, (*e)->name);

		if (!f)
			continue;
		ok &= check_twin(*e, r);
		ok &= check_value(c, (*e)->place, f, (*e)->value, r);
	}
	return ok;
}
