#include "hosts/telegram/bridge/compact.h"

#include "hosts/telegram/bridge/agent.h"
#include "hosts/telegram/bridge/bridge.h"
#include "hosts/telegram/bridge/job.h"
#include "hosts/telegram/bridge/send.h"
#include "hosts/telegram/bridge/transcript.h"
#include "hosts/telegram/text/unicode.h"

enum { COMPACT_MS = 10 * 60 * 1000, SAID_UNITS = 1000 };

static void on_done(void *data, const struct job_result *result)
{
	struct bridge *b = data;

	if (!result)
		return;
	struct str said = str_trim(result->ok ? result->output : result->why);
	b->turns.compacting = false;
	live_type(b, false);
	if (!result->ok)
		ring_add(&b->store, "compact", said, NULL);
	send_line(b, b->user, 0, "%s%s%.*s", result->ok ? "Compacted." : "Compacting failed.",
		said.len ? "\n" : "", STR(unicode_cut(said, SAID_UNITS)));
	turns_dispatch(b);
}

static void begin(struct bridge *b, json_t *data)
{
	struct arena a = ARENA_INIT;
	json_t *template = conf_get(&b->config, "agent.compact");
	AUTO_JSON *values = json_object();
	AUTO_JSON *session = store_get(&b->store, "session");
	struct str model = agent_model(b, &a);

	if (session)
		json_object_set(values, "session", session);
	if (model.len)
		json_object_set_new(values, "model", json_from_str(model));
	send_line(b, json_number_of(data, "chat"), json_number_of(data, "reply"), "Compacting…");
	live_type(b, true);
	(void)job_start(b, &(struct job_request){ .name = "agent.compact",
				   .template = template,
				   .values = values,
				   .timeout_ms = COMPACT_MS,
				   .done = on_done,
				   .data = b });
	arena_done(&a);
}

/* An agent that keeps nothing itself: what the bridge keeps for it. */
static void shorten(struct bridge *b, int64_t chat, int64_t reply)
{
	size_t turns = transcript_on(b) ? transcript_shorten(b) : 0;

	if (turns)
		send_line(b, chat, reply,
			"Compacted: one line stands for the %zu turn%s of this chat so far.", turns,
			turns == 1 ? "" : "s");
	else
		send_line(b, chat, reply, "Nothing to compact: this agent keeps no history.");
}

void compact_start(struct bridge *b, int64_t chat, int64_t reply)
{
	json_t *template = conf_get(&b->config, "agent.compact");

	if (!template || json_is_null(template)) {
		shorten(b, chat, reply);
		return;
	}
	b->turns.compacting = true;
	route_after(b, begin,
		json_pack("{s:I,s:I}", "chat", (json_int_t)chat, "reply", (json_int_t)reply));
}
