#include "recipe/file.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "base/user.h"
#include "data/markdown.h"
#include "data/yaml.h"
#include "graph/fields.h"
#include "recipe/reference.h"
#include "recipe/repo-value.h"

/* In order of precedence within one directory. */
static const struct {
	const char *extension;
	enum recipe_format format;
	const char *name;
} formats[] = {
	{ ".json", RECIPE_JSON, "json" },
	{ ".md", RECIPE_MARKDOWN, "markdown" },
	{ ".yaml", RECIPE_YAML, "yaml" },
	{ ".yml", RECIPE_YAML, "yaml" },
};

bool recipe_format_of(struct str name, enum recipe_format *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!str_ends(name, str_of(formats[i].extension)))
			continue;
		*ret = formats[i].format;
		return true;
	}
	return false;
}

const char *recipe_extension(size_t i)
{
	return i < ARRAY_SIZE(formats) ? formats[i].extension : NULL;
}

const char *recipe_format_name(enum recipe_format f)
{
	return formats[f == RECIPE_YAML ? 2 : f].name;
}

struct str recipe_id_of(struct str path)
{
	struct str base = path_base(path);

	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		struct str extension = str_of(formats[i].extension);

		if (str_ends(base, extension) && base.len > extension.len)
			return str_sub(base, 0, base.len - extension.len);
	}
	return base;
}

struct recipe_set *recipe_set_new(const struct recipe_dirs *dirs)
{
	struct recipe_set *set = mem_new(struct recipe_set);

	/* A graph made from the set may outlive the caller who found the directories. */
	set->dirs = recipe_dirs_copy(&set->arena, dirs);
	return set;
}

void recipe_set_free(struct recipe_set *set)
{
	if (!set)
		return;
	vec_each (g, &set->calls)
		graph_unref(*g);
	vec_done(&set->calls);
	vec_each (slot, &set->files) {
		struct recipe_file *f = *slot;

		vec_each (import, &f->imports)
			json_decref(import->bound);
		vec_done(&f->imports);
		vec_done(&f->alias_lengths);
		json_decref(f->object);
		json_decref(f->yaml);
		report_done(&f->yaml_found);
		doc_done(&f->doc);
	}
	vec_done(&set->files);
	report_done(&set->warnings);
	report_done(&set->extensions);
	arena_done(&set->arena);
	free(set);
}

/* -- reading one file ----------------------------------------------------------------------------
 */

