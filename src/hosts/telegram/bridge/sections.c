#include "hosts/telegram/bridge/sections.h"

#include <stdlib.h>

#include "base/mem.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/chat.h"
#include "hosts/telegram/bridge/job.h"
#include "hosts/telegram/bridge/menu-pages.h"
#include "hosts/telegram/bridge/menu.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/callback.h"
#include "hosts/telegram/rules/command.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/html.h"

enum { SECTION_MS = 5000, TOKENS_MAX = 1000 };

/* One entry: a section, or the part of it that stands among the settings. */
struct section {
	const json_t *config; /* with "label", "render", "callback"; borrowed */
	struct str id;
	json_int_t order;
	uint64_t token;
};

struct sections {
	VEC(struct section) at;
};

/* -- which there are -----------------------------------------------------------------------------
 */

/* A number for each id, from 0, that stays the same when others come and go. */
static uint64_t token_of(struct bridge *b, struct arena *a, struct str id)
{
	AUTO_JSON *kept = store_get(&b->store, "sections");
	AUTO_JSON *all = json_is_object(kept) ? json_incref(kept) : json_object();
	const char *key = arena_cstr(a, id);
	json_t *known = json_object_get(all, key);

	if (known)
		return (uint64_t)json_integer_value(known);
	size_t next = json_object_size(all);
	json_object_set_new(all, key, json_integer((json_int_t)next));
	(void)store_set(&b->store, "sections", all);
	return next;
}

static int by_order(const void *one, const void *other)
{
	const struct section *a = one, *b = other;

	return a->order != b->order ? (a->order > b->order) - (a->order < b->order)
				    : str_cmp(a->id, b->id);
}

/* Those of the configuration as it is now; of equal ids none but the first. */
static void find_all(struct bridge *b, struct arena *a, bool settings, struct sections *ret)
{
	json_t *all = conf_get(&b->config, "sections"), *s;
	size_t i;

	json_array_foreach(all, i, s)
	{
		struct str id = json_text_of(s, "id");
		const json_t *part = settings ? json_object_get(s, "settings") : s;
		bool twice = false;

		vec_each (other, &ret->at)
			twice |= str_eq(other->id, id);
		if (twice)
			ring_add(&b->store, "section", S("two sections have the same id"),
				json_pack("{s:o}", "id", json_from_str(id)));
		if (!id.len || twice || !json_object_get(part, "render"))
			continue;
		struct str named =
			settings ? arena_printf(a, "%.*s#settings", STR(id)) : arena_str(a, id);
		vec_push(&ret->at, (struct section){ part, id, json_number_of(s, "order"),
					   token_of(b, a, named) });
	}
	if (ret->at.len)
		qsort(ret->at.at, ret->at.len, sizeof(*ret->at.at), by_order);
}

static bool find_token(struct bridge *b, struct arena *a, struct str token, struct section *ret)
{
	uint64_t number;
	bool found = false;

	if (!str_to_uint(token, &number))
		return false;
	for (int settings = 0; settings < 2 && !found; settings++) {
		struct sections all = { 0 };

		find_all(b, a, settings, &all);
		vec_each (s, &all.at)
			if (s->token == number) {
				*ret = *s;
				found = true;
			}
		vec_done(&all.at);
	}
	return found;
}

void sections_buttons(struct bridge *b, struct menu_view *v, bool settings)
{
	struct sections all = { 0 };

	find_all(b, &v->arena, settings, &all);
	vec_each (s, &all.at) {
		struct str data, label = json_text_of(s->config, "label");
		struct str token = arena_printf(&v->arena, "%llu", (unsigned long long)s->token);

		if (callback_section(&v->arena, token, S("open"), S(""), &data))
			view_button(v, label.len ? label : s->id, data);
	}
	vec_done(&all.at);
}

/* -- asking one ----------------------------------------------------------------------------------
 */

struct asking {
	struct bridge *bridge;
	struct arena arena;
	struct str query; /* empty: a command */
	struct str token;
	int64_t update, chat, message; /* message 0: a new one */
};

static void finish(struct asking *q)
{
	arena_done(&q->arena);
	free(q);
}

/* The host builds the data, so that a section cannot forge another's. */
static bool add_rows(struct asking *q, struct menu_view *v, const json_t *rows)
{
	json_t *row, *cell;
	size_t i, n;

	json_array_foreach((json_t *)rows, i, row)
	{
		json_t *made = json_array();

		json_array_append_new(v->keyboard, made);
		json_array_foreach(row, n, cell)
		{
			struct str data, label = json_text_of(cell, "text");

			if (!label.len ||
				!callback_section(&v->arena, q->token, json_text_of(cell, "action"),
					json_text_of(cell, "payload"), &data))
				return false;
			json_array_append_new(
				made, json_pack("{s:o,s:o}", "text", json_from_str(label),
					      "callback_data", json_from_str(data)));
		}
	}
	return true;
}

