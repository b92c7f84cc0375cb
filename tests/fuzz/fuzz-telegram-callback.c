/* The data of a button: what is read is built back to the same bytes. */
#include "hosts/telegram/rules/callback.h"
#include "hosts/telegram/rules/command.h"
#include "hosts/telegram/rules/press.h"

#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = fuzz_str(data, size), token, action, payload, built;
	struct press_facts facts = { .own = true, .menu = true, .item = true, .button = true };
	struct arena a = ARENA_INIT;
	struct callback_words words;
	struct chat_command command;
	struct callback c;

	callback_parse(text, &c);
	HOLDS((c.kind == CALLBACK_EMPTY) == !text.len);
	if (c.kind == CALLBACK_SECTION) {
		HOLDS(text.len <= CALLBACK_BYTES);
		HOLDS(callback_section(&a, c.token, c.name, c.text, &built));
		/* A colon at the end is all that may be lost. */
		HOLDS(str_starts(text, built) && text.len - built.len <= 1);
	} else if (c.kind == CALLBACK_BUTTON) {
		HOLDS(str_eq(callback_button(&a, c.id), text));
	} else if (c.kind == CALLBACK_GATE) {
		HOLDS(str_eq(callback_gate(&a, c.id, c.yes), text));
	} else if (c.action >= QUEUE_PICK && c.action <= QUEUE_CONFIRM_DELETE) {
		HOLDS(callback_item(&a, c.action, c.chat, c.message).len <= text.len);
	}
	(void)press_decide(&c, &facts);
	(void)callback_menu_words(text, &words);
	(void)callback_section_words(text, &token, &action, &payload);
	if (chat_command_parse(&a, text, &command))
		HOLDS(command.name.len && command.args.len <= text.len);
	arena_done(&a);
	return 0;
}
