#include "hosts/telegram/bridge/recipes.h"

#include <stdlib.h>
#include <string.h>

#include "app/recipes.h"
#include "app/runs.h"
#include "app/trust.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/run-status.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/buttons.h"
#include "hosts/telegram/bridge/follow.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/callback.h"
#include "hosts/telegram/text/html.h"
#include "hosts/telegram/text/unicode.h"

enum { LISTED = 10, CHOICES_MAX = 20, ASK_MS = 10 * 60 * 1000 };

/* The question that is open, b->asking:
 *   recipe, chat, reply, values
 *   argument   what is asked for now
 *   id         of this question: buttons name it
 *   until      when it is forgotten */

void recipes_start(struct bridge *b)
{
	b->asking = NULL;
}

void recipes_stop(struct bridge *b)
{
	json_decref(TAKE(b->asking));
}

static void refuse(struct bridge *b, int64_t chat, int64_t reply, struct report *r)
{
	AUTO_BUF text = BUF_INIT;

	bridge_why(r, &text);
	send_line(b, chat, reply, "%.*s", STR(unicode_cut(str_trim(buf_str(&text)), 3500)));
}

/* -- starting ------------------------------------------------------------------------------------
 */

struct started {
	struct bridge *bridge;
	json_t *about;
	char *run;
};

/* The message that says how far it is is there; what comes of the run is delivered. */
static void on_told(void *data, enum sent result, int64_t message)
{
	struct started *s = data;

	if (result == SENT_OK)
		json_object_set_new(s->about, "progress", json_integer(message));
	follow_run(s->bridge, s->run, s->about);
	json_decref(s->about);
	free(s->run);
	free(s);
}

static struct run_handle *begin(
	struct bridge *b, const char *run, const char *recipe, json_t *values, struct report *r)
{
	struct request q = bridge_request(b);
	struct recipe_open how = { .as = OPERAND_RECIPE, .launch = true, .values = values };
	struct recipe_ref *ref = recipes_open(b->app, recipe, &how, r);
	struct run_handle *h = NULL;

	q.record = true;
	q.detach = DETACH_ALWAYS;
	q.name = recipe;
	q.as = run;
	if (ref && recipe_ref_check_trust(ref, r) && recipe_ref_check_names(ref, true, r))
		h = runs_start(b->app, ref, &q, r);
	recipe_ref_free(ref);
	bridge_request_done(&q);
	return h;
}

static void tell(struct bridge *b, const char *run, const json_t *about)
{
	struct started *s = mem_new(struct started);
	AUTO_BUF text = BUF_INIT;

	s->bridge = b;
	s->run = mem_strdup(run);
	s->about = json_deep_copy(about);
	json_object_del(s->about, "values");
	buf_printf(&text, "%.*s: running as %s", STR(json_text_of(about, "name")), run);
	send_message(b,
		&(struct message){ .chat = json_number_of(about, "chat"),
			.reply_to = json_number_of(about, "reply"),
			.text = buf_str(&text) },
		on_told, s);
}

void recipes_begin(struct bridge *b, const char *run, const json_t *about)
{
	AUTO_REPORT r = REPORT_INIT;
	struct str lacks = json_text_of(about, "lacks");
	struct run_handle *h = NULL;

	if (lacks.len)
		report_error(&r, (struct where){ 0 },
			"%.*s was not started: its secret '%.*s' is not kept, so send /run again",
			STR(json_text_of(about, "name")), STR(lacks));
	else
		h = begin(b, run, json_string_value(json_object_get(about, "name")),
			json_object_get(about, "values"), &r);
	if (h) {
		tell(b, run, about);
	} else {
		follow_forget(b, run);
		refuse(b, json_number_of(about, "chat"), json_number_of(about, "reply"), &r);
	}
	run_close(h);
}

static void start(struct bridge *b, json_t *data)
{
	recipes_begin(
		b, json_string_value(json_object_get(data, "run")), json_object_get(data, "about"));
}

