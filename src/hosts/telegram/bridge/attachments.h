#pragma once

#include "base/report.h"
#include "hosts/telegram/rules/attach.h"

/* Opens a file that is to be sent, once: what is looked at is what is sent. Links are followed;
 * what they lead to is a file that attach_file() accepts. A descriptor, or -1 with an issue. */
int attachment_open(const char *path, uint64_t max, struct report *r);

/* The same before it is decided: *ret_size is -1 for what is not a regular file. */
int attachment_look(const char *path, int64_t *ret_size, struct report *r);
/* False with the issue of a refusal that is about a file; true for all others. */
bool attachment_refused(enum attach_refusal refusal, const char *path, int64_t size, uint64_t max,
	struct report *r);
