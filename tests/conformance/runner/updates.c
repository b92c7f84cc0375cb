/* Cases about updates, commands, callbacks and answers of the Bot API. */
#include "base/lang.h"
#include "hosts/telegram/rules/callback.h"
#include "hosts/telegram/rules/command.h"
#include "hosts/telegram/rules/retry.h"
#include "hosts/telegram/rules/update.h"

#include "runner.h"

static struct pairing pairing_of(const json_t *input)
{
	struct pairing p = { 0 };

	p.paired = json_whole(json_object_get(input, "allowed_user_id"), &p.user);
	p.code = json_text_of(input, "pairing_code");
	return p;
}

static json_t *classify(struct arena *a, const json_t *input)
{
	struct pairing pairing = pairing_of(input);
	json_t *ret = json_object();
	struct update u;

	update_classify(a, json_object_get(input, "update"), &pairing, &u);
	json_object_set_new(ret, "kind", json_string(update_kind_name(u.kind)));
	if (u.kind == UPDATE_DELETED) {
		json_t *ids = json_array();

		for (size_t i = 0; i < u.deleted_count; i++)
			json_array_append_new(ids, json_integer(u.deleted[i]));
		json_object_set_new(ret, "message_ids", ids);
	}
	if (u.kind == UPDATE_MESSAGE || u.kind == UPDATE_EDIT || u.kind == UPDATE_CALLBACK) {
		json_object_set_new(ret, "should_pair", json_boolean(u.pairs));
		json_object_set_new(ret, "should_deny", json_boolean(u.denied));
	}
	if (u.kind == UPDATE_MESSAGE)
		json_object_set_new(ret, "should_notify_paired", json_boolean(u.greets));
	return ret;
}

/* -- commands ------------------------------------------------------------------------------------
 */

/* Without a text: the lists of names. */
static json_t *command_lists(void)
{
	json_t *menu = json_array(), *reserved = json_array();

	for (size_t i = 0; i < chat_command_menu_count; i++)
		json_array_append_new(menu, json_string(chat_command_menu[i]));
	for (size_t i = 0; i < chat_command_count; i++)
		if (!chat_commands[i].ours)
			json_array_append_new(reserved, json_string(chat_commands[i].name));
	return json_pack("{so so}", "commands", menu, "reserved", reserved);
}

static json_t *parse_command(struct arena *a, const json_t *input)
{
	struct chat_command c;

	if (!json_object_get(input, "text"))
		return command_lists();
	if (!chat_command_parse(a, case_member(a, input, "text"), &c))
		return json_pack("{sn ss}", "command", "action", "ignore");
	const struct chat_command_info *info = chat_command_find(c.name);
	return json_pack("{s{so so} ss}", "command", "name", json_from_str(c.name), "args",
		json_from_str(c.args), "action", info ? info->code : "ignore");
}

static const char *step_text(enum chat_step step)
{
	switch (step) {
	case CHAT_STEP_CLEAR:
		return NULL; /* the cases name it by the number that was cleared */
	case CHAT_STEP_HOLD:
		return "preserve=true";
	case CHAT_STEP_RELEASE:
		return "preserve=false";
	case CHAT_STEP_ABORT:
		return "abort";
	case CHAT_STEP_DISPATCH:
		return "dispatch";
	case CHAT_STEP_CONTINUE:
		return "continue";
	case CHAT_STEP_COMPACT:
		return "compact";
	}
	return "?";
}

static json_t *command_effects(struct arena *a, const json_t *input)
{
	const json_t *s = json_object_get(input, "state");
	struct chat_state state = { .running = json_truth_of(s, "running"),
		.foreign = json_truth_of(s, "foreign"),
		.compacting = json_truth_of(s, "compacting"),
		.queued = (size_t)json_number_of(s, "queued") };
	const struct chat_command_info *info = chat_command_find(json_text_of(input, "command"));
	struct chat_plan plan = chat_command_plan(info ? info->action : CHAT_NONE, &state);
	json_t *effects = json_array();

	for (size_t i = 0; i < plan.count; i++)
		if (step_text(plan.steps[i]))
			json_array_append_new(effects, json_string(step_text(plan.steps[i])));
	if (plan.reply != CHAT_SAYS_NOTHING) {
		bool counts = plan.reply == CHAT_SAYS_NO_TURN || plan.reply == CHAT_SAYS_ABORTED;
		struct str text = arena_printf(a, "reply:#%s", chat_reply_code(plan.reply));

		if (counts)
			text = arena_printf(a, "%.*s cleared=%zu", STR(text), plan.cleared);
		json_array_append_new(effects, json_from_str(text));
	}
	return json_pack("{so}", "effects", effects);
}

