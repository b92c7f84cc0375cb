#pragma once

#include "data/json.h"

struct bridge;

/* Handlers of texts and files, as configured: templates that change what is written, or say what a
 * file contains. One that fails is recorded, and what it should have changed stays as it is. */

/* Not called when the bridge stops before the handlers have ended. */
typedef void handled_fn(void *data, struct str text);

/* What the agent has written, through the outbound handlers of texts. `done` may be called before
 * this returns. */
void handlers_outbound_text(struct bridge *b, struct str text, handled_fn *done, void *data);
/* What the person has written, through the inbound ones. */
void handlers_inbound_text(struct bridge *b, struct str text, handled_fn *done, void *data);
/* Whether there are any of the latter. */
bool handlers_change_inbound(struct bridge *b);

/* What the first handler that succeeds says about a file; empty: none did. `file` is an object with
 * "path", "kind", "mime", "name". */
void handlers_inbound_file(struct bridge *b, const json_t *file, handled_fn *done, void *data);
