#include "recipe/repo-value.h"

#include "recipe/project.h"
#include "template/type.h"

struct looking {
	bool found;
	struct where first; /* `{repo}` */
	bool meant;         /* as an argument: it has a type, a fallback or a choice */
};

static void look_at_text(struct looking *l, struct str s, const struct place *place)
{
	size_t at = 0, begin, end;

	for (; brace_group(s, at, &begin, &end); at = end) {
		struct str content = str_sub(s, begin + 1, end - begin - 2);
		struct str rest = str_from(content, MIN(content.len, S("repo").len));

		if (!str_starts(content, S("repo")))
			continue;
		if (!rest.len && !l->found) {
			l->first = place_where_in(place, begin, end - begin);
			l->found = true;
		}
		l->meant |= rest.len && str_find(S("=:?"), rest.p[0], 0) < 3;
	}
}

static void look_at(struct looking *l, const json_t *value, const struct place *place)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(value))
		look_at_text(l, json_str(value), place);
	json_array_foreach(value, i, item)
	{
		struct place p = { .doc = place->doc, .up = place, .index = i };

		look_at(l, item, &p);
	}
	if (!json_is_object(value))
		return;
	json_object_foreach((json_t *)value, key, item)
	{
		struct place p = { .doc = place->doc, .up = place, .key = str_of(key) };

		look_at(l, item, &p);
	}
}

/* Not resolved, or for people. */
static bool field_is_prose(struct str key)
{
	return str_eq(key, S("imports")) || str_eq(key, S("usage")) ||
	       str_eq(key, S("description"));
}

static bool declared(const struct recipe_file *f)
{
	static const char *const sections[] = { "defaults", "values" };
	json_t *item;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sections); i++)
		if (json_object_get(json_object_get(f->object, sections[i]), "repo"))
			return true;
	json_array_foreach(json_object_get(f->object, "args"), i, item)
	{
		struct declaration d;

		if (json_is_string(item) && declaration_parse(str_trim(json_str(item)), &d) &&
			str_eq(d.name, S("repo")))
			return true;
	}
	return false;
}

bool repo_value_add(struct recipe_set *set, struct recipe_file *f, struct report *r)
{
	struct str project = project_of_file(f->path);
	struct looking l = { 0 };
	const char *key;
	json_t *value;

	if (!project.len || declared(f))
		return true;
	json_object_foreach(f->doc.root, key, value)
	{
		struct place p = { .doc = &f->doc, .up = &f->place, .key = str_of(key) };

		if (!field_is_prose(p.key))
			look_at(&l, value, &p);
	}
	if (!l.found || l.meant)
		return true;
	/* A default is a text with placeholders, and no way leads to a brace in it. */
	if (str_contains(project, S("{")) || str_contains(project, S("}"))) {
		report_error(r, l.first,
			"'{repo}' would be '%.*s', and a directory with braces in its name cannot "
			"be a default",
			STR(project));
		return report_hint(r, "commands find it in $ROUX_PROJECT");
	}
	json_t *own = json_object_get(f->object, "defaults");
	json_t *defaults = json_is_object(own) ? json_copy(own) : json_object();

	json_object_set_new(defaults, "repo", json_from_str(project));
	json_object_set_new(f->object, "defaults", defaults);
	report_note(&set->extensions, l.first, "`{repo}` of a project is an extension of roux");
	return true;
}
