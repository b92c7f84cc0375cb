#pragma once

#include "data/json.h"

/* Which handlers of `inboundHandlers` are for what. A handler says it by `type`, `mime` and
 * `match`, each a text or a list of texts in which * stands for anything; upper and lower case are
 * the same, and any one that fits suffices. */

/* A handler that says nothing is for every file. `mime` may be empty: it then fits nothing. */
bool handler_takes_file(const json_t *handler, struct str kind, struct str mime);
/* Only what says `text` by `type` or `match` is for plain text. */
bool handler_takes_text(const json_t *handler);
