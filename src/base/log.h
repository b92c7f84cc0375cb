#pragma once

#include "base/lang.h"

/* Notes for those who work on roux. Silent unless ROUX_DEBUG lists the subject: leaf,loop. */
void log_debug(const char *subject, const char *fmt, ...) PRINTF(2, 3);