static bool read_text(struct recipe_set *set, struct recipe_file *f, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	const struct str *given = map_get(&set->given, f->path);
	if (given) {
		f->doc.source.text = *given;
		return true;
	}
	struct stat st;
	/* Found by location, so the user did not ask to wait for a pipe or to read a device. */
	if (stat(f->path.p, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		report_error(r, (struct where){ 0 }, "%.*s is %s, expected a regular file",
			STR(f->path),
			S_ISFIFO(st.st_mode) ? "a pipe"
					     : (S_ISSOCK(st.st_mode) ? "a socket" : "a device"));
		return report_action(r, ACTION_READ_PIPE, S(""));
	}
	int n = file_read(f->path.p, RECIPE_MAX_BYTES, &text);

	f->doc.source.text = arena_str(&set->arena, buf_str(&text));
	if (n == 0)
		return true;
	if (n == -EFBIG) {
		report_error(r, (struct where){ 0 }, "%.*s is larger than 1 MiB", STR(f->path));
		return report_hint(r, "a recipe holds a graph; keep data in files of their own");
	}
	return report_errno(r, -n, "cannot read the recipe %.*s", STR(f->path));
}

static bool lacks_template(struct recipe_set *set, const struct recipe_file *f, struct report *r)
{
	const char *key;
	json_t *value;

	json_object_foreach(f->doc.root, key, value)
	{
		if (!field_means_template(str_of(key), DIALECT_NOW))
			continue;
		report_error(r, place_key_where(place_member(&set->arena, &f->place, str_of(key))),
			"the recipe has no `template`");
		return report_hint(r, "did you mean 'template' in place of '%s'?", key);
	}
	report_error(r, place_where(&f->place), "the recipe has no `template`");
	return report_hint(r, "add \"template\": what to run");
}

static bool parse(struct recipe_set *set, struct recipe_file *f, struct report *r)
{
	struct source *source = &f->doc.source;

	switch (f->format) {
	case RECIPE_JSON:
		f->doc.root = json_read(source, r);
		break;
	case RECIPE_MARKDOWN: {
		struct markdown md = { 0 };

		if (!markdown_read(source, &set->arena, &md, r, &set->warnings))
			return false;
		f->doc.root = md.object;
		f->doc.regions = md.regions;
		f->doc.region_count = md.region_count;
		f->doc.markdown = true;
		break;
	}
	case RECIPE_YAML: {
		f->doc.locator = &yaml_locator;
		f->yaml = yaml_read(source, &f->yaml_found);
		f->doc.root = json_is_object(f->yaml) ? json_incref(f->yaml) : json_object();
		return true;
	}
	}
	if (!f->doc.root)
		return false;
	if (!json_is_object(f->doc.root)) {
		report_error(r, place_where(&f->place),
			"found %s, expected a recipe: an object with `template`",
			json_kind(f->doc.root));
		return report_hint(r, "write {\"template\": …} around it; @FILE reads a template");
	}
	if (!json_object_get(f->doc.root, "template")) {
		if (json_is_array(json_object_get(f->doc.root, "steps")) ||
			json_is_array(json_object_get(f->doc.root, "stages"))) {
			report_error(r, place_where(&f->place),
				"this is a step recipe, which is written as YAML");
			return report_hint(r, "save it as .yaml: JSON is YAML as well");
		}
		return lacks_template(set, f, r);
	}
	return true;
}

/* -- imports -------------------------------------------------------------------------------------
 */

/* The files on the way from the entry to the one that is being read. */
struct chain {
	const struct recipe_file *file;
	const struct chain *up;
	unsigned length;
};

static struct recipe_file *load(struct recipe_set *set, struct str path, struct str name,
	const struct chain *up, const struct place *at, struct report *r);

bool recipe_alias_valid(struct str alias)
{
	for (size_t i = 0; i < alias.len; i++) {
		char c = alias.p[i];

		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !ascii_digit(c) &&
			c != '_' && c != '.' && c != '-')
			return false;
	}
	return alias.len > 0;
}

static struct str replaced(struct arena *a, struct str text, struct str what, struct str by)
{
	if (!str_starts(text, what))
		return text;
	return arena_printf(a, "%.*s%.*s", STR(by), STR(str_from(text, what.len)));
}

/* Where a file is looked for. */
struct sought {
	struct str paths[4]; /* in this order */
	size_t count;
	bool named; /* it has an extension */
	bool is_path;
	struct str unseen; /* one that could not be looked at */
	int error;         /* errno */
};

/* No other is taken in its place, unless it is in a directory that is not for this user. */
static bool is_over(const struct sought *s)
{
	return s->error && s->error != EACCES;
}

/* Also a file that is about to be written. */
static bool exists(const struct recipe_set *set, struct sought *s, struct str path)
{
	if (map_get(&set->given, path))
		return true;
	if (set->sealed || access(path.p, F_OK) == 0)
		return !set->sealed;
	if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) {
		s->error = errno;
		s->unseen = path;
	}
	return false;
}

static struct str existing(
	struct recipe_set *set, struct sought *s, struct str path, bool any_extension)
{
	if (!any_extension)
		return exists(set, s, path) ? path : S("");
	for (size_t i = 0; i < ARRAY_SIZE(formats) && !is_over(s); i++) {
		struct str with =
			arena_printf(&set->arena, "%.*s%s", STR(path), formats[i].extension);

		if (exists(set, s, with))
			return with;
	}
	return S("");
}

static void seek_in(struct recipe_set *set, struct sought *s, struct str dir, struct str name)
{
	struct str path = path_below(&set->arena, dir, name);

	for (size_t i = 0; i < s->count; i++)
		if (str_eq(s->paths[i], path))
			return;
	if (dir.len)
		s->paths[s->count++] = path;
}

