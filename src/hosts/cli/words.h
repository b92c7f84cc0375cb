#pragma once

#include "base/report.h"

/* The command line's words for what could be done next: commands to type. */
void cli_action(struct buf *b, const struct issue_action *a);
