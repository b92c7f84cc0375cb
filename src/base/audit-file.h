#pragma once

#include <sys/types.h>

#include "base/buf.h"

/*
 * A file of lines that only grows, for as long as it is small: beyond AUDIT_ROTATE_BYTES it becomes
 * FILE.1, the one before FILE.2, and so on, AUDIT_KEPT files in all. Several processes may append
 * to it: each does so under a lock on the file, and notices when another has put a new one in its
 * place. It stands in `base` because the hosts keep audits of their own and neither knows the
 * other.
 */
enum { AUDIT_ROTATE_BYTES = 16 << 20, AUDIT_KEPT = 4 };

struct audit_file {
	struct str path; /* borrowed; empty: there is no file, and nothing can be written */
	int fd;          /* -1: not open */
};
#define AUDIT_FILE(name) ((struct audit_file){ .path = (name), .fd = -1 })

void audit_file_close(struct audit_file *f);

/* Where a line stands: in which file, and where in it. */
struct audit_place {
	ino_t file;
	uint64_t at;
	size_t size;
};

/* `text` ends with a line end. A line that a killed process has left half written is ended first.
 * -errno: nothing of it is in the file. */
int audit_file_append(struct audit_file *f, struct str text, struct audit_place *ret);
/* Another text of the same size instead. -ESTALE: a new file has been begun since. */
int audit_file_amend(struct audit_file *f, const struct audit_place *place, struct str text);

/* Calls `see` with each line of all files, the newest first, until it returns false. A line is
 * borrowed, and without its end. */
void audit_file_each(struct str path, bool (*see)(void *data, struct str line), void *data);
