#include "prompts/config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/path.h"
#include "data/toml.h"

static const char *const table_names[] = {
	[KIND_AGENT] = "agents",
	[KIND_ROLE] = "roles",
	[KIND_CONTEXT] = "contexts",
	[KIND_TASK] = "tasks",
	[KIND_SETTINGS] = "settings",
};

/* `settings.toml` is another name for `config.toml`. Any table may stand in any of them. */
static const char *const file_names[] = { "config.toml", "settings.toml", "agents.toml",
	"roles.toml", "contexts.toml", "tasks.toml" };

struct str config_global_dir(struct arena *a, struct str home)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	if (xdg && xdg[0] == '/')
		return path_from(a, str_of(xdg), S("start"));
	return path_from(a, home, S(".config/start"));
}

const char *config_table_name(enum config_kind kind)
{
	return table_names[kind];
}

bool config_reads(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++)
		if (str_eq(name, str_of(file_names[i])))
			return true;
	return false;
}

const char *config_kind_name(enum config_kind kind)
{
	static const char *const names[] = {
		[KIND_AGENT] = "agent",
		[KIND_ROLE] = "role",
		[KIND_CONTEXT] = "context",
		[KIND_TASK] = "task",
		[KIND_SETTINGS] = "setting",
	};

	return names[kind];
}

/* -- reading -------------------------------------------------------------------------------------
 */

static void add_entry(struct config *c, struct config_entry *e)
{
	void **slot = map_put(&c->names[e->kind], &c->arena, e->name);
	struct config_entry *same = *slot;

	if (same && same->scope == e->scope) {
		/* Which one is meant is not known: an error when it is needed. */
		if (!same->twin)
			same->twin = e;
		return;
	}
	*slot = e;
	e->hides = same;
	e->at = same ? same->at : c->entries[e->kind].len;
	if (same)
		c->entries[e->kind].at[e->at] = e; /* keeps its place */
	else
		vec_push(&c->entries[e->kind], e);
}

static bool read_table(struct config *c, struct config_file *f, enum config_kind kind,
	const json_t *table, struct report *r)
{
	struct place *place = place_member(&c->arena, &f->root, str_of(table_names[kind]));
	const char *key;
	json_t *value;

	if (!table)
		return true;
	if (!json_is_object(table)) {
		report_error(r, place_where(place), "'%s' is %s; expected a table",
			table_names[kind], json_kind(table));
		return report_hint(r,
			kind == KIND_SETTINGS ? "write [settings]" : "write [%s.NAME]",
			table_names[kind]);
	}
	json_object_foreach((json_t *)table, key, value)
	{
		struct config_entry *e = arena_new(&c->arena, struct config_entry);

		e->kind = kind;
		e->scope = f->scope;
		e->name = arena_str(&c->arena, str_of(key));
		e->value = value;
		e->place = place_member(&c->arena, place, e->name);
		add_entry(c, e);
	}
	return true;
}

static bool cannot_read(struct str path, int error, struct report *r)
{
	report_error(r, (struct where){ 0 }, "cannot read '%.*s': %s", STR(path),
		error == EINVAL ? "not a regular file" : strerror(error));
	return report_hint(r, "make it %s that can be read, or remove it",
		str_ends(path, S(".toml")) ? "a file" : "a directory");
}

static bool read_file(struct config *c, struct str dir, const char *name, enum config_scope scope,
	struct report *r)
{
	struct str path = path_from(&c->arena, dir, str_of(name));
	AUTO_BUF text = BUF_INIT;
	bool ok = true;

	int error = file_read_regular(arena_cstr(&c->arena, path), CONFIG_FILE_MAX, &text);
	if (error == -ENOENT || error == -ENOTDIR)
		return true;
	if (error < 0)
		return cannot_read(path, -error, r);
	struct config_file *f = arena_new(&c->arena, struct config_file);
	buf_swap(&f->text, &text);
	f->scope = scope;
	f->doc.source = (struct source){ path, buf_str(&f->text) };
	f->doc.locator = toml_locator_new(&c->arena);
	f->root.doc = &f->doc;
	vec_push(&c->files, f);
	f->doc.root = toml_read(&f->doc.source, TOML_PLAIN, r);
	if (!f->doc.root)
		return false;
	for (unsigned kind = 0; kind <= KIND_SETTINGS; kind++)
		ok &= read_table(c, f, (enum config_kind)kind,
			json_object_get(f->doc.root, table_names[kind]), r);
	return ok;
}

static bool read_scope(struct config *c, struct str dir, enum config_scope scope, struct report *r)
{
	const char *path = arena_cstr(&c->arena, dir);
	struct stat st;
	bool ok = true;

	/* One complaint about the directory, not one for each file in it. */
	if (stat(path, &st) < 0)
		return errno == ENOENT || errno == ENOTDIR || cannot_read(dir, errno, r);
	if (S_ISDIR(st.st_mode) && access(path, X_OK) < 0)
		return cannot_read(dir, errno, r);
	for (size_t i = 0; i < ARRAY_SIZE(file_names); i++)
		ok &= read_file(c, dir, file_names[i], scope, r);
	return ok;
}

bool config_load(struct config *c, const struct config_dirs *dirs, struct report *r)
{
	*c = (struct config){ 0 };
	c->dirs = (struct config_dirs){ .home = arena_str(&c->arena, dirs->home),
		.global = arena_str(&c->arena, dirs->global),
		.cwd = arena_str(&c->arena, dirs->cwd),
		.local = dirs->local };
	bool ok = read_scope(c, c->dirs.global, SCOPE_GLOBAL, r);
	if (dirs->local)
		ok &= read_scope(c, path_from(&c->arena, c->dirs.cwd, S(".start")), SCOPE_LOCAL, r);
	return ok;
}

void config_done(struct config *c)
{
	vec_each (f, &c->files) {
		json_decref((*f)->doc.root);
		buf_done(&(*f)->text);
	}
	vec_done(&c->files);
	for (size_t i = 0; i <= KIND_COUNT; i++)
		vec_done(&c->entries[i]);
	arena_done(&c->arena);
}

/* -- asking --------------------------------------------------------------------------------------
 */

const json_t *config_value(const struct config_entry *e, const char *field)
{
	return json_object_get(e->value, field); /* NULL when it is not an object */
}

struct str config_text(const struct config_entry *e, const char *field)
{
	const json_t *value = config_value(e, field);

	return json_is_string(value) ? json_str(value) : S("");
}

bool config_bool(const struct config_entry *e, const char *field)
{
	return json_is_true(config_value(e, field));
}

double config_seconds(const struct config_entry *e, const char *field)
{
	const json_t *value = config_value(e, field);

	return json_is_number(value) ? json_number_value(value) : 0;
}

const struct config_entry *config_find(
	const struct config *c, enum config_kind kind, struct str name)
{
	return map_get(&c->names[kind], name);
}

const struct config_entry *config_setting(const struct config *c, const char *name)
{
	return config_find(c, KIND_SETTINGS, str_of(name));
}

struct str config_setting_text(const struct config *c, const char *name)
{
	const struct config_entry *e = config_setting(c, name);

	return e && json_is_string(e->value) ? json_str(e->value) : S("");
}

bool config_any_agent(const struct config_entry *e)
{
	return e->kind == KIND_AGENT && str_eq(e->name, S("*"));
}
