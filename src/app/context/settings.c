#include "app/settings.h"

#include <errno.h>
#include <stdlib.h>

#include "app/context/context.h"
#include "base/file.h"
#include "base/near.h"
#include "base/path.h"
#include "base/user.h"
#include "data/doc.h"
#include "data/toml.h"
#include "recipe/dirs.h"
#include "remote/table.h"

enum { SETTINGS_MAX_BYTES = 1 << 20 };

enum key_kind { KEY_COUNT, KEY_LARGE, KEY_BOOL, KEY_CHOICE, KEY_DIRS, KEY_ON };

/* One key of the file and its place in struct settings. */
struct key {
	const char *table; /* NULL: at the top */
	const char *name;  /* NULL: any, the table is the user's own */
	enum key_kind kind;
	size_t offset, given;
	uint64_t min, max;
	const char *const *choices; /* ends with NULL */
	const char *what;           /* what it says, for hints */
};

static const char *const usages[] = {
	[SETTINGS_USAGE_FILE] = "file",
	[SETTINGS_USAGE_LEDGER] = "ledger",
	NULL,
};

static const char *const approvals[] = {
	[SETTINGS_APPROVALS_ALLOW] = "allow",
	[SETTINGS_APPROVALS_DENY] = "deny",
	NULL,
};

/* The type of a field is checked as its place is taken. */
#define OF(member) offsetof(struct settings, member)
#define TYPE(member) ((struct settings *)0)->member
#define COUNT(member) .kind = KEY_COUNT, .offset = _Generic(TYPE(member), unsigned : OF(member))
#define LARGE(member) .kind = KEY_LARGE, .offset = _Generic(TYPE(member), uint64_t : OF(member))
#define TRUTH(member) .kind = KEY_BOOL, .offset = _Generic(TYPE(member), bool : OF(member))
#define WORD(member) .kind = KEY_CHOICE, .offset = _Generic(TYPE(member), unsigned : OF(member))
#define GIVEN(member) .given = _Generic(TYPE(member), bool : OF(member))

static const struct key keys[] = {
	{ NULL, "jobs", COUNT(jobs), GIVEN(jobs_given), .max = 100000,
		.what = "how many commands run at once, 0 for one per processor" },
	{ NULL, "max_parallel", COUNT(max_parallel), GIVEN(max_parallel_given), .min = 1,
		.max = 100000, .what = "the width of `parallel: true` in a step recipe" },
	{ NULL, "grace_ms", LARGE(grace_ms), GIVEN(grace_given), .max = 86400000,
		.what = "the milliseconds between TERM and KILL" },
	{ NULL, "durable", TRUTH(durable), GIVEN(durable_given),
		.what = "whether every record is on disk before the run continues" },
	{ NULL, "usage", WORD(usage), GIVEN(usage_given), .choices = usages,
		.what = "where launches are counted" },
	{ "retention", "max_age_days", LARGE(max_age_days), GIVEN(max_age_given), .max = 1000000,
		.what = "the days after which an ended run may go" },
	{ "retention", "max_runs", LARGE(max_runs), GIVEN(max_runs_given), .max = 1000000000,
		.what = "how many ended runs are kept" },
	{ "approvals", "mcp", WORD(approvals_mcp), GIVEN(approvals_mcp_given), .choices = approvals,
		.what = "whether a client of the Model Context Protocol may bring a person's "
			"answer" },
	{ NULL, "on", .kind = KEY_ON, .what = "where commands run: the name of an executor" },
	{ "collections", NULL, .kind = KEY_DIRS,
		.what = "the directory that @name:path of a step recipe looks in" },
};

struct reading {
	struct settings *settings;
	struct doc doc;
	struct arena arena; /* of places */
	struct report *errors, *warnings;
};

/* -- one value -----------------------------------------------------------------------------------
 */

static void expected(struct buf *b, const struct key *k)
{
	switch (k->kind) {
	case KEY_COUNT:
	case KEY_LARGE:
		buf_printf(b, "a whole number from %llu to %llu", (unsigned long long)k->min,
			(unsigned long long)k->max);
		break;
	case KEY_BOOL:
		buf_adds(b, "true or false");
		break;
	case KEY_CHOICE:
		for (size_t i = 0; k->choices[i]; i++)
			buf_printf(b, "%s\"%s\"", i ? " or " : "", k->choices[i]);
		break;
	case KEY_DIRS:
		buf_adds(b, "a string, the name of a directory");
		break;
	case KEY_ON:
		buf_adds(b, "a string, the name of an executor");
		break;
	}
}

static void wrong(
	struct reading *g, const struct key *k, const struct place *p, const json_t *value)
{
	AUTO_BUF wanted = BUF_INIT;
	AUTO_BUF found = BUF_INIT;

