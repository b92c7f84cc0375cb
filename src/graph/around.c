#include "graph/around.h"

#include "base/utf8.h"
#include "graph/members.h"
#include "template/braces.h"

/* -- reading -------------------------------------------------------------------------------------
 */

void machine_read(struct arena *a, struct node *n, const struct members *m, struct report *r)
{
	struct needs *needs = m->at[FIELD_NEEDS] ? arena_new(a, struct needs) : NULL;

	if (needs)
		(void)needs_read(a, m->place[FIELD_NEEDS], m->at[FIELD_NEEDS], needs, r);
	n->needs = needs;
	n->tty = json_is_true(m->at[FIELD_TTY]);
	(void)runs_on_read(m->place[FIELD_RUNS_ON], m->at[FIELD_RUNS_ON], &n->runs_on, r);
}

const struct text *cwd_read(struct arena *a, const struct place *place, const json_t *value,
	enum dialect d, struct report *r)
{
	struct str text = json_str(value);

	if (text.len && str_find(text, '\0', 0) == text.len)
		return braces_text(a, place, text, d, r);
	report_error(r, place_where(place), "`cwd` is empty or has a NUL in it");
	report_hint(r, "leave it out for the directory of the run");
	return NULL;
}

static bool check_name(struct str name, const struct place *place, struct report *r)
{
	if (!name.len || str_find(name, '=', 0) < name.len || str_find(name, '\0', 0) < name.len) {
		report_error(r, place_key_where(place),
			"'%.*s' in `env` is not a name of an environment variable",
			STR(report_quote(r, name)));
		return report_hint(r, "it must not be empty or have a '=' in it");
	}
	if (!str_starts(name, S("ROUX_")))
		return true;
	report_error(r, place_key_where(place), "'%.*s' in `env` cannot be set",
		STR(report_quote(r, name)));
	return report_hint(r, "roux itself sets the variables that begin with ROUX_");
}

static const struct text *value_of(struct arena *a, struct str name, const json_t *value,
	const struct place *place, enum dialect d, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	if (json_is_array(value) || json_is_object(value) || json_is_null(value)) {
		report_error(r, place_where(place),
			"'%.*s' in `env` is %s, expected a string, a number or a boolean",
			STR(name), json_kind(value));
		return NULL;
	}
	if (json_is_string(value))
		return braces_text(a, place, json_str(value), d, r);
	template_text(&text, value);
	return braces_text(a, place, arena_str(a, buf_str(&text)), d, r);
}

bool env_read(struct arena *a, const struct place *place, const json_t *value, enum dialect d,
	struct node *n, struct report *r)
{
	struct env_entry *entries = arena_array(a, struct env_entry, json_object_size(value));
	bool ok = true;
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)value, key, item)
	{
		const struct place *p = place_member(a, place, str_of(key));
		struct env_entry e = { p->key, NULL };

		if (check_name(e.name, p, r))
			e.text = value_of(a, e.name, item, p, d, r);
		ok &= e.text != NULL;
		if (e.text)
			entries[n->env_count++] = e;
	}
	n->env = entries;
	return ok;
}

static bool quorum_of(const json_t *value, struct quorum *ret)
{
	struct str text = json_is_string(value) ? json_str(value) : S("");
	uint64_t n = 0;

	*ret = (struct quorum){ QUORUM_COUNT, 0 };
	if (json_is_integer(value) && json_integer_value(value) > 0) {
		ret->number = (uint64_t)json_integer_value(value);
	} else if (str_eq(text, S("all"))) {
		ret->kind = QUORUM_ALL;
		return true;
	} else if (str_ends(text, S("%")) && str_to_uint(str_sub(text, 0, text.len - 1), &n)) {
		*ret = (struct quorum){ QUORUM_PERCENT, n };
		return n >= 1 && n <= 100;
	} else if (str_to_uint(text, &n)) {
		ret->number = n;
	}
	return ret->number > 0;
}

bool quorum_read(
	const struct place *place, const json_t *value, struct quorum *ret, struct report *r)
{
	AUTO_BUF found = BUF_INIT;

	if (quorum_of(value, ret))
		return true;
	*ret = (struct quorum){ 0 };
	template_text(&found, value);
	report_error(r, place_where(place),
		"`quorum` is '%.*s', expected a whole number from 1, \"all\", or \"1%%\" to "
		"\"100%%\"",
		STR(report_quote(r, buf_str(&found))));
	return report_hint(r, "for all branches write \"quorum\": \"all\"");
}

uint64_t quorum_needs(const struct quorum *q, uint64_t count)
{
	switch (q->kind) {
	case QUORUM_NONE:
		break;
	case QUORUM_COUNT:
		return q->number;
	case QUORUM_PERCENT:
		/* Rounded up, without going beyond 64 bits. */
		return count / 100 * q->number + (count % 100 * q->number + 99) / 100;
	case QUORUM_ALL:
		return count;
	}
	return 1;
}

/* -- resolving -----------------------------------------------------------------------------------
 */

static const struct node *above(const struct node *n)
{
	return n->parent ? n->parent : n->owner;
}

static bool known(const char *const *env, size_t count, struct str name)
{
	for (size_t i = 0; i < count; i++) {
		struct str entry = str_of(env[i]);

		if (str_starts(entry, name) && entry.p[name.len] == '=')
			return true;
	}
	return false;
}

static bool resolve(const struct text *t, const struct scope *s, struct buf *ret, struct report *r)
{
	if (!text_resolve(t, s, ret, r))
		return false;
	return str_find(buf_str(ret), '\0', 0) == ret->len ||
	       report_error(r, place_where(t->place), "it comes out with a NUL character in it");
}

/* The nearest entry of a name is the one. */
static bool add_env(const struct node *n, const struct scope *s, struct arena *a, const char **env,
	size_t *count, struct report *r)
{
	bool ok = true;

	for (size_t i = 0; i < n->env_count; i++) {
		const struct env_entry *e = &n->env[i];
		AUTO_BUF value = BUF_INIT;

		if (known(env, *count, e->name))
			continue;
		buf_printf(&value, "%.*s=", STR(e->name));
		ok &= resolve(e->text, s, &value, r);
		env[(*count)++] = arena_cstr(a, buf_str(&value));
	}
	return ok;
}

bool around_build(const struct node *command, const struct scope *s, struct arena *a,
	struct around *ret, struct report *r)
{
	const struct text *cwd = NULL;
	size_t entries = 0, count = 0;
	bool ok = true;

	*ret = (struct around){ 0 };
	for (const struct node *n = command; n; n = above(n)) {
		cwd = cwd ? cwd : n->cwd;
		/* Copies have the entries of their node. */
		entries += n->env_count;
	}
	if (cwd) {
		AUTO_BUF path = BUF_INIT;

		ok &= resolve(cwd, s, &path, r);
		ret->cwd = arena_cstr(a, buf_str(&path));
	}
	if (!entries)
		return ok;
	const char **env = arena_array(a, const char *, entries + 1);
	for (const struct node *n = command; n; n = above(n))
		ok &= add_env(n, s, a, env, &count, r);
	ret->env = env;
	return ok;
}
