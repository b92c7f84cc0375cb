/* trust.json: {"version":1,"recipes":{PATH:{"when":TIME,"files":{PATH:SHA256,…}},…}} */
#include "app/catalog/trust.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "app/catalog/check-steps.h"
#include "app/catalog/ref.h"
#include "app/context/context.h"
#include "base/atomic-file.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"
#include "base/sha256.h"
#include "base/utf8.h"
#include "steps/compile/compile.h"
#include "steps/compile/sub-recipe.h"

enum { TRUST_MAX_BYTES = 16 << 20, LOCK_WAIT_MS = 10000 };

const char *trust_name(enum trust trust)
{
	static const char *const names[] = {
		[TRUST_NEEDLESS] = "needless",
		[TRUST_NONE] = "none",
		[TRUST_CHANGED] = "changed",
		[TRUST_GIVEN] = "trusted",
	};

	return names[trust];
}

/* -- the file ------------------------------------------------------------------------------------
 */

static struct str trust_path(struct app *a)
{
	return path_below(&a->arena, app_state_root(a), S("trust.json"));
}

/* Whether another user could have written it. */
static bool is_foreign(struct str path)
{
	struct stat st;

	return stat(path.p, &st) == 0 &&
	       ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_mode & (S_IWGRP | S_IWOTH));
}

json_t *trust_read(struct app *a, struct report *r)
{
	struct str path = trust_path(a);
	AUTO_BUF text = BUF_INIT;

	if (is_foreign(path)) {
		report_warning(r, (struct where){ 0 },
			"%.*s is not used: others may write to it (chmod 600 removes that)",
			STR(path));
		return json_object();
	}
	int n = file_read_regular(path.p, TRUST_MAX_BYTES, &text);
	if (n == -ENOENT)
		return json_object();
	if (n < 0) {
		report_errno(r, -n, "cannot read %.*s", STR(path));
		return NULL;
	}
	AUTO_JSON *file = json_read(&(struct source){ path, buf_str(&text) }, r);
	json_t *recipes = json_object_get(file, "recipes");
	return !file ? NULL : json_is_object(recipes) ? json_incref(recipes) : json_object();
}

static bool write_back(struct str path, json_t *recipes, struct report *r)
{
	AUTO_JSON *file = json_pack("{s:i, s:O}", "version", 1, "recipes", recipes);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, file, 2);
	buf_addc(&text, '\n');
	int n = atomic_write(path.p, buf_str(&text), NULL);
	return n == 0 || report_errno(r, -n, "cannot write %.*s", STR(path));
}

/* Sets the entry of a path, or takes it away: `entry` NULL. */
static bool change(struct app *a, const char *key, json_t *entry, bool *ret_was, struct report *r)
{
	struct str path = trust_path(a);
	AUTO_CLOSE int lock = -1;

	if (!app_may_record(a, r))
		return false;
	int n = dir_make(app_state_root(a).p);
	if (n == 0)
		n = file_lock(path.p, LOCK_WAIT_MS, &lock);
	if (n < 0)
		return report_errno(r, -n, "cannot lock %.*s", STR(app_state_root(a)));
	AUTO_JSON *recipes = trust_read(a, r);
	if (!recipes)
		return false;
	bool was = json_object_get(recipes, key);
	if (ret_was)
		*ret_was = was;
	if (entry)
		json_object_set_nocheck(recipes, key, entry);
	else if (was)
		json_object_del(recipes, key);
	return (!entry && !was) || write_back(path, recipes, r);
}

/* -- one recipe ----------------------------------------------------------------------------------
 */

/* What it is called in the file: links are followed, as long as it is there. */
static struct str key_of(struct str path, char room[PATH_MAX])
{
	return realpath(path.p, room) ? str_of(room) : path;
}

static void add_sums(const struct recipe *recipe, json_t *sums);

/* The recipes that its steps call by a name or path that is known, and those that they call. */
static void add_called(const struct recipe *recipe, const struct step_recipe *steps, json_t *sums)
{
	for (size_t i = 0; steps && i < steps->all_count; i++) {
		struct str word = steps->all[i]->called.recipe.text;
		struct sub_recipe sub = { .step = steps->all[i],
			.word = word,
			.dir = path_dir(steps->path),
			.find = find_called,
			.find_data = (void *)&recipe->set->dirs };
		AUTO_REPORT ignored = REPORT_INIT;
		AUTO_BUF path = BUF_INIT;
		struct arena a = ARENA_INIT;

		if (steps->all[i]->type == STEP_RECIPE && !str_contains(word, S("{{")) &&
			sub_recipe_path(&sub, &path, &ignored)) {
			struct str file = path_absolute(&a, buf_str(&path));
			struct recipe *called = NULL;
			char room[PATH_MAX];

			if (!json_object_get(sums, key_of(file, room).p))
				called = recipe_open_file(
					&recipe->set->dirs, file, LAYER_ADHOC, &ignored);
			if (called)
				add_sums(called, sums);
			recipe_free(called);
		}
		arena_done(&a);
	}
}

