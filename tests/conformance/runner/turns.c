/* Cases about reactions, groups of messages, the end of a turn, buttons and comments. */
#include "base/lang.h"
#include "hosts/telegram/rules/ending.h"
#include "hosts/telegram/rules/group.h"
#include "hosts/telegram/rules/press.h"
#include "hosts/telegram/rules/reaction.h"
#include "hosts/telegram/text/marks.h"

#include "queue.h"

/* -- turns ---------------------------------------------------------------------------------------
 */

static json_t *end_turn(struct arena *a, const json_t *input)
{
	struct str stop = json_text_of(input, "stopReason");
	struct ending_facts f = { .has_turn = json_truth_of(input, "hasTurn"),
		.stop = str_eq(stop, S("aborted")) ? STOP_ABORTED
			: str_eq(stop, S("error")) ? STOP_ERROR
						   : STOP_DONE,
		.has_text = json_truth_of(input, "hasFinalText"),
		.has_files = json_truth_of(input, "hasQueuedAttachments"),
		.held = json_truth_of(input, "preserveQueuedTurnsAsHistory") };
	struct ending_plan p = ending_plan(&f);

	(void)a;
	return json_pack("{ss sb sb sb sb}", "kind", ending_kind_name(p.kind), "shouldClearPreview",
		p.end_preview, "shouldDispatchNext", p.dispatch_next, "shouldSendErrorMessage",
		p.send_error, "shouldSendAttachmentNotice", p.send_notice);
}

static json_t *react(struct arena *a, const json_t *input)
{
	struct pairing pairing = { 0 };
	json_t *effects = json_array(), *id = json_object_get(input, "message_id");
	AUTO_JSON *body = json_pack("{s{sO} sO sO sO}", "chat", "type",
		json_object_get(input, "chat_type"), "user", json_object_get(input, "user"),
		"old_reaction", json_object_get(input, "old_reaction"), "new_reaction",
		json_object_get(input, "new_reaction"));

	(void)a;
	pairing.paired = json_whole(json_object_get(input, "allowed_user_id"), &pairing.user);
	struct reaction r = reaction_read(body);
	if (!reaction_allowed(body, &pairing))
		r.effect = REACTION_NONE;
	switch (r.effect) {
	case REACTION_NONE:
		break;
	case REACTION_REMOVE:
		json_array_append_new(effects, json_pack("{s[O]}", "drop_pending_group", id));
		json_array_append_new(effects, json_pack("{s[O]}", "remove", id));
		break;
	case REACTION_PROMOTE:
		json_array_append_new(
			effects, json_pack("{sO ss}", "promote", id, "emoji", r.emoji));
		break;
	case REACTION_DEMOTE:
		json_array_append_new(effects, json_pack("{sO}", "demote", id));
		break;
	}
	return json_pack("{so}", "effects", effects);
}

/* -- groups --------------------------------------------------------------------------------------
 */

/* A message of the Bot API out of the members of a case. */
static json_t *message_of(struct arena *a, const json_t *one)
{
	const json_t *chat = json_object_get(one, "chat"), *user = json_object_get(one, "user");
	AUTO_BUF text = BUF_INIT;

	if (!user)
		user = json_object_get(one, "from");
	if (!user)
		user = json_object_get(one, "user_id");
	if (!chat)
		chat = json_object_get(one, "chat_id");
	buf_fill(&text, 'x', (size_t)case_number(one, "len"));
	if (json_object_get(one, "text"))
		buf_add(&text, case_member(a, one, "text"));
	json_t *m = json_pack("{sI so s{sI} s{sI sb}}", "message_id", case_number(one, "id"),
		"text", json_from_str(buf_str(&text)), "chat", "id",
		json_is_integer(chat) ? json_integer_value(chat) : (json_int_t)7, "from", "id",
		json_is_integer(user) ? json_integer_value(user) : (json_int_t)7, "is_bot",
		json_truth_of(one, "bot"));
	if (json_object_get(one, "group"))
		json_object_set(m, "media_group_id", json_object_get(one, "group"));
	return m;
}

