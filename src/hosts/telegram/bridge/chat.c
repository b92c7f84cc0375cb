#include "hosts/telegram/bridge/chat.h"

#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/command.h"
#include "hosts/telegram/bridge/groups.h"
#include "hosts/telegram/bridge/prepare.h"
#include "hosts/telegram/bridge/press.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/rules/reaction.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/prompt.h"

enum {
	QUEUE_LIMIT = 500,
	FOLDED_MAX = 512 << 10, /* bytes that one turn takes along; what is beyond waits on */
};

void chat_start(struct bridge *b)
{
	groups_start(b);
	prepare_start(b);
	press_start(b);
}

void chat_stop(struct bridge *b)
{
	groups_stop(b);
	prepare_stop(b);
	press_stop(b);
}

/* -- turns from messages -------------------------------------------------------------------------
 */

struct fold {
	json_t *turns;
	json_t *items;
	size_t bytes;
};

static bool keep_prompt(void *data, uint64_t item, enum lane lane, const json_t *turn)
{
	struct fold *f = data;
	AUTO_BUF text = BUF_INIT;

	json_write(&text, turn, 0);
	f->bytes += text.len;
	if (f->bytes > FOLDED_MAX)
		return false;
	if (lane != LANE_CONTROL) {
		json_array_append_new(f->turns, json_deep_copy(turn));
		json_array_append_new(f->items, json_integer((json_int_t)item));
	}
	return true;
}

/* After /abort the next message takes along what waits. */
static bool fold(struct bridge *b, json_t *turn)
{
	AUTO_JSON *turns = json_array();
	AUTO_JSON *items = json_array();
	json_t *item;
	size_t i;
	bool ok = true;

	waiting_each(b, 0, keep_prompt, &(struct fold){ turns, items, 0 });
	json_array_foreach(items, i, item) ok &=
		waiting_remove(b, (uint64_t)json_integer_value(item));
	json_array_foreach(turns, i, item) prepare_fold(b, turn, item);
	if (json_array_size(turns))
		json_object_set(turn, "history", turns);
	return ok && turns_hold(b, false);
}

static bool has_room(struct bridge *b)
{
	int64_t limit = conf_number(&b->config, "queueLimit", QUEUE_LIMIT);

	return limit <= 0 || b->turns.waiting.count < (size_t)limit;
}

/* Whether there is an agent to answer; else one line says which key to set. */
static bool has_agent(struct bridge *b, int64_t chat, int64_t reply)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF why = BUF_INIT;
	bool has = agent_name(b, &a, &why).len > 0;

	if (!has)
		send_line(b, chat, reply, "%s", buf_cstr(&why));
	arena_done(&a);
	return has;
}

static bool enqueue(struct bridge *b, int64_t update, json_t *turn, enum lane_move move)
{
	char key[32];

	(void)snprintf(key, sizeof(key), "u%lld", (long long)update);
	b->turns.wanted = true;
	return waiting_add(b, turn, move, str_of(key));
}

static json_t *new_turn(
	int64_t update, int64_t chat, int64_t reply, json_t *sources, struct str text)
{
	return json_pack("{s:I,s:I,s:o,s:I,s:o,s:b}", "chat", (json_int_t)chat, "reply",
		(json_int_t)reply, "sources", sources, "update", (json_int_t)update, "text",
		json_from_str(text), "ready", 1);
}

static json_t *ids_of(const json_t *messages)
{
	json_t *ids = json_array(), *m;
	size_t i;

	json_array_foreach((json_t *)messages, i, m)
		json_array_append(ids, json_object_get(m, "message_id"));
	return ids;
}

/* `more` (may be NULL) is what the turn has besides; borrowed. */
static bool admit(struct bridge *b, int64_t update, const json_t *messages, const struct str *text,
	json_t *more)
{
	struct arena a = ARENA_INIT;
	const json_t *first = json_array_get(messages, 0);
	int64_t chat = json_number_of(json_object_get(first, "chat"), "id");
	int64_t reply = json_number_of(first, "message_id");
	bool ok = true;

	if (!has_agent(b, chat, reply)) {
		/* The chat was told what to set. */
	} else if (!b->turns.held && !has_room(b)) {
		send_line(b, chat, reply, "The queue is full: %zu prompts wait. /queue shows them.",
			b->turns.waiting.count);
	} else {
		AUTO_JSON *turn = new_turn(update, chat, reply, ids_of(messages),
			text ? *text : message_prompt_text(&a, messages));

		if (more)
			json_object_update(turn, more);
		prepare_new(b, turn, messages);
		ok = (!b->turns.held || fold(b, turn)) && enqueue(b, update, turn, MOVE_ARRIVE);
	}
	arena_done(&a);
	return ok;
}

bool chat_admit(struct bridge *b, int64_t update, const json_t *messages, const struct str *text)
{
	return admit(b, update, messages, text, NULL);
}

bool chat_task(struct bridge *b, int64_t update, const json_t *messages, struct str task,
	struct str instructions)
{
	AUTO_JSON *more = json_pack("{s:o,s:o}", "task", json_from_str(task), "instructions",
		json_from_str(instructions));