/* -- callback data -------------------------------------------------------------------------------
 */

static json_t *parse_menu(struct arena *a, const json_t *input)
{
	struct callback_words w;
	bool ours = callback_menu_words(case_member(a, input, "data"), &w);

	/* The cases have an older name for the main menu, and leave the way back to others. */
	if (ours && str_eq(w.kind, S("menu")))
		w.kind = S("status");
	if (!ours || (str_eq(w.kind, S("status")) && str_eq(w.action, S("back"))))
		return json_pack("{ss}", "kind", "ignore");
	json_t *ret = json_pack("{so}", "kind", json_from_str(w.kind));
	if (w.action.len)
		json_object_set_new(ret, "action", json_from_str(w.action));
	if (w.has_value)
		json_object_set_new(ret, w.action.len ? "value" : "level", json_from_str(w.value));
	return ret;
}

static json_t *parse_section(struct arena *a, const json_t *input)
{
	struct str token, action, payload;

	if (!callback_section_words(case_member(a, input, "data"), &token, &action, &payload))
		return json_null();
	return json_pack("{so so so}", "token", json_from_str(token), "action",
		json_from_str(action), "payload", json_from_str(payload));
}

static json_t *build_section(struct arena *a, const json_t *input)
{
	struct str data;
	bool ok = callback_section(a, case_member(a, input, "token"),
		case_member(a, input, "action"), case_member(a, input, "payload"), &data);

	if (!ok)
		return json_pack("{ss sI}", "error", "callback_data over 64 bytes", "bytes",
			(json_int_t)data.len);
	return json_pack("{so sI}", "data", json_from_str(data), "bytes", (json_int_t)data.len);
}

/* -- answers of the Bot API ----------------------------------------------------------------------
 */

/* Errors by which nothing was sent; all others may come after sending. */
static bool unsent(struct str error)
{
	static const char *const names[] = { "ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN",
		"EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_eq(str_of(names[i]), error))
			return true;
	return false;
}

static struct api_attempt attempt_of(const json_t *response)
{
	struct str error = json_text_of(response, "neterr");
	const json_t *body = json_object_get(response, "body");

	return (struct api_attempt){ .unsent = error.len && unsent(error),
		.lost = error.len && !unsent(error),
		.status = (int)json_number_of(response, "status"),
		.body = json_is_string(body) ? NULL : body,
		.retry_header = json_text_of(json_object_get(response, "headers"), "retry-after") };
}

static void set_failure(json_t *ret, const struct api_answer *answer)
{
	const char *word = api_class_word(answer->class);
	bool http = strcmp(word, "http") == 0;

	json_object_set_new(ret, "error_class", json_string(word));
	if (http)
		json_object_set_new(ret, "status", json_integer(answer->status));
	if (http || answer->description.len)
		json_object_set_new(ret, "description", case_str_or_null(answer->description));
}

static json_t *call_api(struct arena *a, const json_t *input)
{
	const json_t *responses = json_object_get(input, "responses");
	struct str method = json_text_of(input, "method");
	unsigned max = (unsigned)json_number_of(input, "max_attempts"), attempt = 0;
	uint64_t base = (uint64_t)json_number_of(input, "base_delay_ms"), wait;
	json_t *waits = json_array();
	struct api_answer answer;

	(void)a;
	for (;;) {
		struct api_attempt one = attempt_of(json_array_get(responses, attempt++));

		api_classify(method, &one, &answer);
		if (!api_retry(method, &answer, attempt, max, base, &wait))
			break;
		json_array_append_new(waits, json_integer((json_int_t)wait));
	}
	json_t *ret = json_pack("{si so}", "attempts", (int)attempt, "waits_ms", waits);
	if (answer.class == API_OK)
		json_object_set(ret, "result", (json_t *)answer.result);
	else
		set_failure(ret, &answer);
	return ret;
}

static const struct kind list[] = {
	{ "update-classification", classify, NULL },
	{ "commands", parse_command, NULL },
	{ "command-effects", command_effects, NULL },
	{ "callback-parse-menu", parse_menu, NULL },
	{ "callback-parse-section", parse_section, NULL },
	{ "callback-build-section", build_section, NULL },
	{ "api-retry", call_api, NULL },
};
const struct kinds kinds_of_updates = { list, ARRAY_SIZE(list) };