static json_t *group_texts(struct arena *a, const json_t *input)
{
	const json_t *messages = json_object_get(input, "messages");
	json_t *dispatch = json_array();
	AUTO_JSON *all = json_array();
	json_t *open = NULL; /* the ids of the open group, borrowed from `dispatch` */
	uint64_t ms;

	for (size_t i = 0; i < json_array_size(messages); i++) {
		json_t *m = message_of(a, json_array_get(messages, i));
		json_t *id = json_object_get(m, "message_id");
		/* These cases are about texts: what belongs to an album is not for this group. */
		bool album = json_object_get(m, "media_group_id") != NULL;

		json_array_append_new(all, m);
		if (open && !album && group_joins(json_array_get(all, i - 1), m, &ms)) {
			json_array_append(open, id);
		} else if (!album && group_opens(m, &ms)) {
			json_t *group = json_pack("{s[O]}", "group", id);

			json_array_append_new(dispatch, group);
			open = json_object_get(group, "group");
		} else {
			json_array_append_new(dispatch, json_pack("{sO}", "single", id));
			open = NULL;
		}
	}
	return json_pack("{so}", "dispatch", dispatch);
}

/* -- comments ------------------------------------------------------------------------------------
 */

static json_t *outbound(struct arena *a, const json_t *input)
{
	json_t *buttons = json_array(), *rows = json_array(), *voices = json_array();
	struct marks m;

	marks_read(a, case_member(a, input, "markdown"), &m);
	for (size_t i = 0; i < m.button_count; i++) {
		json_array_append_new(
			buttons, json_pack("{so so}", "text", json_from_str(m.buttons[i].label),
					 "prompt", json_from_str(m.buttons[i].prompt)));
		json_array_append_new(rows, json_integer(1));
	}
	for (size_t i = 0; i < m.voice_count; i++) {
		json_t *v = json_pack("{so}", "text", json_from_str(m.voices[i].text));

		if (m.voices[i].lang.len)
			json_object_set_new(v, "lang", json_from_str(m.voices[i].lang));
		if (m.voices[i].rate.len)
			json_object_set_new(v, "rate", json_from_str(m.voices[i].rate));
		json_array_append_new(voices, v);
	}
	return json_pack("{so so so so so so}", "markdown", json_from_str(m.text), "buttons",
		buttons, "rows", rows, "voices", voices, "lang", case_str_or_null(m.lang), "rate",
		case_str_or_null(m.rate));
}

static json_t *hide(struct arena *a, const json_t *input)
{
	return json_pack("{so}", "markdown",
		json_from_str(marks_hide(a, case_member(a, input, "markdown"))));
}

/* -- buttons -------------------------------------------------------------------------------------
 */

enum { QUERY_MESSAGE = 50 };

struct press_case {
	struct arena *arena;
	struct items q;
	json_int_t chat;
	json_t *effects;
};

static void effect(struct press_case *p, struct str text)
{
	json_array_append_new(p->effects, json_from_str(text));
}

/* `<the callback_data of a registered button {text:T,prompt:P}>` stands for data that is only known
 * when the button is there. */
static struct str registered(struct arena *a, struct str data, struct str *prompt)
{
	static const char mark[] = ",prompt:";
	const char *p = memmem(data.p, data.len, mark, strlen(mark));

	if (!str_starts(data, S("<")) || !str_ends(data, S("}>")) || !p)
		return data;
	size_t at = (size_t)(p - data.p) + strlen(mark);
	*prompt = str_sub(data, at, data.len - at - 2);
	return callback_button(a, S("0a1b2c3d"));
}

static size_t position(const struct press_case *p, const struct item *item)
{
	return (size_t)(item - p->q.list.at) + 1;
}

