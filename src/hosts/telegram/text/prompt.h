#pragma once

#include "base/arena.h"
#include "base/buf.h"
#include "data/json.h"

/* What an agent is given, made of what a person sent. */

enum {
	REPLY_UNITS = 1000, /* of the message that is replied to */
	SUMMARY_WORDS = 5,
	SUMMARY_UNITS = 40,
};

/* The texts or captions of messages (an array of the Bot API's), a blank line between them, then
 * what the first replies to:  do it\n\n[reply] the plan.  In the arena. */
struct str message_prompt_text(struct arena *a, const json_t *messages);
/* The first text alone: what may be a command. */
struct str message_command_text(struct arena *a, const json_t *messages);

/*
 * A turn is an object:
 *
 *   text      what was written
 *   raw       true: the prompt is the text as it is, as of a foreign callback
 *   files     paths
 *   outputs   what handlers said
 *   history   turns that it takes along, oldest first
 *
 * Its prompt:
 *
 *   [telegram] text
 *
 *   [attachments] /dir          full paths below a bare [attachments] when directories differ
 *   - /name
 *
 *   [outputs]
 *   - what a handler said
 *
 * With history the earlier texts stand between [telegram] and the text, numbered, and their files
 * and outputs are listed with its own.
 */
extern const char prompt_history_intro[], prompt_current_marker[];
void turn_prompt_of(struct buf *b, const json_t *turn);

/* A few words for lists; never empty. */
enum summary_kind { SUMMARY_TEXT, SUMMARY_FILE, SUMMARY_FILES, SUMMARY_EMPTY };
struct str turn_summary(struct arena *a, const json_t *turn);
enum summary_kind turn_summary_kind(const json_t *turn);
