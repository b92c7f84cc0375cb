#pragma once

#include "base/report.h"

/* Opens a file that is to be sent, once: what is looked at is what is sent. Links are followed;
 * what they lead to is a regular file that this user can read, of at most `max` bytes and not
 * empty. A descriptor, or -1 with an issue. */
int attachment_open(const char *path, uint64_t max, struct report *r);