static size_t queue_keys(struct press_case *p, uint64_t heading, struct str **keys)
{
	struct item_name *names = arena_array(p->arena, struct item_name, p->q.list.len);
	size_t count = MIN(p->q.list.len, (size_t)QUEUE_PAGE_ITEMS);

	for (size_t i = 0; i < count; i++)
		names[i] = (struct item_name){ (uint64_t)p->chat, (uint64_t)p->q.list.at[i].id };
	return menu_queue_keys(p->arena, names, count, 0,
		(p->q.list.len + QUEUE_PAGE_ITEMS - 1) / QUEUE_PAGE_ITEMS, heading, keys);
}

static void show_view(struct press_case *p, const struct press_plan *plan, json_int_t message)
{
	struct item_name name = { (uint64_t)p->chat, (uint64_t)message };
	struct item *item = items_find(&p->q, message);
	struct str *keys = NULL, text = S("");
	size_t count = 0;
	AUTO_BUF b = BUF_INIT;

	switch (plan->view) {
	case VIEW_NONE:
		return;
	case VIEW_QUEUE:
		text = p->q.list.len   ? S("queue_list")
		       : plan->heading ? arena_printf(p->arena, "queue_empty_alt_%u",
						 (unsigned)(plan->number % QUEUE_HEADINGS))
				       : S("queue_empty");
		count = queue_keys(p, plan->heading ? plan->number : 0, &keys);
		break;
	case VIEW_ITEM:
		text = arena_printf(p->arena, "item_%zu%s", item ? position(p, item) : 0,
			item && item->lane == LANE_PRIORITY ? " ⚡" : "");
		count = menu_item_keys(p->arena, name, &keys);
		break;
	case VIEW_CONFIRM:
		text = S("confirm_delete");
		count = menu_confirm_keys(p->arena, name, &keys);
		break;
	case VIEW_SETTINGS:
		text = S("settings");
		count = menu_settings_keys(p->arena, &keys);
		break;
	case VIEW_PROACTIVE:
		text = S("proactive");
		count = menu_proactive_keys(p->arena, &keys);
		break;
	case VIEW_MAIN:
		text = S("main");
		break;
	case VIEW_MODELS:
		text = S("models");
		break;
	case VIEW_THINKING:
		text = S("thinking");
		break;
	}
	buf_printf(&b, "edit:#%.*s|", STR(text));
	for (size_t i = 0; i < count; i++)
		buf_printf(&b, "%s%.*s", i ? "," : "", STR(keys[i]));
	effect(p, buf_str(&b));
}

static void enqueue(struct press_case *p, struct str text)
{
	items_add(&p->q, (struct item){ .reply = QUERY_MESSAGE, .text = text }, MOVE_ARRIVE);
	effect(p, S("dispatch"));
}

static void act(struct press_case *p, const struct press_plan *plan, json_int_t message,
	struct str data, struct str prompt)
{
	struct item *item = items_find(&p->q, message);

	switch (plan->act) {
	case PRESS_FOREIGN:
		enqueue(p, arena_printf(p->arena, "[callback] %.*s", STR(data)));
		break;
	case PRESS_FIRE:
		enqueue(p, arena_printf(p->arena, "[telegram] %.*s", STR(prompt)));
		break;
	case PRESS_PROMOTE:
		(void)items_move(&p->q, item, MOVE_PROMOTE, S("⚡"));
		break;
	case PRESS_DEMOTE:
		(void)items_move(&p->q, item, MOVE_DEMOTE, S(""));
		break;
	case PRESS_REMOVE:
		items_remove(&p->q, item);
		break;
	case PRESS_PROACTIVE_ON:
		effect(p, S("set:proactive=true"));
		break;
	case PRESS_PROACTIVE_OFF:
		effect(p, S("set:proactive=false"));
		break;
	case PRESS_NOTHING:
	case PRESS_GATE:
	case PRESS_CANCEL_RUN:
	case PRESS_SECTION:
	case PRESS_MODEL:
	case PRESS_THINKING:
		break;
	}
	items_sort(&p->q);
}

/* The cases list what waits in the order of taking: it arrives by its numbers, then what has
 * priority is promoted. */
