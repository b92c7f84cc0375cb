#pragma once

#include "data/json.h"

/* The documents of run directories that were read last, for a process that looks at the same runs
 * again and again: the result of a run of 10,000 commands takes longer to parse than its page takes
 * to make. A file that was replaced or written since is read again. */
struct look_kept;

struct look_kept *look_kept_new(void);
void look_kept_free(struct look_kept *k);

/* What tells a file from another and from what it was before. */
struct file_mark {
	uint64_t device, inode, size, modified_ns, changed_ns;
};
/* False: there is no such file, or it is not worth keeping. */
bool look_kept_mark(const char *dir, const char *name, struct file_mark *ret);
/* A new reference, which must not be changed; NULL: it is not kept. */
json_t *look_kept_find(struct look_kept *k, const struct file_mark *mark);
void look_kept_add(struct look_kept *k, const struct file_mark *mark, json_t *document);