/* What may be written down of it: a value that the recipe declares as secret may not. */
static json_t *kept_of(const json_t *about, const json_t *schema)
{
	json_t *kept = json_deep_copy(about), *values = json_object_get(kept, "values"), *property;
	const char *name;

	json_object_foreach(json_object_get(schema, "properties"), name, property)
	{
		if (json_truth_of(property, "writeOnly") && json_object_get(values, name)) {
			json_object_del(values, name);
			json_object_set_new(kept, "lacks", json_string(name));
		}
	}
	return kept;
}

/* Written down with the update, under the name that the run will have, and started behind it: a
 * process that dies in between starts it when it is back. */
static void schedule(struct bridge *b, const json_t *asked, const json_t *schema)
{
	struct arena a = ARENA_INIT;
	struct str recipe = json_text_of(asked, "recipe");
	const char *run = arena_printf(&a, "telegram-%.*s-%.*s", STR(recipe), STR(random_id(&a))).p;
	json_t *about = json_pack("{s:O,s:O,s:O,s:O}", "chat", json_object_get(asked, "chat"),
		"reply", json_object_get(asked, "reply"), "name", json_object_get(asked, "recipe"),
		"values", json_object_get(asked, "values"));
	AUTO_JSON *kept = kept_of(about, schema);

	follow_keep(b, run, kept);
	route_after(b, start, json_pack("{s:s,s:o}", "run", run, "about", about));
	arena_done(&a);
}

/* -- asking --------------------------------------------------------------------------------------
 */

/* The choices of an argument: an array of texts, a new reference; empty: any text. */
static json_t *choices_of(const json_t *property)
{
	json_t *all = json_object_get(property, "enum"), *c, *texts = json_array();
	size_t i;

	json_array_foreach(all, i, c)
	{
		AUTO_BUF text = BUF_INIT;

		if (json_is_string(c))
			buf_add(&text, json_str(c));
		else
			json_write(&text, c, 0);
		json_array_append_new(texts, json_from_str(buf_str(&text)));
	}
	if (str_eq(json_text_of(property, "type"), S("boolean"))) {
		json_array_append_new(texts, json_string("true"));
		json_array_append_new(texts, json_string("false"));
	}
	return texts;
}

static void ask(struct bridge *b, json_t *asked, const char *name, const json_t *property)
{
	struct arena a = ARENA_INIT;
	AUTO_JSON *choices = choices_of(property);
	AUTO_JSON *keyboard = json_array();
	AUTO_BUF html = BUF_INIT;
	struct str what = json_text_of(property, "description");
	json_t *c;
	size_t i;

	json_object_set_new(asked, "argument", json_string(name));
	json_object_set_new(asked, "id", json_from_str(random_id(&a)));
	json_object_set_new(asked, "until",
		json_integer((json_int_t)(clock_mono_ms() + ASK_MS / b->places.clock)));
	json_array_foreach(choices, i, c)
	{
		AUTO_JSON *action = json_pack(
			"{s:O,s:O}", "question", json_object_get(asked, "id"), "value", c);
		struct str id = i < CHOICES_MAX ? buttons_new(b, &a, action) : S("");

		if (id.len)
			json_array_append_new(
				keyboard, button_row(unicode_cut(json_str(c), 56), id));
	}
	buf_adds(&html, "<b>");
	html_escape(&html, str_of(name));
	buf_adds(&html, "</b>? ");
	html_escape(&html, unicode_cut(what, 500));
	send_message(b,
		&(struct message){ .chat = json_number_of(asked, "chat"),
			.text = buf_str(&html),
			.html = true,
			.keyboard = keyboard },
		NULL, NULL);
	if (b->asking != asked) {
		json_decref(b->asking);
		b->asking = json_incref(asked);
	}
	arena_done(&a);
}

