#include "app/catalog/sub-recipe.h"

#include "base/file.h"
#include "recipe/recipe.h"

bool sub_recipe_path(const struct sub_recipe *sub, struct buf *path, struct report *r)
{
	struct str word = sub->word;

	if (!str_starts(word, S("@"))) {
		if (!str_starts(word, S("/")))
			buf_printf(path, "%.*s/", STR(sub->dir));
		buf_add(path, word);
		return true;
	}
	size_t colon = str_find(word, ':', 0);
	const char *dir = colon < word.len ? json_string_value(json_object_getn(
						     sub->collections, word.p + 1, colon - 1))
					   : NULL;
	if (dir) {
		buf_printf(path, "%s/%.*s", dir, STR(str_from(word, colon + 1)));
		return true;
	}
	report_error(r, (struct where){ 0 }, "there is no collection for '%.*s'", STR(word));
	return report_hint(
		r, "--collection NAME=DIR says where one is, or [collections] in config.toml");
}

int sub_recipe_text(struct buf *path, struct buf *text)
{
	int n = file_read(buf_cstr(path), RECIPE_MAX_BYTES, text);

	return n < 0 ? n : 0;
}

struct step_recipe *sub_recipe_open(const struct sub_recipe *sub, struct report *r)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!sub_recipe_path(sub, &path, r))
		return NULL;
	int n = sub_recipe_text(&path, &text);
	if (n < 0) {
		report_errno(r, -n, "cannot read the recipe %s", buf_cstr(&path));
		report_hint(r, "paths are taken from the directory of the recipe that calls");
		return NULL;
	}
	return step_recipe_read(buf_str(&path), sub->name.len ? sub->name : buf_str(&path),
		buf_str(&text), sub->given, r);
}
