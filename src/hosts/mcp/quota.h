#pragma once

#include "hosts/mcp/server.h"

/* What clients may use up: runs at once, those included that continue without their call, and room
 * on the disk for what runs leave behind. */

struct run_handle;

/* Whether one more run may start for this principal. `why` gets a sentence for the model if not. */
bool quota_allows(struct mcp *m, struct str principal, struct buf *why);
/* The run continues without its call, and counts until it has ended. */
void quota_keep(struct mcp *m, struct str principal, struct str run);
/* Forgets all; the runs continue. */
void quota_done(struct mcp *m);
