#pragma once

#include "base/report.h"

/* What could be done next, in the words of this host: tools to call. */
void mcp_action(struct buf *b, const struct issue_action *a);
