#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/runs.h"
#include "base/file.h"
#include "base/near.h"
#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/cli.h"
#include "hosts/telegram/bridge/status.h"

struct only_common {
	struct companion_common common;
};

static const struct opt_set common_set[] = { COMPANION_COMMON(struct only_common) };

/* -- status --------------------------------------------------------------------------------------
 */

static void print_agent(struct bridge *b)
{
	struct arena a = ARENA_INIT;
	AUTO_BUF why = BUF_INIT;
	struct str name = agent_name(b, &a, &why);

	if (name.len)
		companion_print("agent    %.*s", STR(name));
	else
		companion_print("agent    none; roux telegram setup --agent COMMAND");
	arena_done(&a);
}

static void print_status(struct bridge *b, const json_t *d)
{
	struct str state = json_text_of(d, "state");
	json_t *turn = json_object_get(d, "turn"), *queue = json_object_get(d, "queue"), *e;
	struct str name = json_text_of(json_object_get(d, "bot"), "username");
	size_t i;

	companion_print("state    %.*s%s", STR(state),
		str_eq(state, S("stopped"))    ? "; roux telegram connect starts it"
		: str_eq(state, S("refused"))  ? "; roux telegram setup takes another token"
		: str_eq(state, S("conflict")) ? "; another program polls with this token: end it, "
						 "or take a new token from @BotFather"
		: str_eq(state, S("elsewhere")) ? "; it was connected from another directory"
		: str_eq(state, S("lost"))
			? "; another process took over; roux telegram connect takes it back"
			: "");
	companion_print("bot      %s%.*s", name.len ? "@" : "none; roux telegram setup", STR(name));
	if (json_is_integer(json_object_get(d, "pid")))
		companion_print("process  %lld in %.*s", (long long)json_number_of(d, "pid"),
			STR(json_text_of(d, "cwd")));
	struct str code = conf_text(&b->config, "pairing.code");
	if (json_truth_of(d, "paired"))
		companion_print("paired   yes");
	else if (code.len)
		companion_print("paired   no; send the bot: /start %.*s", STR(code));
	else
		companion_print("paired   %s", b->token.len ? "no; write to the bot" : "no");
	print_agent(b);
	if (json_is_object(turn))
		companion_print("turn     run %.*s since %.*s", STR(json_text_of(turn, "run")),
			STR(json_text_of(turn, "since")));
	companion_print("queue    %lld control, %lld priority, %lld waiting%s",
		(long long)json_number_of(queue, "control"),
		(long long)json_number_of(queue, "priority"),
		(long long)json_number_of(queue, "default"),
		json_truth_of(d, "held") ? "; held by /abort, /next continues" : "");
	if (json_number_of(d, "undelivered"))
		companion_print(
			"not delivered yet: %lld", (long long)json_number_of(d, "undelivered"));
	if (b->places.clock != 1)
		companion_print("clock    %llu times as fast", (unsigned long long)b->places.clock);
	json_array_foreach(json_object_get(d, "recent"), i, e)
		companion_print("%.*s  %.*s: %.*s", STR(json_text_of(e, "time")),
			STR(json_text_of(e, "category")), STR(json_text_of(e, "message")));
}

static int status(const struct call *call)
{
	struct companion *c = call->host;
	const struct only_common *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;

	if (!companion_enter(c, &o->common) || !bridge_open(&b, tg_app(c), &note, &c->report)) {
		bridge_close(&b);
		return companion_refuse(c, o->common.json);
	}
	if (note.len)
		companion_say("%s", buf_cstr(&note));
	AUTO_JSON *d = bridge_status(&b);
	if (o->common.json)
		companion_print_json(d);
	else
		print_status(&b, d);
	bridge_close(&b);
	return 0;
}

const struct command tg_status = {
	.name = "telegram status",
	.summary = "show the bridge, the queue and recent failures",
	SETS(common_set, struct only_common),
	.run = status,
};

/* -- settings ------------------------------------------------------------------------------------
 */