static void seek(
	struct recipe_set *set, const struct recipe_file *f, struct str from, struct sought *ret)
{
	struct arena *a = &set->arena;
	struct str dir = path_dir(f->path);
	enum recipe_format ignored;

	struct str project = project_of_file(f->path);
	from = replaced(a, from, S("{repo}"), project.len ? project : path_dir(dir));
	from = replaced(a, from, S("{agent}"), set->dirs.agent);
	if (str_contains(from, S("~/")))
		from = replaced(a, from, S("~/"), path_below(a, user_home(a), S("")));
	*ret = (struct sought){ .named = recipe_format_of(from, &ignored),
		.is_path = str_find(from, '/', 0) < from.len };
	if (ret->is_path) {
		struct str path = from.p[0] == '/' ? from : path_below(a, dir, from);

		ret->paths[ret->count++] = path_absolute(a, path);
		ret->named |= exists(set, ret, ret->paths[0]);
		return;
	}
	seek_in(set, ret, set->dirs.user, from);
	seek_in(set, ret, dir, from);
	seek_in(set, ret, set->dirs.project.recipes, from);
	seek_in(set, ret, set->dirs.packaged, from);
}

/* Empty when there is no such file, or one could not be looked at. */
static struct str resolve(struct recipe_set *set, struct sought *s)
{
	for (size_t i = 0; i < s->count && !is_over(s); i++) {
		struct str hit = existing(set, s, s->paths[i], !s->named);

		if (hit.len)
			return hit;
	}
	return S("");
}

static bool hint_at_places(const struct sought *s, struct report *r)
{
	AUTO_BUF list = BUF_INIT;

	if (s->is_path)
		return report_hint(r, "looked for %.*s%s", STR(s->paths[0]),
			s->named ? "" : ".json, .md, .yaml and .yml");
	for (size_t i = 0; i < s->count; i++)
		buf_printf(&list, "%s%.*s",
			!i                 ? ""
			: i + 1 < s->count ? ", "
					   : " and ",
			STR(path_dir(s->paths[i])));
	return report_hint(r, "looked in %s", buf_cstr(&list));
}

static bool add_import(struct recipe_set *set, struct recipe_file *f, struct recipe_import *import,
	const json_t *binding, const struct chain *chain, struct report *r)
{
	struct str alias = import->alias;
	struct place *imports = place_member(&set->arena, &f->place, S("imports"));
	struct place *p = place_member(&set->arena, imports, alias);
	const json_t *from = json_is_object(binding) ? json_object_get(binding, "from") : binding;

	if (!recipe_alias_valid(alias)) {
		report_error(r, place_key_where(p), "'%.*s' is not an alias", STR(alias));
		return report_hint(r, "letters, digits, _ . and - make one");
	}
	if (!json_is_string(from) || !str_trim(json_str(from)).len) {
		report_error(r, place_where(p),
			"the import '%.*s' is %s, expected a recipe's name or path", STR(alias),
			json_is_object(binding) ? "an object without `from`" : json_kind(binding));
		return report_hint(r,
			"write \"%.*s\": \"recipe\", or {\"from\": \"recipe\", \"values\": {…}}",
			STR(alias));
	}
	if (json_is_object(binding))
		p = place_member(&set->arena, p, S("from"));
	struct sought sought;
	seek(set, f, str_trim(json_str(from)), &sought);
	struct str path = resolve(set, &sought);
	if (!path.len && sought.error)
		return report_errno(
			r, sought.error, "cannot look at the recipe %.*s", STR(sought.unseen));
	if (!path.len) {
		report_error(r, place_where(p), "there is no recipe '%.*s' to import",
			STR(json_str(from)));
		return hint_at_places(&sought, r);
	}
	import->file = load(set, path, path, chain, p, r);
	if (!import->file || import->file->broken) {
		import->file = NULL;
		return false;
	}
	import->defaults = json_is_object(binding) ? json_object_get(binding, "defaults") : NULL;
	import->values = json_is_object(binding) ? json_object_get(binding, "values") : NULL;
	const json_t *const layers[] = { import->defaults, recipe_file_section(import->file, true),
		import->values };
	import->bound = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++)
		if (json_is_object(layers[i]))
			json_object_update(import->bound, (json_t *)layers[i]);
	f->height = MAX(f->height, import->file->height + 1);
	return true;
}

