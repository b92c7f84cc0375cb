#include "app/record/masked.h"

#include "app/record/secret-pieces.h"
#include "app/record/secrets.h"

#define KEPT_ENV "(env) "
#define KEPT_AGENT "(agent) "
#define KEPT_ARTIFACT "(artifact) "
#define KEPT_SEEN "(seen) " /* one array for all */

static const char *kept_name(struct buf *b, const char *kind, struct str name)
{
	buf_reset(b);
	buf_printf(b, "%s%.*s", kind, STR(name));
	return buf_cstr(b);
}

/* What was kept under that name: borrowed; NULL: nothing was. */
static json_t *find_kept(const json_t *kept, const char *kind, struct str name)
{
	AUTO_BUF key = BUF_INIT;

	return json_object_get(kept, kept_name(&key, kind, name));
}

/* -- variables -----------------------------------------------------------------------------------
 */

/* Of two with one name the last one counts, as it does for commands. */
static void keep_env(const struct launch *l, const json_t *shown, json_t *kept)
{
	struct str name, value;
	json_t *entry;
	size_t i;

	json_array_foreach(l->asked.env, i, entry)
	{
		AUTO_BUF key = BUF_INIT;

		(void)secret_entry(entry, &name, &value);
		if (!json_equal(entry, json_array_get(shown, i)) || find_kept(kept, KEPT_ENV, name))
			json_object_set_new_nocheck(
				kept, kept_name(&key, KEPT_ENV, name), secret_in_pieces(l, value));
	}
}

static void take_env(struct launch *l, const json_t *kept)
{
	struct str name, masked;
	json_t *entry;
	size_t i;

	json_array_foreach(l->asked.env, i, entry)
	{
		(void)secret_entry(entry, &name, &masked);
		const json_t *value = find_kept(kept, KEPT_ENV, name);
		AUTO_BUF text = BUF_INIT;

		if (!value)
			continue;
		buf_printf(&text, "%.*s=", STR(name));
		(void)secret_add_whole(l, value, &text);
		json_array_set_new(l->asked.env, i, json_from_str(buf_str(&text)));
	}
}

/* -- agents --------------------------------------------------------------------------------------
 */

static void keep_agents(const struct launch *l, const json_t *shown, json_t *kept)
{
	const char *name;
	json_t *command;

	json_object_foreach(l->asked.agents, name, command)
	{
		AUTO_BUF key = BUF_INIT;

		if (!json_equal(command, json_object_get(shown, name)))
			json_object_set_new_nocheck(kept, kept_name(&key, KEPT_AGENT, str_of(name)),
				secret_in_pieces(l, json_str(command)));
	}
}

static void take_agents(struct launch *l, const json_t *kept)
{
	const char *name;
	json_t *shown;

	json_object_foreach(l->asked.agents, name, shown)
	{
		const json_t *command = find_kept(kept, KEPT_AGENT, str_of(name));
		AUTO_BUF text = BUF_INIT;

		if (!command)
			continue;
		(void)secret_add_whole(l, command, &text);
		json_object_set_new_nocheck(l->asked.agents, name, json_from_str(buf_str(&text)));
	}
}

/* -- artifacts -----------------------------------------------------------------------------------
 */

static void keep_artifacts(const struct launch *l, const json_t *shown, json_t *kept)
{
	const char *name;
	json_t *path;

	json_object_foreach(l->subject.artifacts, name, path)
	{
		AUTO_BUF key = BUF_INIT;

		if (!json_equal(path, json_object_get(shown, name)))
			json_object_set_new_nocheck(kept,
				kept_name(&key, KEPT_ARTIFACT, str_of(name)),
				secret_in_pieces(l, json_str(path)));
	}
}

bool masked_restore_artifacts(const struct launch *l, json_t *artifacts, const json_t *kept)
{
	bool known = true;
	const char *name;
	json_t *shown;

	json_object_foreach(artifacts, name, shown)
	{
		const json_t *path = find_kept(kept, KEPT_ARTIFACT, str_of(name));
		AUTO_BUF text = BUF_INIT;

		if (!path)
			continue;
		known &= secret_add_whole(l, path, &text);
		json_object_set_new_nocheck(artifacts, name, json_from_str(buf_str(&text)));
	}
	return known;
}

/* -- values --------------------------------------------------------------------------------------
 */

static void keep_values(const struct launch *l, json_t *kept)
{
	json_t *value, *name;
	const char *key;
	size_t i;

	json_object_foreach(l->subject.values, key, value)
		json_object_set_new_nocheck(kept, key, secret_value_in_pieces(l, value));
	/* What came from the environment is read from there again. */
	json_array_foreach(l->asked.secret_env, i, name)
		json_object_del(kept, json_string_value(name));
}

void masked_restore_values(const struct launch *l, json_t *values)
{
	const char *key;
	json_t *value;

	json_object_foreach(values, key, value)
		json_object_set_new_nocheck(values, key, secret_whole_value(l, value));
}

/* -- what turned up while the run was executed ---------------------------------------------------
 */

static void keep_seen(const struct launch *l, json_t *kept)
{
	json_t *all = json_array(), *text;
	size_t i;

	json_array_foreach(l->asked.secret_texts, i, text)
		json_array_append_new(all, secret_in_pieces(l, json_str(text)));
	if (json_array_size(all))
		json_object_set_nocheck(kept, KEPT_SEEN, all);
	json_decref(all);
}

/* One that needs a variable that is not set cannot be told from other texts. */
static void take_seen(struct launch *l, const json_t *kept)
{
	const json_t *all = json_object_get(kept, KEPT_SEEN);
	json_t *one;
	size_t i;

	json_array_foreach(all, i, one)
	{
		AUTO_BUF text = BUF_INIT;

		if (!secret_add_whole(l, one, &text))
			continue;
		if (!l->asked.secret_texts)
			l->asked.secret_texts = json_array();
		json_array_append_new(l->asked.secret_texts, json_from_str(buf_str(&text)));
	}
}

/* -- all -----------------------------------------------------------------------------------------
 */

static void drop_kept(json_t *values)
{
	static const char *const kinds[] = { KEPT_ENV, KEPT_AGENT, KEPT_ARTIFACT, KEPT_SEEN,
		MASKED_BYTES };
	const char *name;
	json_t *value;
	void *next;

	json_object_foreach_safe(values, next, name, value)
	{
		for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
			if (!str_starts(str_of(name), str_of(kinds[i])))
				continue;
			json_object_del(values, name);
			break;
		}
	}
}

void masked_keep(const struct launch *l, const json_t *start, json_t *kept)
{
	keep_values(l, kept);
	keep_env(l, json_object_get(start, "env"), kept);
	keep_agents(l, json_object_get(start, "agents"), kept);
	keep_artifacts(l, json_object_get(start, "artifacts"), kept);
	keep_seen(l, kept);
}

void masked_restore(struct launch *l, json_t *values)
{
	take_env(l, values);
	take_agents(l, values);
	(void)masked_restore_artifacts(l, l->subject.artifacts, values);
	take_seen(l, values);
	drop_kept(values);
	masked_restore_values(l, values);
}