static void fail(struct asking *q, struct str why)
{
	struct bridge *b = q->bridge;

	ring_add(&b->store, "section", why, NULL);
	if (q->query.len)
		send_answer(b, q->query, S("This section does not answer."));
	else
		send_line(b, q->chat, 0, "This section does not answer.");
	finish(q);
}

static void show(struct asking *q, const json_t *said, struct menu_view *v)
{
	struct bridge *b = q->bridge;
	struct str text = json_text_of(said, "text");
	bool html = str_eq(json_text_of(said, "parseMode"), S("html")) && html_valid(text);
	bool fresh = json_truth_of(said, "open") || !q->message;

	struct message m = { .chat = q->chat,
		.edit = fresh ? 0 : q->message,
		.text = text,
		.html = html,
		.keyboard = v->keyboard,
		.category = "section" };

	if (fresh)
		menu_send(b, &m);
	else
		send_message(b, &m, NULL, NULL);
}

static void on_done(void *data, const struct job_result *result)
{
	struct asking *q = data;

	if (!result) {
		finish(q);
		return;
	}
	struct bridge *b = q->bridge;
	AUTO_REPORT ignored = REPORT_INIT;
	AUTO_JSON *said =
		result->ok ? json_read(&(struct source){ S("section"), result->output }, &ignored)
			   : NULL;
	struct menu_view v;

	if (!json_is_object(said)) {
		fail(q, result->ok ? S("its output is not a JSON object") : result->why);
		return;
	}
	view_init(&v);
	view_button(&v, S("⬅ Back"), callback_plain(MENU_BACK));
	if (!add_rows(q, &v, json_object_get(said, "keyboard"))) {
		view_done(&v);
		fail(q, S("a button of it has no label or too much data"));
		return;
	}
	if (json_truth_of(said, "delete") && q->message)
		send_delete(b, q->chat, q->message);
	else if (json_text_of(said, "text").len)
		show(q, said, &v);
	if (json_text_of(said, "prompt").len) {
		(void)chat_prompt(b, q->update, q->chat, q->message, json_text_of(said, "prompt"),
			MOVE_ARRIVE);
		(void)bridge_note_store(b);
	}
	if (q->query.len)
		send_answer(b, q->query, json_text_of(said, "answer"));
	view_done(&v);
	finish(q);
	turns_after(b);
}

static void ask(struct bridge *b, struct asking *q, const json_t *template, struct str action,
	struct str payload)
{
	AUTO_BUF input = BUF_INIT;
	AUTO_JSON *about = json_pack("{s:I,s:I,s:o,s:o,s:o}", "chat", (json_int_t)q->chat,
		"message", (json_int_t)q->message, "action", json_from_str(action), "payload",
		json_from_str(payload), "token", json_from_str(q->token));

	json_write(&input, about, 0);
	(void)job_start(b, &(struct job_request){ .name = "sections",
				   .template = template,
				   .input = buf_str(&input),
				   .timeout_ms = SECTION_MS,
				   .done = on_done,
				   .data = q });
}

static bool has_command(const json_t *section, struct str name)
{
	json_t *c;
	size_t i;

	json_array_foreach(json_object_get(section, "commands"), i,
		c) if (json_is_string(c) && str_eq(json_str(c), name)) return true;
	return false;
}

bool sections_command(struct bridge *b, int64_t id, int64_t chat, const struct chat_command *c)
{
	struct arena a = ARENA_INIT;
	struct sections all = { 0 };
	bool ours = false;

	find_all(b, &a, false, &all);
	for (size_t i = 0; i < all.at.len && !ours; i++) {
		struct section *s = &all.at.at[i];

		if (!has_command(s->config, c->name))
			continue;
		struct asking *q = mem_new(struct asking);
		*q = (struct asking){ .bridge = b, .update = id, .chat = chat };
		q->token = arena_printf(&q->arena, "%llu", (unsigned long long)s->token);
		ask(b, q, json_object_get(s->config, "render"), S("open"), c->args);
		ours = true;
	}
	vec_done(&all.at);
	arena_done(&a);
	return ours;
}

void sections_press(struct bridge *b, int64_t id, const struct update *u, const struct callback *c)
{
	struct arena a = ARENA_INIT;
	struct str query = json_text_of(u->body, "id");
	struct section s;

	if (!find_token(b, &a, c->token, &s)) {
		send_answer(b, query, S("This section is not there any more."));
	} else {
		struct asking *q = mem_new(struct asking);
		bool open = str_eq(c->name, S("open"));
		json_t *callback = json_object_get(s.config, "callback");

		*q = (struct asking){
			.bridge = b, .update = id, .chat = u->chat, .message = u->message_id
		};
		q->query = arena_str(&q->arena, query);
		q->token = arena_str(&q->arena, c->token);
		ask(b, q, open || !callback ? json_object_get(s.config, "render") : callback,
			c->name, c->text);
	}
	arena_done(&a);
}
