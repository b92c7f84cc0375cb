#pragma once

#include "base/buf.h"
#include "data/json.h"

/* The token of the bot is never shown: <redacted-token> stands for it. An empty token is none. */
void redact(struct buf *b, struct str text, struct str token);
/* Whether there is something to redact in a value. */
bool redact_needs(const json_t *value, struct str token);
/* A copy of a value with every text in it redacted, names of members included. A new reference. */
json_t *redact_json(const json_t *value, struct str token);