/* The first required argument that has no value is asked for; without one it is started. */
static void next(struct bridge *b, json_t *asked)
{
	AUTO_REPORT r = REPORT_INIT;
	struct recipe_open how = { .as = OPERAND_RECIPE, .launch = true, .values = json_null() };
	struct recipe_ref *ref =
		recipes_open(b->app, json_string_value(json_object_get(asked, "recipe")), &how, &r);
	AUTO_JSON *schema =
		ref && recipe_ref_check_trust(ref, &r) ? recipes_input_schema(ref) : NULL;
	json_t *required = json_object_get(schema, "required"), *name;
	size_t i;

	recipe_ref_free(ref);
	if (!schema) {
		refuse(b, json_number_of(asked, "chat"), json_number_of(asked, "reply"), &r);
		return;
	}
	json_array_foreach(required, i, name) if (!json_object_get(json_object_get(asked, "values"),
							  json_string_value(name)))
	{
		ask(b, asked, json_string_value(name),
			json_object_get(
				json_object_get(schema, "properties"), json_string_value(name)));
		return;
	}
	schedule(b, asked, schema);
	if (b->asking == asked)
		json_decref(TAKE(b->asking));
}

static bool take_value(struct bridge *b, struct str text)
{
	json_t *asked = b->asking;

	json_object_set_new(json_object_get(asked, "values"),
		json_string_value(json_object_get(asked, "argument")), json_from_str(text));
	next(b, asked);
	return true;
}

bool recipes_answer(struct bridge *b, int64_t chat, struct str text)
{
	if (!b->asking || json_number_of(b->asking, "chat") != chat)
		return false;
	if ((uint64_t)json_number_of(b->asking, "until") < clock_mono_ms()) {
		json_decref(TAKE(b->asking));
		return false;
	}
	return take_value(b, text);
}

bool recipes_choose(struct bridge *b, const json_t *action)
{
	if (!b->asking ||
		!json_equal(json_object_get(b->asking, "id"), json_object_get(action, "question")))
		return false;
	return take_value(b, json_text_of(action, "value"));
}

/* -- /run ----------------------------------------------------------------------------------------
 */

struct known {
	struct str id;
	bool found;
};

static bool see_recipe(void *data, const struct recipe_info *info)
{
	struct known *k = data;

	k->found |= info->state == RECIPE_ACTIVE && str_eq(info->id, k->id);
	return !k->found;
}

/* A recipe by its id. What the chat sends is never a path, so it never chooses a file. */
static bool known(struct bridge *b, struct str id)
{
	AUTO_REPORT ignored = REPORT_INIT;
	struct known k = { id, false };

	(void)recipes_each(b->app, NULL, see_recipe, &k, &ignored);
	return k.found;
}

/* name=value, up to the next word that begins so: values may have spaces. */
static bool read_values(struct str words, json_t *values)
{
	struct str name = S("");
	AUTO_BUF value = BUF_INIT;

	for (size_t at = 0; at < words.len;) {
		size_t end = at;

		while (end < words.len && words.p[end] != ' ' && words.p[end] != '\n')
			end++;
		struct str word = str_sub(words, at, end - at);
		size_t equals = str_find(word, '=', 0);
		at = end + 1;
		if (!word.len)
			continue;
		if (equals < word.len && recipes_is_name(str_sub(word, 0, equals))) {
			name = str_sub(word, 0, equals);
			buf_reset(&value);
			buf_add(&value, str_from(word, equals + 1));
		} else if (name.len) {
			buf_printf(&value, " %.*s", STR(word));
		} else {
			return false;
		}
		json_object_setn_new_nocheck(
			values, name.p, name.len, json_from_str(buf_str(&value)));
	}
	return true;
}

