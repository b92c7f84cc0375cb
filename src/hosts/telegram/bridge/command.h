#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "data/json.h"

struct bridge;
struct update;

/* Commands of the chat. Acts on the message if it is one, and *ret_ok says whether the ledger could
 * be written. False: it is an ordinary message. */
bool command_try(struct bridge *b, int64_t id, const struct update *u, bool *ret_ok);
/* The same for the messages of an album: a command in a caption counts. */
bool command_of_album(struct bridge *b, int64_t id, const json_t *messages, bool *ret_ok);
