#include "recipe/reference.h"

#include "template/type.h"

struct resolving {
	struct recipe_set *set;
	const struct recipe_file *file;
	struct report *r;
	bool failed;
	size_t weight; /* of what references have brought in */
};

enum { WEIGHT_MAX = 1 << 20 };

enum found {
	FOUND_NOTHING, /* not a reference at all: an ordinary placeholder, or text */
	FOUND_MISSING, /* a reference to what is not there */
	FOUND_VALUE,
	FOUND_BAD, /* an alias or a section that does not exist */
};

static const char *const sections[] = { "name", "file", "defaults", "values" };

/* The longest alias that `text` begins with and that a dot follows. */
static const struct recipe_import *find_alias(const struct recipe_file *f, struct str text)
{
	vec_each (length, &f->alias_lengths) {
		if (*length >= text.len || text.p[*length] != '.')
			continue;
		const struct recipe_import *import =
			recipe_import_find(f, str_sub(text, 0, *length));

		if (import)
			return import;
	}
	return NULL;
}

/* word.defaults, word.defaults.key …: what is meant as a reference although no import is called so.
 */
static bool looks_like_reference(struct str text)
{
	size_t dot = str_find(text, '.', 0);
	struct str rest = str_from(text, MIN(dot + 1, text.len));

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !ascii_digit(c) &&
			c != '_' && c != '.' && c != '-')
			return false;
	}
	for (size_t i = 0; dot > 0 && i < ARRAY_SIZE(sections); i++) {
		struct str section = str_of(sections[i]);

		if (str_eq(rest, section) ||
			(i >= 2 && str_starts(rest, section) && rest.p[section.len] == '.'))
			return true;
	}
	return false;
}

/* The two layers of a section; the later one wins. */
static void layers(const struct recipe_import *import, bool values, const json_t *ret[2])
{
	ret[0] = recipe_file_section(import->file, values);
	ret[1] = values ? import->values : import->defaults;
}

static enum found walk_keys(const json_t *value, struct str keys, json_t **ret)
{
	while (keys.len) {
		size_t dot = str_find(keys, '.', 0);

		value = json_is_object(value) ? json_object_getn(value, keys.p, dot) : NULL;
		if (!value)
			return FOUND_MISSING;
		keys = str_from(keys, MIN(dot + 1, keys.len));
	}
	*ret = json_incref((json_t *)value);
	return FOUND_VALUE;
}

static enum found section_value(
	const struct recipe_import *import, bool values, struct str keys, json_t **ret)
{
	const json_t *both[2];

	layers(import, values, both);
	if (!keys.len) {
		json_t *all = json_object();

		for (size_t i = 0; i < 2; i++)
			if (json_is_object(both[i]))
				json_object_update(all, (json_t *)both[i]);
		*ret = all;
		return FOUND_VALUE;
	}
	/* The first key decides which layer has it. */
	size_t dot = str_find(keys, '.', 0);
	for (size_t i = 2; i > 0; i--)
		if (json_is_object(both[i - 1]) && json_object_getn(both[i - 1], keys.p, dot))
			return walk_keys(both[i - 1], keys, ret);
	return FOUND_MISSING;
}

/* One reference without fallback or choice. */
static enum found look_up(const struct recipe_file *f, struct str text, json_t **ret)
{
	const struct recipe_import *import = find_alias(f, text);

	if (!import)
		return looks_like_reference(text) ? FOUND_BAD : FOUND_NOTHING;
	if (!import->file) {
		*ret = json_from_str(S("")); /* it could not be loaded: that was said */
		return FOUND_VALUE;
	}
	struct str rest = str_from(text, import->alias.len + 1);
	if (str_eq(rest, S("name"))) {
		*ret = json_from_str(import->file->id);
		return FOUND_VALUE;
	}
	if (str_eq(rest, S("file"))) {
		*ret = json_from_str(import->file->path);
		return FOUND_VALUE;
	}
	for (size_t i = 2; i < ARRAY_SIZE(sections); i++) {
		struct str section = str_of(sections[i]);

		if (str_eq(rest, section))
			return section_value(import, i == 3, S(""), ret);
		if (str_starts(rest, section) && rest.p[section.len] == '.')
			return section_value(import, i == 3, str_from(rest, section.len + 1), ret);
	}
	return FOUND_BAD;
}