	expected(&wanted, k);
	/* Of the right kind and wrong all the same: the value itself says more. */
	if (json_is_integer(value) && (k->kind == KEY_COUNT || k->kind == KEY_LARGE))
		json_write(&found, value, 0);
	else if (json_is_string(value) && json_string_length(value))
		buf_printf(&found, "\"%.*s\"", STR(report_quote(g->errors, json_str(value))));
	else
		buf_adds(&found, json_is_string(value)   ? "an empty string"
				 : json_is_object(value) ? "a table"
							 : json_kind(value));
	report_error(g->errors, place_where(p), "'%.*s' is %s, expected %s", STR(p->key),
		buf_cstr(&found), buf_cstr(&wanted));
	report_hint(g->errors, "correct or remove it: it says %s", k->what);
}

static bool choose(const char *const *choices, struct str word, unsigned *ret)
{
	for (unsigned i = 0; choices[i]; i++) {
		if (str_eq(word, str_of(choices[i]))) {
			*ret = i;
			return true;
		}
	}
	return false;
}

static bool take_number(const struct key *k, const json_t *value, char *field)
{
	json_int_t n = json_integer_value(value);

	if (!json_is_integer(value) || n < 0 || (uint64_t)n < k->min || (uint64_t)n > k->max)
		return false;
	if (k->kind == KEY_COUNT)
		*(unsigned *)(void *)field = (unsigned)n;
	else
		*(uint64_t *)(void *)field = (uint64_t)n;
	return true;
}

/* False when the value is not what the key wants. */
static bool take(struct settings *s, const struct key *k, const json_t *value)
{
	char *field = (char *)s + k->offset;

	if (k->kind == KEY_CHOICE) {
		if (!json_is_string(value) ||
			!choose(k->choices, json_str(value), (unsigned *)(void *)field))
			return false;
	} else if (k->kind == KEY_BOOL) {
		if (!json_is_boolean(value))
			return false;
		*(bool *)field = json_is_true(value);
	} else if (!take_number(k, value, field)) {
		return false;
	}
	*(bool *)((char *)s + k->given) = true;
	return true;
}

static struct str directory(struct settings *s, struct str text)
{
	text = path_tilde(&s->arena, text, user_home(&s->arena));
	if (text.p[0] != '/')
		text = path_below(&s->arena, path_dir(s->path), text);
	return path_absolute(&s->arena, text);
}

static bool take_directory(struct settings *s, struct str name, const json_t *value)
{
	struct str text = json_is_string(value) ? json_str(value) : S("");

	if (!text.len || str_find(text, '\0', 0) < text.len)
		return false;
	s->collections[s->collection_count++] =
		(struct settings_collection){ arena_str(&s->arena, name), directory(s, text) };
	return true;
}

static bool take_on(struct settings *s, const json_t *value)
{
	struct str text = json_is_string(value) ? json_str(value) : S("");

	if (!text.len || str_find(text, '\0', 0) < text.len)
		return false;
	s->on = str_of(arena_cstr(&s->arena, text));
	return true;
}

/* -- the file ------------------------------------------------------------------------------------
 */

static bool same_table(const struct key *k, const char *table)
{
	return k->table == table || (k->table && table && str_eq(str_of(k->table), str_of(table)));
}

static void unknown(struct reading *g, const char *table, const struct place *p)
{
	struct near near = near_to(p->key);

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (same_table(&keys[i], table) && keys[i].name)
			near_offer(&near, str_of(keys[i].name));
		if (!table && keys[i].table)
			near_offer(&near, str_of(keys[i].table));
	}
	if (!table)
		near_offer(&near, S("executors"));
	report_warning(g->warnings, place_key_where(p), "unknown setting '%.*s'",
		STR(report_quote(g->warnings, p->key)));
	struct str best = near_best(&near);
	if (best.len)
		report_hint(g->warnings, "did you mean '%.*s'?", STR(best));
	else
		report_hint(g->warnings, "it has no effect: remove it");
}

static void read_member(
	struct reading *g, const char *table, const struct place *p, const json_t *value)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const struct key *k = &keys[i];

		if (!same_table(k, table) || (k->name && !str_eq(p->key, str_of(k->name))))
			continue;
		bool taken = k->kind == KEY_DIRS ? take_directory(g->settings, p->key, value)
			     : k->kind == KEY_ON ? take_on(g->settings, value)
						 : take(g->settings, k, value);
		if (!taken)
			wrong(g, k, p, value);
		return;
	}
	unknown(g, table, p);
}

static const char *table_named(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (keys[i].table && str_eq(name, str_of(keys[i].table)))
			return keys[i].table;
	return NULL;
}

static void read_table(
	struct reading *g, const char *table, const struct place *up, json_t *members)
{
	const char *name;
	json_t *value;