const json_t *recipe_file_section(const struct recipe_file *f, bool values)
{
	if (f->format == RECIPE_YAML)
		return values ? NULL : json_object_get(f->object, "context");
	return json_object_get(f->object, values ? "values" : "defaults");
}

struct recipe_import *recipe_import_find(const struct recipe_file *f, struct str alias)
{
	uintptr_t n = (uintptr_t)map_get(&f->by_alias, alias);

	return n ? &f->imports.at[n - 1] : NULL;
}

static void add_alias(struct recipe_set *set, struct recipe_file *f, struct str alias)
{
	size_t at = 0;

	*map_put(&f->by_alias, &set->arena, alias) = (void *)(uintptr_t)f->imports.len;
	while (at < f->alias_lengths.len && f->alias_lengths.at[at] > alias.len)
		at++;
	if (at < f->alias_lengths.len && f->alias_lengths.at[at] == alias.len)
		return;
	vec_push(&f->alias_lengths, alias.len);
	for (size_t i = f->alias_lengths.len - 1; i > at; i--)
		f->alias_lengths.at[i] = f->alias_lengths.at[i - 1];
	f->alias_lengths.at[at] = alias.len;
}

static bool load_imports(
	struct recipe_set *set, struct recipe_file *f, const struct chain *chain, struct report *r)
{
	json_t *imports = json_object_get(f->doc.root, "imports");
	bool ok = true;
	const char *alias;
	json_t *binding;

	if (!json_is_object(imports))
		return true;
	/* One that cannot be loaded is known all the same: it is reported here and nowhere else.
	 */
	json_object_foreach(imports, alias, binding)
	{
		struct recipe_import import = { .alias = arena_str(&set->arena, str_of(alias)) };

		ok &= add_import(set, f, &import, binding, chain, r);
		vec_push(&f->imports, import);
		add_alias(set, f, import.alias);
		if (report_full(r))
			break;
	}
	return ok;
}

static void describe_chain(struct buf *b, const struct chain *c)
{
	if (!c)
		return;
	describe_chain(b, c->up);
	buf_printf(b, "%.*s → ", STR(c->file->id));
}

static struct where where_of(const struct place *at)
{
	return at ? place_where(at) : (struct where){ 0 };
}

/* A file that is on the way to itself, or too far from the entry. */
static bool check_chain(const struct recipe_file *f, const struct chain *up, const struct place *at,
	struct report *r)
{
	AUTO_BUF way = BUF_INIT;

	for (const struct chain *c = up; c; c = c->up) {
		if (c->file != f)
			continue;
		describe_chain(&way, up);
		return report_error(r, where_of(at), "the recipe imports itself: %s%.*s",
			buf_cstr(&way), STR(f->id));
	}
	if ((up ? up->length : 0) + f->height > RECIPE_CHAIN_MAX) {
		report_error(r, where_of(at), "imports lead through more than %d recipes",
			RECIPE_CHAIN_MAX);
		return report_hint(r, "shorten the chain of imports");
	}
	return true;
}

/* The file of that path, made when it is new. Two names of one file are one file. */
static struct recipe_file *file_of(
	struct recipe_set *set, struct str path, struct str name, bool *fresh)
{
	char real[PATH_MAX];
	struct str key = !set->sealed && realpath(path.p, real) ? str_of(real) : path;
	void **slot = map_put(&set->by_path, &set->arena, key);

	*fresh = !*slot;
	if (*fresh) {
		struct recipe_file *f = arena_new(&set->arena, struct recipe_file);

		f->path = arena_str(&set->arena, path);
		f->doc.source.name = arena_str(&set->arena, name);
		f->id = recipe_id_of(f->path);
		f->height = 1;
		f->place.doc = &f->doc;
		vec_push(&set->files, f);
		*slot = f;
	}
	return *slot;
}

