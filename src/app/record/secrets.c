#include "app/record/secrets.h"

#include <stdlib.h>

#include "base/vec.h"

enum { SHORTEST = 4 }; /* a shorter text would hide half of everything */

static const char stars[] = "***";

static bool listed(const json_t *names, struct str name)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		if (str_eq(json_str(json_array_get(names, i)), name))
			return true;
	return false;
}

bool secret_declared(const struct launch *l, struct str name)
{
	return listed(l->asked.secrets, name) || listed(l->asked.secret_env, name);
}

static bool named_like_one(struct str name)
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

bool secret_name(const struct launch *l, struct str name)
{
	return secret_declared(l, name) || named_like_one(name);
}

/* -- texts ---------------------------------------------------------------------------------------
 */

struct mask {
	unsigned more; /* owners beside the first */
	struct arena arena;
	VEC(struct str) texts;
};

static bool known(const struct mask *m, struct str text)
{
	vec_each (secret, &m->texts)
		if (str_eq(*secret, text))
			return true;
	return false;
}

static void add(struct mask *m, struct str text)
{
	AUTO_BUF coded = BUF_INIT;

	if (text.len < SHORTEST || known(m, text))
		return;
	vec_push(&m->texts, arena_str(&m->arena, text));
	/* In a line of JSON it may look different. */
	json_write_str(&coded, text);
	struct str inner = str_sub(buf_str(&coded), 1, coded.len - 2);
	if (!str_eq(inner, text))
		vec_push(&m->texts, arena_str(&m->arena, inner));
}

static void add_value(struct mask *m, const json_t *value)
{
	const char *key;
	json_t *item;

	if (json_is_string(value)) {
		add(m, json_str(value));
		/* What a command has printed ends with a newline, what is made of it may not. */
		add(m, str_trim(json_str(value)));
	} else if (json_is_object(value)) {
		json_object_foreach((json_t *)value, key, item) add_value(m, item);
	} else if (json_is_array(value)) {
		for (size_t i = 0; i < json_array_size(value); i++)
			add_value(m, json_array_get(value, i));
	} else if (json_is_number(value)) {
		AUTO_BUF text = BUF_INIT;

		json_write(&text, value, 0);
		add(m, buf_str(&text));
	}
}

static void add_names(struct mask *m, const json_t *values, const json_t *names)
{
	for (size_t i = 0; i < json_array_size(names); i++)
		add_value(m, json_object_get(values, json_string_value(json_array_get(names, i))));
}

/* A secret inside another one is found after it. */
static int longer_first(const void *a, const void *b)
{
	const struct str *x = a, *y = b;

	return (x->len < y->len) - (x->len > y->len);
}

static void sort(struct mask *m)
{
	if (m->texts.len)
		qsort(m->texts.at, m->texts.len, sizeof(*m->texts.at), longer_first);
}

static struct mask *sorted(struct mask *m)
{
	if (m->texts.len) {
		sort(m);
		return m;
	}
	mask_free(m);
	return NULL;
}

struct mask *mask_new(const json_t *values, const json_t *names, const json_t *more)
{
	struct mask *m = mem_new(struct mask);

	add_names(m, values, names);
	add_names(m, values, more);
	return sorted(m);
}

struct mask *mask_of(const struct launch *l)
{
	return sorted(mask_open(l));
}

struct mask *mask_open(const struct launch *l)
{
	struct mask *m = mem_new(struct mask);
	const json_t *recipe = l->subject.recipe ? l->subject.recipe->file->object : NULL;
	const json_t *const all[] = { l->subject.values,
		l->subject.plan ? l->subject.plan->vars : NULL, json_object_get(recipe, "values"),
		json_object_get(recipe, "defaults") };

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		add_names(m, all[i], l->asked.secrets);
		add_names(m, all[i], l->asked.secret_env);
	}
	sort(m);
	return m;
}

void mask_add(struct mask *m, const json_t *value)
{
	size_t before = m->texts.len;

	add_value(m, value);
	if (m->texts.len > before)
		sort(m);
}

struct mask *mask_ref(struct mask *m)
{
	m->more++;
	return m;
}

void mask_free(struct mask *m)
{
	if (!m || m->more--)
		return;
	vec_done(&m->texts);
	arena_done(&m->arena);
	free(m);
}

static const struct str *secret_at(const struct mask *m, struct str text, size_t at)
{
	vec_each (secret, &m->texts)
		if (str_starts(str_from(text, at), *secret))
			return secret;
	return NULL;
}

struct str mask_text(const struct mask *m, struct str text, struct arena *a)
{
	AUTO_BUF masked = BUF_INIT;
	bool any = false;

	if (!m || !m->texts.len)
		return text;
	for (size_t at = 0; at < text.len;) {
		const struct str *secret = secret_at(m, text, at);

		if (secret)
			buf_adds(&masked, stars);
		else
			buf_addc(&masked, text.p[at]);
		any |= secret != NULL;
		at += secret ? secret->len : 1;
	}
	return any ? arena_str(a, buf_str(&masked)) : text;
}

static const char *const *mask_argv(const struct mask *m, const char *const *argv, struct arena *a)
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

void mask_event(const struct mask *m, const struct event *e, struct event *ret, struct arena *a)
{
	*ret = *e;
	ret->label = mask_text(m, e->label, a);
	if (e->kind == EVENT_COMMAND_START) {
		ret->argv = mask_argv(m, e->argv, a);
	} else if (e->kind == EVENT_COMMAND_OUTPUT) {
		ret->output.bytes = mask_text(m, e->output.bytes, a);
	} else if (e->kind == EVENT_RUN_FAILED) {
		ret->result.error = mask_text(m, e->result.error, a);
	} else if (event_is_step(e->kind)) {
		ret->step.env = mask_text(m, e->step.env, a);
		ret->step.error = mask_text(m, e->step.error, a);
	}
}

void mask_report(const struct mask *m, struct report *r)
{
	vec_each (i, &r->issues) {
		i->message = mask_text(m, i->message, &r->arena);
		i->hint = mask_text(m, i->hint, &r->arena);
		i->excerpt = mask_text(m, i->excerpt, &r->arena);
		for (size_t n = 0; n < ISSUE_ACTIONS; n++)
			i->actions[n].about = mask_text(m, i->actions[n].about, &r->arena);
	}
}
