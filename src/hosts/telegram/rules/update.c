#include "hosts/telegram/rules/update.h"

#include <math.h>

#include "base/lang.h"
#include "hosts/telegram/rules/command.h"

bool json_whole(const json_t *value, int64_t *ret)
{
	if (json_is_integer(value)) {
		*ret = json_integer_value(value);
		return true;
	}
	if (json_is_real(value)) {
		double d = json_real_value(value);

		if (d == floor(d) && fabs(d) < 9007199254740992.0) {
			*ret = (int64_t)d;
			return true;
		}
	}
	return false;
}

static const json_t *object_of(const json_t *in, const char *name)
{
	const json_t *value = json_object_get(in, name);

	return json_is_object(value) ? value : NULL;
}

static bool read_deleted(struct arena *a, const json_t *update, struct update *ret)
{
	const json_t *body = object_of(update, "deleted_business_messages");
	const json_t *ids = json_object_get(body, "message_ids");
	size_t count = json_array_size(ids);

	if (!count)
		return false;
	int64_t *list = arena_array(a, int64_t, count);
	for (size_t i = 0; i < count; i++)
		if (!json_whole(json_array_get(ids, i), &list[i]))
			return false;
	ret->kind = UPDATE_DELETED;
	(void)json_whole(json_object_get(object_of(body, "chat"), "id"), &ret->chat);
	ret->deleted = list;
	ret->deleted_count = count;
	return true;
}

static bool from_private_chat(const json_t *message)
{
	return str_eq(json_text_of(object_of(message, "chat"), "type"), S("private"));
}

/* A person, not a bot. */
static bool human(const json_t *user, int64_t *ret)
{
	return json_whole(json_object_get(user, "id"), ret) &&
	       !json_is_true(json_object_get(user, "is_bot"));
}

/* Text of a message that would pair: `/start CODE`. */
static bool has_code(struct arena *a, const json_t *message, struct str code)
{
	struct chat_command c;

	return chat_command_parse(a, json_text_of(message, "text"), &c) && c.action == CHAT_HELP &&
	       str_eq(c.name, S("start")) && str_eq(c.args, code);
}

static void authorize(struct arena *a, const struct pairing *pairing, struct update *u)
{
	bool message = u->kind == UPDATE_MESSAGE;

	if (pairing->paired) {
		u->denied = u->user != pairing->user;
		return;
	}
	if (pairing->code.len && !(message && has_code(a, u->message, pairing->code))) {
		u->kind = UPDATE_IGNORE;
		return;
	}
	u->pairs = true;
	u->greets = message;
}

static void take_message(
	const json_t *message, const json_t *from, enum update_kind kind, struct update *ret)
{
	if (!message || !from_private_chat(message) || !human(from, &ret->user))
		return;
	ret->kind = kind;
	ret->message = message;
	(void)json_whole(json_object_get(object_of(message, "chat"), "id"), &ret->chat);
	(void)json_whole(json_object_get(message, "message_id"), &ret->message_id);
}

void update_classify(
	struct arena *a, const json_t *update, const struct pairing *pairing, struct update *ret)
{
	const json_t *body;

	*ret = (struct update){ .kind = UPDATE_IGNORE };
	if (read_deleted(a, update, ret))
		return;
	if ((body = object_of(update, "message_reaction"))) {
		ret->kind = UPDATE_REACTION;
		ret->body = body;
		(void)json_whole(json_object_get(object_of(body, "user"), "id"), &ret->user);
		(void)json_whole(json_object_get(object_of(body, "chat"), "id"), &ret->chat);
		(void)json_whole(json_object_get(body, "message_id"), &ret->message_id);
		return; /* reaction_read() authorizes: a reaction never pairs */
	}
	if ((body = object_of(update, "callback_query")))
		take_message(
			object_of(body, "message"), object_of(body, "from"), UPDATE_CALLBACK, ret);
	else if ((body = object_of(update, "message")))
		take_message(body, object_of(body, "from"), UPDATE_MESSAGE, ret);
	else if ((body = object_of(update, "edited_message")))
		take_message(body, object_of(body, "from"), UPDATE_EDIT, ret);
	ret->body = body;
	if (ret->kind != UPDATE_IGNORE)
		authorize(a, pairing, ret);
}

const char *update_kind_name(enum update_kind kind)
{
	switch (kind) {
	case UPDATE_IGNORE:
		return "ignore";
	case UPDATE_DELETED:
		return "deleted";
	case UPDATE_REACTION:
		return "reaction";
	case UPDATE_CALLBACK:
		return "callback";
	case UPDATE_MESSAGE:
		return "message";
	case UPDATE_EDIT:
		return "edited-message";
	}
	UNREACHABLE("update kind");
}
