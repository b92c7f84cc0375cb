#pragma once

#include "data/json.h"

struct bridge;
struct callback;

/* Recipes from the chat: /run asks for what is missing, one question after the other; /runs lists.
 */

void recipes_start(struct bridge *b);
void recipes_stop(struct bridge *b);
/* Starts what follow_keep() has kept: `about` with "values". */
void recipes_begin(struct bridge *b, const char *run, const json_t *about);

/* `NAME [name=value…]` as it was written. */
void recipes_run(struct bridge *b, int64_t chat, int64_t reply, struct str words);
/* A text that may be the answer to a question; false: none is open. */
bool recipes_answer(struct bridge *b, int64_t chat, struct str text);
/* The same from a button. False: the question is not open any more. */
bool recipes_choose(struct bridge *b, const json_t *action);

void recipes_list_runs(struct bridge *b, int64_t chat, int64_t reply);
void recipes_cancel(struct bridge *b, struct str query, const struct callback *c);
