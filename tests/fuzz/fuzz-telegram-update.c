/* An update of the Bot API: whatever JSON it is, it is classified and what it names is read. */
#include "hosts/telegram/rules/group.h"
#include "hosts/telegram/rules/inbound.h"
#include "hosts/telegram/rules/lock.h"
#include "hosts/telegram/rules/media.h"
#include "hosts/telegram/rules/reaction.h"
#include "hosts/telegram/rules/retry.h"
#include "hosts/telegram/rules/update.h"
#include "hosts/telegram/text/prompt.h"
#include "hosts/telegram/text/redact.h"

#include "fuzz.h"

static void read_messages(struct arena *a, const json_t *message)
{
	AUTO_JSON *list = json_pack("[O]", message);
	struct media_files files;
	AUTO_BUF prompt = BUF_INIT;
	uint64_t ms;

	media_files(a, list, &files);
	for (size_t i = 0; i < files.count; i++) {
		struct str name = media_safe_name(a, files.at[i].name);

		HOLDS(name.len && name.len <= MEDIA_NAME_BYTES);
		HOLDS(str_find(name, '/', 0) == name.len);
	}
	(void)message_prompt_text(a, list);
	(void)message_command_text(a, list);
	(void)group_opens(message, &ms);
	(void)group_joins(message, message, &ms);
	turn_prompt_of(&prompt, message);
	HOLDS(turn_summary(a, message).len);
	(void)handler_takes_file(message, S("photo"), S("image/png"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_JSON *update = json_loadb((const char *)data, size, JSON_ALLOW_NUL, NULL);
	struct pairing paired = { .paired = true, .user = 7 }, open = { 0 },
		       code = { .code = S("c") };
	const struct pairing *all[] = { &paired, &open, &code };
	struct arena a = ARENA_INIT;
	struct api_answer answer;
	struct update u;

	if (!update)
		return 0;
	for (size_t i = 0; i < 3; i++) {
		update_classify(&a, update, all[i], &u);
		HOLDS(!u.pairs || (!all[i]->paired && !u.denied));
		HOLDS(!u.denied || all[i]->paired);
		if (u.kind == UPDATE_REACTION) {
			(void)reaction_read(u.body);
			(void)reaction_allowed(u.body, all[i]);
		}
		if (u.message)
			read_messages(&a, u.message);
	}
	if (json_is_object(update))
		read_messages(&a, update);
	(void)lock_entry_read(update);
	api_classify(S("sendMessage"),
		&(struct api_attempt){ .status = 429, .body = update, .retry_header = S("1") },
		&answer);
	AUTO_JSON *hidden = redact_json(update, S("7"));
	HOLDS(hidden);
	arena_done(&a);
	return 0;
}