/* A fallback or an arm of a choice: quoted text, a reference again, or text. */
static json_t *operand(const struct recipe_file *f, struct str text)
{
	json_t *value = NULL;

	text = str_trim(text);
	if (text.len >= 2 && (text.p[0] == '"' || text.p[0] == '\'') &&
		text.p[text.len - 1] == text.p[0])
		return json_from_str(str_sub(text, 1, text.len - 2));
	switch (look_up(f, text, &value)) {
	case FOUND_VALUE:
		return value;
	case FOUND_MISSING:
		return json_from_str(S(""));
	case FOUND_NOTHING:
	case FOUND_BAD:
		break;
	}
	return json_from_str(text);
}

static bool chosen(const json_t *value)
{
	return value && !json_is_null(value) && !json_is_false(value) &&
	       !(json_is_number(value) && json_number_value(value) == 0) &&
	       !(json_is_string(value) && !json_string_length(value));
}

/* What stands between the braces. */
static enum found evaluate(const struct recipe_file *f, struct str content, json_t **ret)
{
	size_t question = str_find(content, '?', 0);
	size_t colon = str_find(content, ':', question);
	size_t equals = str_find(content, '=', 0);
	struct str left = str_trim(content);
	bool choice = colon < content.len, fallback = !choice && equals < content.len;
	json_t *value = NULL;

	if (choice)
		left = str_trim(str_sub(content, 0, question));
	else if (fallback)
		left = str_trim(str_sub(content, 0, equals));
	enum found found = look_up(f, left, &value);
	if (found == FOUND_NOTHING || found == FOUND_BAD)
		return found;
	if (choice) {
		*ret = operand(f, chosen(value)
					  ? str_sub(content, question + 1, colon - question - 1)
					  : str_from(content, colon + 1));
		json_decref(value);
		return FOUND_VALUE;
	}
	if (fallback && (!value || json_is_null(value))) {
		json_decref(value);
		*ret = operand(f, str_from(content, equals + 1));
		return FOUND_VALUE;
	}
	*ret = value;
	return found;
}

static void complain(struct resolving *rs, const struct place *place, size_t offset,
	struct str group, enum found why)
{
	rs->failed = true;
	report_error(rs->r, place_where_in(place, offset, group.len),
		why == FOUND_BAD ? "'%.*s' refers to an import or a part of one that does not exist"
				 : "'%.*s' refers to something that the import does not have",
		STR(group));
	if (why == FOUND_BAD)
		report_hint(
			rs->r, "references are {alias.name}, .file, .defaults.key or .values.key");
	else
		report_hint(rs->r, "give a fallback: {alias.defaults.key=text}");
}

/* Bytes and values, counted no further than the limit: recipes that refer to each other twice
 * double. */
static void weigh(size_t *weight, const json_t *value)
{
	const char *key;
	json_t *item;
	size_t i;

	*weight += 1 + (json_is_string(value) ? json_string_length(value) : 0);
	if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, item)
		{
			if (*weight > WEIGHT_MAX)
				return;
			weigh(weight, item);
		}
	}
	json_array_foreach(value, i, item)
	{
		if (*weight > WEIGHT_MAX)
			return;
		weigh(weight, item);
	}
}

static bool too_heavy(struct resolving *rs, const json_t *value, const struct place *place)
{
	bool before = rs->weight > WEIGHT_MAX;

	if (!before)
		weigh(&rs->weight, value);
	if (rs->weight <= WEIGHT_MAX)
		return false;
	rs->failed = true;
	if (!before) {
		report_error(rs->r, place_where(place),
			"the references of this recipe bring in more than 1 MiB");
		report_hint(rs->r, "recipes that refer to each other several times multiply");
	}
	return true;
}

/* A command, as opposed to a default or a description: it will be split into words. */
static bool in_command(const struct place *p)
{
	for (; p->up; p = p->up)
		if (p->key.p && !str_eq(p->key, S("template")) && !str_eq(p->key, S("recover")))
			return false;
	return true;
}

/* Whether the text at `at` is of the first word, or outside quotes. */
static bool exposed(struct str s, size_t at, bool *quoted)
{
	size_t i = (size_t)(str_trim(s).p - s.p);
	bool first = true;
	char quote = '\0';

	for (; i < at; i++) {
		char c = s.p[i];

		if (c == '\\' && quote != '\'')
			i++;
		else if (quote && c == quote)
			quote = '\0';
		else if (!quote && (c == '"' || c == '\''))
			quote = c;
		else if (!quote && (c == ' ' || c == '\t' || c == '\n' || c == '\r'))
			first = false;
	}
	*quoted = quote != '\0';
	return first || !quote;
}

