#pragma once

#include "data/json.h"

struct bridge;

/* Runs that the chat waits for beside the turn: recipes that were started with /run, and turns that
 * were left at a gate. What they come to is delivered, also after a restart. */

void follows_start(struct bridge *b);
void follows_stop(struct bridge *b);

/* Follows a run from now on. `about` is as a turn (waiting.h), and may have "progress": a message
 * that says how far it is; and "name". Borrowed. */
void follow_run(struct bridge *b, const char *run, const json_t *about);
/* A run that is about to be started: `about` has "values", what it is given. A restart that does
 * not find the run starts it (recipes.h). */
void follow_keep(struct bridge *b, const char *run, const json_t *about);
void follow_forget(struct bridge *b, const char *run);
/* It was continued. */
void follow_again(struct bridge *b, struct str run);
/* Offers the gates of those that wait at one. */
void follows_offer(struct bridge *b);
/* Once a second: those that were continued by another process. */
void follows_look(struct bridge *b);