	if (!json_is_object(members)) {
		report_error(g->errors, place_where(up), "'%s' is %s, expected a table", table,
			json_kind(members));
		report_hint(g->errors, "write [%s] and its keys below it", table);
		return;
	}
	if (table && str_eq(str_of(table), S("collections")))
		g->settings->collections = arena_array(
			&g->settings->arena, struct settings_collection, json_object_size(members));
	json_object_foreach(members, name, value)
	{
		const struct place *p = place_member(&g->arena, up, str_of(name));
		const char *below = table ? NULL : table_named(p->key);

		if (!table && str_eq(p->key, S("executors"))) {
			tables_check(&g->arena, p, value, g->errors, g->warnings);
			g->settings->executors = json_deep_copy(value);
		} else if (below)
			read_table(g, below, p, value);
		else
			read_member(g, table, p, value);
	}
}

static bool read_text(
	struct settings *s, struct str text, struct report *errors, struct report *warnings)
{
	struct reading g = { .settings = s, .errors = errors, .warnings = warnings };
	struct place root = { .doc = &g.doc };
	size_t before = errors->errors;

	g.doc = (struct doc){ .source = { s->path, text }, .locator = toml_locator_new(&g.arena) };
	g.doc.root = toml_read(&g.doc.source, TOML_PLAIN, errors);
	if (g.doc.root)
		read_table(&g, NULL, &root, g.doc.root);
	doc_done(&g.doc);
	arena_done(&g.arena);
	return errors->errors == before;
}

static struct str settings_path(struct arena *a)
{
	const char *config = getenv("XDG_CONFIG_HOME");
	struct str home = user_home(a);

	if (config && config[0] == '/')
		return path_below(a, str_of(config), S("roux/config.toml"));
	if (home.len && home.p[0] == '/')
		return path_below(a, home, S(".config/roux/config.toml"));
	return S("");
}

static void defaults(struct settings *s)
{
	json_decref(s->executors);
	*s = (struct settings){
		.jobs = DEFAULT_JOBS,
		.max_parallel = DEFAULT_MAX_PARALLEL,
		.grace_ms = DEFAULT_GRACE_MS,
		.usage = SETTINGS_USAGE_FILE,
		.path = s->path,
		.found = s->found,
		.arena = s->arena,
	};
}

static bool cannot_read(struct str path, int error, struct report *errors)
{
	if (error == -EINVAL)
		report_error(errors, (struct where){ 0 }, "cannot read '%.*s': not a regular file",
			STR(path));
	else
		report_errno(errors, -error, "cannot read '%.*s'", STR(path));
	return report_hint(errors, "make it a file that can be read, or remove it");
}

static bool read_file(struct settings *s, struct report *errors, struct report *warnings)
{
	AUTO_BUF text = BUF_INIT;

	if (!s->path.len)
		return true;
	int n = file_read_regular(s->path.p, SETTINGS_MAX_BYTES, &text);
	if (n == -ENOENT || n == -ENOTDIR)
		return true;
	s->found = true;
	return n < 0 ? cannot_read(s->path, n, errors)
		     : read_text(s, buf_str(&text), errors, warnings);
}

static bool read_variables(struct settings *s, struct report *errors)
{
	const char *usage = getenv("ROUX_USAGE");
	const char *on = getenv("ROUX_ON");

	if (on && *on)
		s->on = str_of(arena_cstr(&s->arena, str_of(on)));

	if (!usage || !*usage)
		return true;
	if (!choose(usages, str_of(usage), &s->usage)) {
		report_error(errors, (struct where){ 0 },
			"ROUX_USAGE is \"%s\", expected \"file\" or \"ledger\"", usage);
		return report_hint(
			errors, "correct or unset it: it says where launches are counted");
	}
	s->usage_given = true;
	return true;
}

bool settings_read(struct settings *s, struct report *errors, struct report *warnings)
{
	*s = (struct settings){ 0 };
	s->path = settings_path(&s->arena);
	defaults(s);
	bool file = read_file(s, errors, warnings);
	bool variables = read_variables(s, errors);
	if (file && variables)
		return true;
	defaults(s);
	return false;
}

json_t *settings_collections(const struct settings *s)
{
	json_t *all = json_object();

	for (size_t i = 0; i < s->collection_count; i++)
		json_object_setn_new_nocheck(all, s->collections[i].name.p,
			s->collections[i].name.len, json_from_str(s->collections[i].dir));
	return all;
}

void settings_check(
	const char *path, struct str name, struct report *errors, struct report *warnings)
{
	AUTO_BUF text = BUF_INIT;
	struct settings s = { .path = name };

	int n = file_read(path, SETTINGS_MAX_BYTES, &text);
	if (n < 0)
		report_errno(errors, -n, "cannot read '%s'", path);
	else
		(void)read_text(&s, buf_str(&text), errors, warnings);
	settings_done(&s);
}

bool settings_names(struct str path)
{
	struct arena a = ARENA_INIT;
	bool ours = str_ends(path_absolute(&a, path), S("/roux/config.toml"));

	arena_done(&a);
	return ours;
}

void settings_done(struct settings *s)
{
	if (!s)
		return;
	json_decref(s->executors);
	s->executors = NULL;
	arena_done(&s->arena);
}