void recipes_run(struct bridge *b, int64_t chat, int64_t reply, struct str words)
{
	size_t end = 0;

	words = str_trim(words);
	while (end < words.len && words.p[end] != ' ' && words.p[end] != '\n')
		end++;
	struct str id = str_sub(words, 0, end);
	AUTO_JSON *values = json_object();
	if (!id.len) {
		send_line(b, chat, reply, "Which recipe? /run NAME [name=value…]");
	} else if (!known(b, id)) {
		send_line(b, chat, reply, "There is no recipe called %.*s.",
			STR(unicode_cut(id, 100)));
	} else if (!read_values(str_from(words, end), values)) {
		send_line(b, chat, reply,
			"Write values as name=value, or leave them out: what is "
			"missing is asked for.");
	} else {
		AUTO_JSON *asked = json_pack("{s:o,s:I,s:I,s:O}", "recipe", json_from_str(id),
			"chat", (json_int_t)chat, "reply", (json_int_t)reply, "values", values);

		next(b, asked);
	}
}

/* -- /runs ---------------------------------------------------------------------------------------
 */

struct listing {
	struct bridge *bridge;
	struct arena arena;
	struct buf html;
	json_t *keyboard;
};

static bool see_run(void *data, const struct run_entry *e)
{
	struct listing *l = data;
	AUTO_BUF took = BUF_INIT;

	clock_duration(&took, e->ms);
	buf_adds(&l->html, "<code>");
	html_escape(&l->html, e->id);
	buf_printf(&l->html, "</code> %.*s, %s\n", STR(e->status), buf_cstr(&took));
	if (!status_is_end(e->status)) {
		struct str id = random_id(&l->arena);
		const char *key = arena_printf(&l->arena, "rc/%.*s", STR(id)).p;

		(void)store_set_new(&l->bridge->store, key, json_from_str(e->id));
		json_array_append_new(
			l->keyboard, button_row(arena_printf(&l->arena, "⏹ Cancel %.*s",
							STR(unicode_cut(e->id, 40))),
					     callback_run_cancel(&l->arena, id)));
	}
	return true;
}

/* The buttons of an older list expire with the next one: what they name is not kept for ever. */
static void forget_lists(struct bridge *b)
{
	AUTO_JSON *left = store_list(&b->store, "rc/");
	json_t *row;
	size_t i;

	json_array_foreach(left, i, row)(void)
		store_delete(&b->store, json_string_value(json_array_get(row, 0)));
}

void recipes_list_runs(struct bridge *b, int64_t chat, int64_t reply)
{
	struct listing l = { .bridge = b, .keyboard = json_array() };
	AUTO_REPORT r = REPORT_INIT;

	forget_lists(b);
	runs_each(b->app, &(struct run_filter){ .limit = LISTED }, see_run, NULL, &l, &r);
	if (!l.html.len)
		buf_adds(&l.html, "There are no runs.");
	send_message(b,
		&(struct message){ .chat = chat,
			.reply_to = reply,
			.text = buf_str(&l.html),
			.html = true,
			.keyboard = l.keyboard },
		NULL, NULL);
	json_decref(l.keyboard);
	buf_done(&l.html);
	arena_done(&l.arena);
}

void recipes_cancel(struct bridge *b, struct str query, const struct callback *c)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT r = REPORT_INIT;
	const char *key = arena_printf(&a, "rc/%.*s", STR(c->id)).p;
	AUTO_JSON *run = store_get(&b->store, key);
	struct run_handle *h =
		json_is_string(run) ? runs_open(b->app, json_string_value(run), &r) : NULL;

	if (!json_is_string(run))
		send_answer(b, query, S("This list has expired: /runs."));
	else if (h && run_order(h, RUN_CANCEL, -1, &r))
		send_answer(b, query, S("It is being cancelled."));
	else
		send_answer(b, query,
			h && run_status(h) == ROUX_PAUSED
				? S("It waits for an approval: a denial ends it.")
				: S("It has ended already."));
	run_close(h);
	(void)store_delete(&b->store, key);
	arena_done(&a);
}