	return admit(b, update, messages, NULL, more);
}

static bool prompt(struct bridge *b, int64_t update, json_t *turn, enum lane_move move)
{
	int64_t chat = json_number_of(turn, "chat"), reply = json_number_of(turn, "reply");

	if (!has_agent(b, chat, reply))
		return true;
	if (!has_room(b)) {
		send_line(b, chat, reply, "The queue is full: %zu prompts wait. /queue shows them.",
			b->turns.waiting.count);
		return true;
	}
	return turns_hold(b, false) && enqueue(b, update, turn, move);
}

bool chat_prompt(struct bridge *b, int64_t update, int64_t chat, int64_t reply, struct str text,
	enum lane_move move)
{
	AUTO_JSON *turn = new_turn(update, chat, reply, json_array(), text);

	return prompt(b, update, turn, move);
}

bool chat_raw_prompt(struct bridge *b, int64_t update, int64_t chat, int64_t reply, struct str text)
{
	AUTO_JSON *turn = new_turn(update, chat, reply, json_array(), text);

	json_object_set_new(turn, "raw", json_true());
	return prompt(b, update, turn, MOVE_ARRIVE);
}

bool chat_again(struct bridge *b, int64_t update, const json_t *turn)
{
	AUTO_JSON *copy = json_deep_copy(turn);

	return prompt(b, update, copy, MOVE_ARRIVE);
}

bool chat_continuation(struct bridge *b)
{
	const json_t *now = b->turns.turn;
	AUTO_JSON *turn = new_turn(0, json_number_of(now, "chat"), json_number_of(now, "reply"),
		json_array(), S("continue"));

	b->turns.wanted = true;
	return waiting_add(b, turn, MOVE_CONTROL, S(""));
}

/* -- kinds of updates ----------------------------------------------------------------------------
 */

static enum routed on_message(struct bridge *b, int64_t id, const struct update *u)
{
	struct arena a = ARENA_INIT;
	enum routed done;
	bool ok;

	if (command_try(b, id, u, &ok))
		done = ok ? ROUTED : ROUTED_FAILED;
	else
		done = groups_take(b, id, u);
	arena_done(&a);
	return done;
}

/* While it waits its text is replaced; once it runs an edit comes too late. */
static enum routed on_edit(struct bridge *b, const struct update *u)
{
	struct arena a = ARENA_INIT;
	uint64_t item = waiting_find(b, u->message_id);
	AUTO_JSON *turn = waiting_get(b, item, NULL);
	AUTO_JSON *messages = json_pack("[O]", (json_t *)u->body);
	bool ok = true;

	if (groups_edit(b, u)) {
		/* It is not even a turn yet. */
	} else if (turn) {
		json_object_set_new(turn, "text", json_from_str(message_prompt_text(&a, messages)));
		prepare_edited(b, turn);
		ok = waiting_edit(b, item, turn);
		b->turns.wanted = true;
	}
	arena_done(&a);
	return ok ? ROUTED : ROUTED_FAILED;
}

static bool remove_message(struct bridge *b, int64_t message)
{
	uint64_t item = waiting_find(b, message);

	groups_drop(b, message);
	return !item || waiting_remove(b, item) || !b->store.report.errors;
}

static enum routed on_reaction(struct bridge *b, const struct update *u)
{
	struct pairing pairing = { .paired = b->user != 0, .user = b->user };

	if (!reaction_allowed(u->body, &pairing))
		return ROUTED;
	struct reaction r = reaction_read(u->body);
	uint64_t item = waiting_find(b, u->message_id);

	switch (r.effect) {
	case REACTION_REMOVE:
		return remove_message(b, u->message_id) ? ROUTED : ROUTED_FAILED;
	case REACTION_PROMOTE:
		if (item)
			(void)waiting_promote(b, item);
		break;
	case REACTION_DEMOTE:
		if (item)
			(void)waiting_demote(b, item);
		break;
	case REACTION_NONE:
		break;
	}
	return b->store.report.errors ? ROUTED_FAILED : ROUTED;
}

static enum routed on_deleted(struct bridge *b, const struct update *u)
{
	bool ok = true;

	/* Messages of another chat may have the same numbers. */
	for (size_t i = 0; b->user && u->chat == b->user && i < u->deleted_count; i++)
		ok &= remove_message(b, u->deleted[i]);
	return ok ? ROUTED : ROUTED_FAILED;
}

enum routed chat_update(struct bridge *b, int64_t id, const struct update *u)
{
	switch (u->kind) {
	case UPDATE_MESSAGE:
		return on_message(b, id, u);
	case UPDATE_EDIT:
		return on_edit(b, u);
	case UPDATE_CALLBACK:
		return press(b, id, u);
	case UPDATE_REACTION:
		return on_reaction(b, u);
	case UPDATE_DELETED:
		return on_deleted(b, u);
	case UPDATE_IGNORE:
		break;
	}
	return ROUTED;
}