static bool change(struct companion *c, const char *word, json_t *changes)
{
	struct str s = str_of(word);
	size_t equals = str_find(s, '=', 0);
	struct str key = str_sub(s, 0, equals);
	const struct setting *found = setting_find(key);
	struct near near = near_to(key);

	if (!found) {
		for (size_t i = 0; i < settings_count; i++)
			near_offer(&near, str_of(settings_table[i].key));
		report_error(&c->report, (struct where){ 0 }, "unknown setting '%.*s'", STR(key));
		if (near_best(&near).len)
			report_hint(&c->report, "did you mean '%.*s'?", STR(near_best(&near)));
		return false;
	}
	if (equals == s.len)
		return report_error(
			&c->report, (struct where){ 0 }, "write %s=VALUE to set it", found->key);
	json_t *value = setting_parse(found, str_from(s, equals + 1), &c->report);
	if (value)
		json_object_set_new(changes, found->key, value);
	return value != NULL;
}

static void print_settings(const struct config *config, bool json)
{
	AUTO_JSON *all = json_object();

	for (size_t i = 0; i < settings_count; i++) {
		json_t *value = setting_value(config, &settings_table[i]);
		AUTO_BUF text = BUF_INIT;

		if (json_is_string(value))
			buf_add(&text, json_str(value));
		else if (!json_is_null(value))
			json_write(&text, value, 0);
		if (!json)
			companion_print("%s=%s", settings_table[i].key, buf_cstr(&text));
		json_object_set_new(all, settings_table[i].key, value);
	}
	if (json) {
		AUTO_JSON *d = json_pack("{s:b,s:O}", "ok", 1, "settings", all);

		companion_print_json(d);
	}
}

static int settings(const struct call *call)
{
	struct companion *c = call->host;
	const struct only_common *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	AUTO_JSON *changes = json_object();
	bool ok = companion_enter(c, &o->common) && bridge_open(&b, tg_app(c), &note, &c->report);

	for (size_t i = 0; ok && i < call->count; i++)
		ok &= change(c, call->words[i], changes);
	ok = ok && (!call->count || conf_write(&b.config, changes, &note, &c->report));
	if (note.len)
		companion_say("%s", buf_cstr(&note));
	int exit_status = 0;
	if (!ok)
		exit_status = companion_refuse(c, o->common.json);
	else
		print_settings(&b.config, o->common.json);
	bridge_close(&b);
	return exit_status;
}

const struct command tg_settings = {
	.name = "telegram settings",
	.operands = "[key=value]...",
	.summary = "show or change settings",
	.details =
		"An empty value takes a setting back. A bridge that runs takes changes within two "
		"seconds.\n\n"
		"  proactivePush     true: results of other runs are sent to the chat\n"
		"  preview.mode      edit: an answer is shown while it is written; off\n"
		"  preview.interval  milliseconds between two edits of it\n"
		"  pairing.code      only /start CODE pairs\n"
		"  apiUrl            another Bot API server\n"
		"  queueLimit        how many prompts may wait; 0: no limit",
	.max_operands = OPERANDS_ANY,
	SETS(common_set, struct only_common),
	.run = settings,
};

/* -- unpair --------------------------------------------------------------------------------------
 */

static int unpair(const struct call *call)
{
	struct companion *c = call->host;
	const struct only_common *o = call->opts;
	struct bridge b = { 0 };
	AUTO_BUF note = BUF_INIT;
	AUTO_JSON *changes = json_pack("{s:n}", "allowedUserId");
	bool ok = companion_enter(c, &o->common) && bridge_open(&b, tg_app(c), &note, &c->report) &&
		  conf_write(&b.config, changes, &note, &c->report);

	if (ok && o->common.json)
		companion_print("{\"ok\":true,\"unpaired\":%s}", b.user ? "true" : "false");
	else if (ok)
		companion_print(
			b.user ? "unpaired from user %lld; the next person who writes is paired"
			       : "no person was paired",
			(long long)b.user);
	if (ok && !conf_text(&b.config, "pairing.code").len && !o->common.json)
		companion_say("no pairing code is set: roux telegram settings pairing.code=CODE");
	bridge_close(&b);
	return ok ? 0 : companion_refuse(c, o->common.json);
}

const struct command tg_unpair = {
	.name = "telegram unpair",
	.summary = "forget the paired person",
	SETS(common_set, struct only_common),
	.run = unpair,
};
