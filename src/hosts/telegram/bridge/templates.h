#pragma once

#include "base/buf.h"
#include "data/json.h"

struct bridge;
struct chat_command;

/* Prompt templates: files whose text becomes a prompt, and tasks of the prompts configuration, by
 * commands of their names. */

/* A line for each, for the main menu. */
void templates_list(struct bridge *b, struct buf *html);
/* If the command names one: makes a turn of it. */
bool templates_try(struct bridge *b, int64_t update, const json_t *messages,
	const struct chat_command *c, bool *ret_ok);
