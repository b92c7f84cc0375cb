#include "steps/compile/sub-recipe.h"

#include "base/file.h"
#include "base/path.h"

bool sub_recipe_is_template(struct str path)
{
	return str_ends(path, S(".json")) || str_ends(path, S(".md"));
}

static bool is_name(struct str word)
{
	return str_find(word, '/', 0) == word.len && !str_starts(word, S("@")) &&
	       !sub_recipe_is_template(word) && !str_ends(word, S(".yaml")) &&
	       !str_ends(word, S(".yml"));
}

bool sub_recipe_is_extension(struct str word)
{
	/* What variables make of it is known when it runs. */
	return !str_contains(word, S("{{")) && (is_name(word) || sub_recipe_is_template(word));
}

/* What is looked for knows nothing of the step that asks. */
static bool find_by_name(const struct sub_recipe *sub, struct buf *ret, struct report *r)
{
	AUTO_REPORT found = REPORT_INIT;

	if (sub->find(sub->find_data, sub->word, ret, &found))
		return true;
	vec_each (i, &found.issues) {
		(i->kind == ISSUE_SYSTEM ? report_system : report_error)(r,
			place_where(sub->step->called.recipe.place), "step '%.*s': %.*s",
			STR(sub->step->id), STR(i->message));
		report_advise(r, i);
	}
	return false;
}

bool sub_recipe_path(const struct sub_recipe *sub, struct buf *ret, struct report *r)
{
	struct str word = sub->word;

	if (sub->find && is_name(word))
		return find_by_name(sub, ret, r);
	if (!str_starts(word, S("@"))) {
		if (!str_starts(word, S("/")))
			buf_printf(ret, "%.*s/", STR(sub->dir));
		buf_add(ret, word);
		return true;
	}
	size_t colon = str_find(word, ':', 0);
	const char *dir = colon < word.len ? json_string_value(json_object_getn(
						     sub->collections, word.p + 1, colon - 1))
					   : NULL;
	if (dir) {
		buf_printf(ret, "%s/%.*s", dir, STR(str_from(word, colon + 1)));
		return true;
	}
	report_error(r, place_where(sub->step->called.recipe.place),
		"step '%.*s': there is no collection for '%.*s'", STR(sub->step->id), STR(word));
	report_hint(r, "say where one is under [collections] in config.toml");
	return report_action(r, ACTION_GIVE_COLLECTION, str_sub(word, 1, MIN(colon, word.len) - 1));
}

struct step_recipe *sub_recipe_open(const struct sub_recipe *sub, struct str name, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!sub_recipe_path(sub, &path, r))
		return NULL;
	AUTO_BUF plain = BUF_INIT;
	path_plain(&plain, name.len ? name : buf_str(&path));
	struct str shown = buf_str(&plain);
	int n = file_read(buf_cstr(&path), RECIPE_MAX_BYTES, &text);
	if (n < 0) {
		report_error(r, place_where(sub->step->called.recipe.place),
			"step '%.*s': cannot read the recipe: %s", STR(sub->step->id),
			strerror(-n));
		report_hint(r, "it was looked for as %.*s", STR(shown));
		return NULL;
	}
	AUTO_JSON *nothing = json_object();
	const json_t *given = sub->step->called.context.value;
	return step_recipe_read(buf_str(&path), shown, buf_str(&text), given ? given : nothing, r);
}

bool sub_recipe_lacks(const struct step *step, struct str name, struct report *r)
{
	const struct step_called *c = &step->called;
	AUTO_BUF message = BUF_INIT;

	buf_printf(&message, "step '%.*s': no value for '%.*s', which the recipe needs",
		STR(step->id), STR(report_quote(r, name)));
	if (report_says(r, buf_str(&message)))
		return false;
	report_error(r, place_where(c->context.place ? c->context.place : c->recipe.place), "%s",
		buf_cstr(&message));
	return report_hint(r, "add '%.*s' to `context` of the step", STR(report_quote(r, name)));
}

void sub_recipe_blame(
	const struct step *step, const json_t *passed, struct report *found, struct report *r)
{
	size_t kept = 0;

	vec_each (i, &found->issues) {
		struct str name = i->field;

		if (!issue_is_error(i) || !name.len || json_object_getn(passed, name.p, name.len)) {
			found->issues.at[kept++] = *i;
			continue;
		}
		found->errors--;
		(void)sub_recipe_lacks(step, name, r);
	}
	found->issues.len = kept;
	report_move(r, found);
}
