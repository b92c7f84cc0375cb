#pragma once

#include "base/report.h"
#include "data/json.h"

/* Asks the server that runs, over its socket: one request, one document. */

/* A socket of systemd's may stand at the usual port: a connection there starts the server. Returns
 * when it has answered, or at once when there is no such thing. */
void ask_awake(void);

/* `method` and `target`: "POST", "/api/v1/server/link". NULL with an issue: no server answers, or
 * it refuses. *ret_none (may be NULL) says that there is none. */
json_t *ask_server(struct str socket, const char *method, const char *target, bool *ret_none,
	struct report *r);