static void load_queue(struct press_case *p, const json_t *queue)
{
	size_t count = json_array_size(queue);

	for (json_int_t next = 1; p->q.list.len < count; next++)
		for (size_t i = 0; i < count; i++) {
			const json_t *one = json_array_get(queue, i);
			json_int_t id = case_number(one, "id");
			struct item item = { .id = id,
				.reply = id,
				.text = arena_printf(
					p->arena, "[telegram] text %lld", (long long)id) };

			if (case_number(one, "order") == next)
				items_add(&p->q, item, MOVE_ARRIVE);
		}
	for (size_t i = 0; i < count; i++) {
		const json_t *one = json_array_get(queue, i);

		if (lane_named(json_text_of(one, "lane")) == LANE_PRIORITY)
			(void)items_move(&p->q, items_find(&p->q, case_number(one, "id")),
				MOVE_PROMOTE, S("⚡"));
	}
	items_sort(&p->q);
}

/* The update that the query comes in. */
static json_t *query_update(const json_t *input)
{
	AUTO_JSON *query = json_pack("{ss s{sO sb}}", "id", "1", "from", "id",
		json_object_get(input, "from"), "is_bot", 0);

	json_object_set(query, "data", json_object_get(input, "data"));
	if (json_truth_of(input, "has_message"))
		json_object_set_new(query, "message",
			json_pack("{si s{sO sO}}", "message_id", (int)QUERY_MESSAGE, "chat", "id",
				json_object_get(input, "allowed_user_id"), "type",
				json_object_get(input, "chat_type")));
	return json_pack("{sO}", "callback_query", query);
}

static void press(struct press_case *p, const json_t *input)
{
	struct str prompt = S(""),
		   data = registered(p->arena, json_text_of(input, "data"), &prompt);
	struct callback c;

	callback_parse(data, &c);
	json_int_t message = (json_int_t)c.message;
	struct item *item =
		(json_int_t)c.chat == p->chat && message ? items_find(&p->q, message) : NULL;
	struct press_facts facts = { .own = true,
		.menu = json_truth_of(input, "menu_state_stored"),
		.item = item,
		.priority = item && item->lane == LANE_PRIORITY,
		.button = prompt.len,
		.thinking = json_truth_of(input, "thinking"),
		.models = json_truth_of(input, "models") };
	struct press_plan plan = press_decide(&c, &facts);
	act(p, &plan, message, data, prompt);
	show_view(p, &plan, message);
	effect(p, arena_printf(p->arena, "answer:#%s", press_answer_code(plan.answer)));
}

static json_t *route(struct arena *a, const json_t *input)
{
	struct press_case p = { .arena = a, .effects = json_array() };
	AUTO_JSON *update = query_update(input);
	struct pairing pairing = { 0 };
	json_t *queue = json_array();
	struct update u;

	pairing.paired = json_whole(json_object_get(input, "allowed_user_id"), &pairing.user);
	p.chat = pairing.user;
	items_init(&p.q);
	load_queue(&p, json_object_get(input, "queue"));
	update_classify(a, update, &pairing, &u);
	if (u.denied)
		effect(&p, S("answer:#not_authorized"));
	else if (u.kind == UPDATE_CALLBACK)
		press(&p, input);
	vec_each (i, &p.q.list)
		json_array_append_new(
			queue, json_pack("{ss sI so}", "lane", lane_names[i->lane], "reply_to",
				       i->reply, "text", json_from_str(i->text)));
	items_done(&p.q);
	return json_pack("{so so}", "effects", p.effects, "queue", queue);
}

static const struct kind list[] = {
	{ "agent-end-plan", end_turn, NULL },
	{ "reactions", react, NULL },
	{ "text-groups", group_texts, NULL },
	{ "outbound-markup", outbound, NULL },
	{ "outbound-preview-strip", hide, NULL },
	{ "callback-routing", route, NULL },
};
const struct kinds kinds_of_turns = { list, ARRAY_SIZE(list) };