/* Who imported whom; empty for the entry. */
static struct str way_to(struct arena *a, const struct chain *up)
{
	AUTO_BUF way = BUF_INIT;

	if (!up)
		return S("");
	buf_adds(&way, "imported by ");
	describe_chain(&way, up->up);
	buf_add(&way, up->file->doc.source.name);
	return arena_str(a, buf_str(&way));
}

/* The recipe's own defaults and values for an argument that it declares must fit its type; texts
 * with placeholders are known only when it runs. */
static bool check_own_value(const struct recipe_file *f, const char *section,
	const struct declaration *d, struct report *r)
{
	const json_t *object = json_object_get(f->object, section);
	json_t *value = json_object_getn(object, d->name.p, d->name.len);

	if (!value || (json_is_string(value) && str_contains(json_str(value), S("{"))))
		return true;
	AUTO_JSON *fitted = type_normalise(&d->type, value);
	if (fitted)
		return true;
	AUTO_BUF found = BUF_INIT;
	AUTO_BUF wanted = BUF_INIT;
	struct place up = { .doc = &f->doc, .up = &f->place, .key = str_of(section) };
	struct place p = { .doc = &f->doc, .up = &up, .key = d->name };
	template_text(&found, value);
	type_describe(&d->type, &wanted);
	report_error(r, place_where(&p), "the %s of '%.*s' is '%s', expected %s",
		section[0] == 'd' ? "default" : "value", STR(d->name), buf_cstr(&found),
		buf_cstr(&wanted));
	return report_hint(r, "`args` declares it as %s", type_name(d->type.kind));
}

static bool check_own_values(const struct recipe_file *f, struct report *r)
{
	const json_t *args = json_object_get(f->object, "args");
	bool ok = true;
	json_t *item;
	size_t i;

	json_array_foreach(args, i, item)
	{
		struct declaration d;

		if (!json_is_string(item) || !declaration_parse(str_trim(json_str(item)), &d) ||
			d.type.kind == TYPE_NONE)
			continue;
		ok &= check_own_value(f, "defaults", &d, r);
		ok &= check_own_value(f, "values", &d, r);
	}
	return ok;
}

static struct recipe_file *load(struct recipe_set *set, struct str path, struct str name,
	const struct chain *up, const struct place *at, struct report *r)
{
	size_t first = r->issues.len;
	bool fresh;
	struct recipe_file *f = file_of(set, path, name, &fresh);

	if (!check_chain(f, up, at, r))
		return NULL;
	if (!fresh)
		return f->object ? f : NULL; /* a file with mistakes is reported once */
	f->broken = true;
	f->way = way_to(&set->arena, up);
	if (!recipe_format_of(path, &f->format)) {
		report_error(r, where_of(at), "'%.*s' is not a recipe file", STR(path));
		report_hint(r, "its name ends with .json, .md, .yaml or .yml");
		return NULL;
	}
	struct chain chain = { f, up, up ? up->length + 1 : 1 };
	bool ok = read_text(set, f, r) && parse(set, f, r);
	if (ok && f->format == RECIPE_YAML) {
		f->object = json_incref(f->doc.root);
		f->broken = false;
	} else if (ok) {
		bool imported = load_imports(set, f, &chain, r);

		/* References are looked at also when an import is broken: all mistakes in one go.
		 */
		f->object = reference_resolve(set, f, &ok, r);
		ok &= check_own_values(f, r);
		ok &= repo_value_add(set, f, r);
		f->broken = !imported || !ok;
	}
	if (f->broken && f->way.len)
		report_remark(r, first, f->way.p, ACTION_NONE);
	return f->object ? f : NULL;
}

struct recipe_file *recipe_file_load(
	struct recipe_set *set, struct str path, struct str name, struct report *r)
{
	return load(set, path_absolute(&set->arena, path), name, NULL, NULL, r);
}

void recipe_set_give(struct recipe_set *set, struct str path, struct str text)
{
	struct str *given = arena_new(&set->arena, struct str);

	*given = arena_str(&set->arena, text);
	*map_put(&set->given, &set->arena, path_absolute(&set->arena, path)) = given;
}
