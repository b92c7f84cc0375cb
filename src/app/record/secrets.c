#include "app/record/secrets.h"

#include "app/catalog/secrets.h"
#include "base/file.h"
#include "data/big.h"

enum { SECRET_FILE_MAX = 4 << 20 };

/* -- names ---------------------------------------------------------------------------------------
 */

static void add_members(json_t *object, const json_t *names)
{
	json_t *name;
	size_t i;

	json_array_foreach(names, i, name)
		json_object_set_new_nocheck(object, json_string_value(name), json_true());
}

json_t *secret_names(const struct launch *l)
{
	json_t *names = json_object();

	add_members(names, l->asked.secrets);
	add_members(names, l->asked.secret_env);
	return names;
}

const char *secret_variable(const struct launch *l, const char *name)
{
	const json_t *other = json_object_get(l->asked.secret_vars, name);

	return other ? json_string_value(other) : name;
}

bool secret_like(struct str name)
{
	AUTO_BUF low = BUF_INIT;

	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];

		buf_addc(&low, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
	}
	struct str s = buf_str(&low);
	return str_contains(s, S("token")) || str_contains(s, S("password")) ||
	       str_contains(s, S("secret")) || str_ends(s, S("_key"));
}

static bool is_secret(const json_t *names, struct str name)
{
	return json_object_getn(names, name.p, name.len) || secret_like(name);
}

bool secret_entry(const json_t *entry, struct str *name, struct str *value)
{
	struct str text = json_str(entry);
	size_t equals = str_find(text, '=', 0);

	*name = str_sub(text, 0, equals);
	*value = equals < text.len ? str_from(text, equals + 1) : S("");
	return equals < text.len && secret_like(*name);
}

/* -- texts ---------------------------------------------------------------------------------------
 */

/* A file that is gone, or has no such member any more, has nothing to hide. */
static void add_file(struct mask *m, const json_t *entry)
{
	const char *path = json_string_value(json_object_get(entry, "file"));
	const char *member = json_string_value(json_object_get(entry, "member"));
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!path || !member || file_read_regular(path, SECRET_FILE_MAX, &text) < 0)
		return;
	AUTO_JSON *d = json_read(&(struct source){ str_of(path), buf_str(&text) }, &ignored);
	mask_add_text(m, json_text_of(d, member));
}

struct mask *mask_of_run(const struct launch *l)
{
	struct mask *m = mask_open();
	struct str name, value;
	json_t *entry;
	size_t i;

	secrets_collect(m, l->asked.secrets, l->subject.values, l->subject.recipe, l->subject.plan);
	secrets_collect(m, l->asked.secret_env, l->subject.values, NULL, l->subject.plan);
	json_array_foreach(l->asked.env, i, entry)
	{
		if (secret_entry(entry, &name, &value))
			mask_add_text(m, value);
	}
	json_array_foreach(l->asked.secret_files, i, entry) add_file(m, entry);
	json_array_foreach(l->asked.secret_texts, i, entry) mask_add(m, entry);
	return m;
}

struct mask *mask_of(const struct launch *l)
{
	return mask_or_null(mask_of_run(l));
}

/* A longer one is not kept for later: who has printed more than that has printed no password. */
enum { SECRET_KEPT_MAX = 64 << 10 };

void secret_keep_found(struct launch *l, const struct mask *m, size_t from)
{
	AUTO_JSON *texts = mask_texts(m, from);
	json_t *text;
	size_t i;

	if (!l->asked.secret_texts)
		l->asked.secret_texts = json_array();
	json_array_foreach(texts, i, text)
	{
		if (json_string_length(text) <= SECRET_KEPT_MAX)
			json_array_append(l->asked.secret_texts, text);
	}
}

void secret_keep_texts(struct launch *l, const json_t *value)
{
	struct mask *m = mask_open();

	mask_add(m, value);
	secret_keep_found(l, m, 0);
	mask_free(m);
}

void secret_keep_former(struct launch *l, const json_t *former)
{
	json_t *name;
	size_t i;

	json_array_foreach(l->asked.secrets, i, name)
	{
		const json_t *was = json_object_get(former, json_string_value(name));
		const json_t *now = json_object_get(l->subject.values, json_string_value(name));

		if (was && !json_equal(was, now))
			secret_keep_texts(l, was);
	}
}

/* -- what is shown -------------------------------------------------------------------------------
 */

json_t *shown_values(const struct launch *l, struct mask *m)
{
	AUTO_JSON *names = secret_names(l);
	json_t *shown = json_object(), *value;
	const char *name;

	json_object_foreach(l->subject.values, name, value)
	{
		json_object_set_new_nocheck(shown, name,
			is_secret(names, str_of(name)) ? json_string(MASKED)
						       : mask_value(m, value));
	}
	return shown;
}

