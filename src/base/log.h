#pragma once

#include <stdbool.h>

#include "base/lang.h"

/* Notes for those who work on roux. Silent unless ROUX_DEBUG lists the subject: leaf,loop. */
void log_debug(const char *subject, const char *fmt, ...) PRINTF(2, 3);
bool log_wanted(const char *subject);