static void add_sums(const struct recipe *recipe, json_t *sums)
{
	vec_each (f, &recipe->set->files) {
		char hex[SHA256_HEX], room[PATH_MAX];

		sha256_hex((*f)->doc.source.text, hex);
		json_object_set_new_nocheck(sums, key_of((*f)->path, room).p, json_string(hex));
	}
	add_called(recipe, recipe->steps, sums);
	vec_each (g, &recipe->set->calls)
		add_called(recipe, step_graph_recipe(*g), sums);
}

/* {PATH: SHA256} of its files, as they were read, and of the recipes that its steps call. */
static json_t *sums_of(const struct recipe *recipe)
{
	json_t *sums = json_object();

	add_sums(recipe, sums);
	return sums;
}

enum trust trust_of(const json_t *trusted, const struct recipe *recipe)
{
	char room[PATH_MAX];

	if (!recipe || recipe->layer != LAYER_PROJECT)
		return TRUST_NEEDLESS;
	const json_t *entry = json_object_get(trusted, key_of(recipe->file->path, room).p);
	if (!entry)
		return TRUST_NONE;
	AUTO_JSON *sums = sums_of(recipe);
	return json_equal(sums, json_object_get(entry, "files")) ? TRUST_GIVEN : TRUST_CHANGED;
}

enum trust recipe_ref_trust(const struct recipe_ref *ref)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *trusted = NULL;

	if (!ref->recipe || ref->recipe->layer != LAYER_PROJECT)
		return TRUST_NEEDLESS;
	trusted = trust_read(ref->app, &ignored); /* what cannot be read trusts nothing */
	return trust_of(trusted, ref->recipe);
}

bool recipe_ref_check_trust(const struct recipe_ref *ref, struct report *r)
{
	if (recipe_ref_trusted(ref))
		return true;
	report_refuse(r, S(""), "not trusted", "the recipe '%.*s' of the project is not trusted",
		STR(recipe_ref_id(ref)));
	return report_action(r, ACTION_TRUST, recipe_ref_id(ref));
}

bool trust_give(struct recipe_ref *ref, struct report *r)
{
	const struct recipe *recipe = ref->recipe;
	AUTO_BUF when = BUF_INIT;
	char room[PATH_MAX];

	if (!recipe || recipe->layer != LAYER_PROJECT) {
		report_error(r, (struct where){ 0 }, "'%.*s' is not a project's recipe",
			STR(recipe ? recipe_called(recipe) : S("the template")));
		return report_hint(r, "those in .roux/recipes of a project are trusted one by one; "
				      "your own and the packaged ones do not need it");
	}
	if (!utf8_valid(recipe->file->path))
		return report_error(r, (struct where){ 0 },
			"the path %.*s is not UTF-8: it cannot be recorded",
			STR(recipe->file->path));
	clock_rfc3339(&when, clock_real_ms());
	AUTO_JSON *entry = json_pack(
		"{s:o, s:o}", "when", json_from_str(buf_str(&when)), "files", sums_of(recipe));
	return change(ref->app, key_of(recipe->file->path, room).p, entry, NULL, r);
}

bool trust_withdraw(struct app *a, struct str path, bool *ret_was, struct report *r)
{
	struct arena arena = ARENA_INIT;
	char room[PATH_MAX];
	struct str absolute = path_from(&arena, app_cwd(a), path);
	bool ok = change(a, key_of(absolute, room).p, NULL, ret_was, r);

	arena_done(&arena);
	return ok;
}

/* -- all of them ---------------------------------------------------------------------------------
 */

static enum trust trust_now(struct app *a, const json_t *trusted, struct str path)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct recipe *recipe = recipe_open(app_dirs(a), path, false, json_null(), &ignored);
	enum trust trust = recipe ? trust_of(trusted, recipe) : TRUST_NONE;

	if (!recipe && access(path.p, F_OK) == 0)
		trust = TRUST_CHANGED;
	recipe_free(recipe);
	return trust;
}

bool trust_each(struct app *a, trusted_fn *fn, void *data, struct report *r)
{
	AUTO_JSON *trusted = trust_read(a, r);
	const char *path;
	json_t *entry;

	json_object_foreach(trusted, path, entry)
	{
		fn(data, &(struct trusted_recipe){ .path = str_of(path),
				 .when = json_str(json_object_get(entry, "when")),
				 .files = json_object_size(json_object_get(entry, "files")),
				 .trust = trust_now(a, trusted, str_of(path)) });
	}
	return trusted != NULL;
}