/* What the splitter and the placeholders will read in it; NULL: nothing. */
static const char *meaning(struct str text, bool quoted)
{
	bool blanks = false;

	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];

		if (c == '{' || c == '}')
			return "braces, which are read as placeholders";
		if (c == '"' || c == '\'' || c == '\\')
			return "quotes or backslashes, which are not kept";
		blanks |= c == ' ' || c == '\t' || c == '\n' || c == '\r';
	}
	if (!blanks)
		return NULL;
	return quoted ? "spaces, which the program's name then has"
		      : "spaces, so that it becomes several words";
}

static void warn_of_text(struct resolving *rs, const struct place *place, struct str s, size_t at,
	struct str group, const json_t *value)
{
	AUTO_BUF text = BUF_INIT;
	bool quoted;

	if (!in_command(place) || !exposed(s, at, &quoted))
		return;
	template_text(&text, value);
	const char *found = meaning(buf_str(&text), quoted);
	if (!found)
		return;
	report_warning(&rs->set->warnings, place_where_in(place, at, group.len),
		"'%.*s' brings in %s", STR(group), found);
	report_hint(&rs->set->warnings,
		"a value stays one argument when it comes through `defaults`: "
		"{\"word\": \"%.*s\"} and {word} here",
		STR(group));
}

static json_t *resolve_text(struct resolving *rs, const json_t *text, const struct place *place)
{
	struct str s = json_str(text);
	AUTO_BUF made = BUF_INIT;
	size_t at = 0, begin, end;
	bool changed = false;

	while (brace_group(s, at, &begin, &end)) {
		struct str group = str_sub(s, begin, end - begin);
		json_t *value = NULL;
		enum found found = evaluate(rs->file, str_sub(group, 1, group.len - 2), &value);

		if (found == FOUND_VALUE && too_heavy(rs, value, place)) {
			json_decref(value);
			return json_incref((json_t *)text);
		}
		if (found == FOUND_VALUE)
			warn_of_text(rs, place, s, begin, group, value);
		if (found == FOUND_VALUE && group.len == s.len)
			return json_is_null(value) ? (json_decref(value), json_from_str(S("")))
						   : value;
		buf_add(&made, str_sub(s, at, begin - at));
		if (found == FOUND_VALUE) {
			template_text(&made, value);
			changed = true;
		} else {
			buf_add(&made, group);
		}
		if (found == FOUND_BAD || found == FOUND_MISSING)
			complain(rs, place, begin, group, found);
		json_decref(value);
		at = end;
	}
	if (!changed)
		return json_incref((json_t *)text);
	buf_add(&made, str_from(s, at));
	return json_from_str(buf_str(&made));
}

static json_t *resolve(struct resolving *rs, const json_t *value, const struct place *place)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		return resolve_text(rs, value, place);
	if (json_is_array(value)) {
		json_t *array = json_array();

		json_array_foreach(value, i, item)
		{
			struct place p = { .doc = place->doc, .up = place, .index = i };

			json_array_append_new(array, resolve(rs, item, &p));
		}
		return array;
	}
	if (json_is_object(value)) {
		json_t *object = json_object();

		json_object_foreach((json_t *)value, key, item)
		{
			struct place p = { .doc = place->doc, .up = place, .key = str_of(key) };

			json_object_set_new_nocheck(object, key, resolve(rs, item, &p));
		}
		return object;
	}
	return json_incref((json_t *)value);
}

json_t *reference_resolve(
	struct recipe_set *set, const struct recipe_file *f, bool *ok, struct report *r)
{
	struct resolving rs = { .set = set, .file = f, .r = r };
	json_t *object = json_object();
	const char *key;
	json_t *value;

	json_object_foreach(f->doc.root, key, value)
	{
		struct place p = { .doc = &f->doc, .up = &f->place, .key = str_of(key) };
		bool own = str_eq(p.key, S("imports")) || str_eq(p.key, S("usage"));

		json_object_set_new_nocheck(
			object, key, own ? json_incref(value) : resolve(&rs, value, &p));
	}
	*ok = !rs.failed;
	return object;
}
