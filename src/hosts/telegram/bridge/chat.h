#pragma once

#include "hosts/telegram/bridge/route.h"
#include "hosts/telegram/bridge/waiting.h"

struct bridge;
struct update;

/* What the paired person does: messages, commands, edits, reactions. Buttons are in press.h. */

void chat_start(struct bridge *b);
void chat_stop(struct bridge *b);

/* In a transaction of the router. */
enum routed chat_update(struct bridge *b, int64_t id, const struct update *u);

/* Makes a turn of messages: an array, borrowed, in order; with the text that is meant when it is
 * not theirs (of a prompt template). False: the ledger could not be written. */
bool chat_admit(struct bridge *b, int64_t update, const json_t *messages, const struct str *text);
/* The same with a task of the prompts configuration. */
bool chat_task(struct bridge *b, int64_t update, const json_t *messages, struct str task,
	struct str instructions);
/* A prompt that has no message of its own: of a button, a section, /continue. */
bool chat_prompt(struct bridge *b, int64_t update, int64_t chat, int64_t reply, struct str text,
	enum lane_move move);
/* The same with a prompt that gets no prefix: of a button that is not the bridge's. */
bool chat_raw_prompt(
	struct bridge *b, int64_t update, int64_t chat, int64_t reply, struct str text);
/* A turn that was interrupted, once more. */
bool chat_again(struct bridge *b, int64_t update, const json_t *turn);
/* The turn that is being ended continues, before everything else: the model was changed. */
bool chat_continuation(struct bridge *b);
