#pragma once

#include "base/report.h"

/* What could be done next, in the words of this host: tools to call, or what a person can
 * do. */
extern const action_words mcp_words;