/* A value of `name:=JSON` is the one that it means, however it is spelled. */
static json_t *shown_word(struct mask *m, const json_t *word)
{
	struct str text = json_str(word);
	size_t colon = str_find(text, ':', 0), value = colon + strlen(":=");
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF hidden = BUF_INIT;

	if (!m || !str_starts(str_from(text, colon), S(":=")))
		return mask_json(m, word);
	AUTO_JSON *meant =
		json_read_big(&(struct source){ S("value"), str_from(text, value) }, &ignored);
	AUTO_JSON *shown = meant ? mask_value(m, meant) : NULL;
	if (!shown || json_equal(shown, meant))
		return mask_json(m, word);
	buf_add(&hidden, str_sub(text, 0, value));
	json_write(&hidden, shown, 0);
	AUTO_JSON *masked = json_from_str(buf_str(&hidden));
	return mask_json(m, masked);
}

json_t *shown_argv(const struct launch *l, struct mask *m)
{
	AUTO_JSON *names = secret_names(l);
	json_t *shown = json_array(), *word;
	size_t i;

	json_array_foreach(l->asked.argv, i, word)
	{
		struct str text = json_str(word);
		size_t equals = str_find(text, '=', 0);
		/* `name=value` or `name:=value`. */
		size_t name =
			equals - (equals > 0 && equals < text.len && text.p[equals - 1] == ':');

		/* The program, the command and what it runs come first. */
		if (i > 2 && equals && equals < text.len &&
			is_secret(names, str_sub(text, 0, name))) {
			AUTO_BUF hidden = BUF_INIT;

			buf_printf(&hidden, "%.*s=" MASKED, STR(str_sub(text, 0, equals)));
			json_array_append_new(shown, json_from_str(buf_str(&hidden)));
		} else {
			json_array_append_new(shown, shown_word(m, word));
		}
	}
	return shown;
}

json_t *shown_env(const struct launch *l, struct mask *m)
{
	json_t *shown = json_array(), *entry;
	struct str name, value;
	size_t i;

	json_array_foreach(l->asked.env, i, entry)
	{
		bool hidden = secret_entry(entry, &name, &value);
		struct arena a = { 0 };
		AUTO_BUF text = BUF_INIT;

		buf_add(&text, name);
		if (name.len < json_str(entry).len)
			buf_addc(&text, '=');
		buf_add(&text, hidden ? S(MASKED) : mask_text(m, value, &a));
		json_array_append_new(shown, json_from_str(buf_str(&text)));
		arena_done(&a);
	}
	return shown;
}

json_t *shown_artifacts(const struct launch *l)
{
	struct mask *m = json_object_size(l->subject.artifacts) ? mask_of(l) : NULL;
	json_t *shown = l->subject.artifacts ? mask_json(m, l->subject.artifacts) : NULL;

	mask_free(m);
	return shown;
}

/* -- events and issues ---------------------------------------------------------------------------
 */

static const char *const *mask_argv(struct mask *m, const char *const *argv, struct arena *a)
{
	size_t n = 0;

	while (argv && argv[n])
		n++;
	if (!n)
		return argv;
	const char **masked = arena_array(a, const char *, n + 1);
	for (size_t i = 0; i < n; i++)
		masked[i] = mask_text(m, str_of(argv[i]), a).p;
	masked[n] = NULL;
	return masked;
}

/* A value in it may hold JSON of its own, and a secret is spelled as JSON once only: so each value
 * is masked as a text, not the JSON of them all. */
static struct str mask_env(struct mask *m, struct str env, struct arena *a)
{
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_BUF text = BUF_INIT;

	if (!m || !env.len)
		return env;
	AUTO_JSON *entries = json_read(&(struct source){ S("env"), env }, &ignored);
	AUTO_JSON *shown = mask_value(m, entries);
	json_write(&text, shown, 0);
	return arena_str(a, buf_str(&text));
}

void mask_event(struct mask *m, const struct event *e, struct event *ret, struct arena *a)
{
	*ret = *e;
	ret->label = mask_text(m, e->label, a);
	ret->item = mask_text(m, e->item, a);
	if (e->kind == EVENT_COMMAND_START) {
		ret->argv = mask_argv(m, e->argv, a);
	} else if (e->kind == EVENT_RUN_FAILED) {
		ret->result.error = mask_text(m, e->result.error, a);
	} else if (event_is_step(e->kind)) {
		ret->step.env = mask_env(m, e->step.env, a);
		ret->step.error = mask_text(m, e->step.error, a);
	}
}

void mask_around(struct mask *m, const struct event *e, struct event *ret, struct arena *a)
{
	*ret = *e;
	ret->label = mask_text(m, e->label, a);
	ret->item = mask_text(m, e->item, a);
	if (e->output.is_why)
		ret->output.bytes = mask_text(m, e->output.bytes, a);
}
