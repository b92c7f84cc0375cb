#pragma once

#include "data/json.h"

struct bridge;

/* What a turn needs before it can start: its files fetched, what handlers say about them, its text
 * as the handlers leave it. One turn after the other, while others wait or run; the poller does not
 * wait for any of it. */

void prepare_start(struct bridge *b);
void prepare_stop(struct bridge *b);

/* Says in a new turn what has to be done for it. */
void prepare_new(struct bridge *b, json_t *turn, const json_t *messages);
/* The text of a waiting turn is another one now. */
void prepare_edited(struct bridge *b, json_t *turn);
/* It takes along another one, which may not be ready: what is still to do for that is its own now.
 */
void prepare_fold(struct bridge *b, json_t *turn, json_t *earlier);
/* What the agent is given. */
void prepare_prompt(struct buf *ret, const json_t *turn);
/* Works on the first waiting turn that is not ready; calls turns_dispatch() when it is. */
void prepare_run(struct bridge *b);
