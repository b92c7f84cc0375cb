#pragma once

#include <jansson.h>

#include "base/buf.h"
#include "base/sha256.h"

/* How often a recipe was started, kept in the member `usage` of its own file. Evidence for cleaning
 * up: never worth failing a launch for. */

/* Counts one launch of the user's JSON recipe at `path`; `kind` is "direct", "tool" or "spawn".
 * Only the bytes of `usage` change. Takes its turn with all who count in that directory, and gives
 * up after a few seconds. -errno is for the log only, and then the file is as it was:
 * -EBADMSG when it is not a recipe, -EACCES also when its author made it read-only, -EFBIG when it
 * would grow past what can be loaded. */
int usage_count(const char *path, const char *kind);

/* What tells one version of a recipe from the next: the sum of its canonical JSON without `usage`.
 * `recipe` is an object. */
void usage_fingerprint(const json_t *recipe, char hex[SHA256_HEX]);

/* Whether two texts of a recipe are the same version of it: of JSON how it is laid out does not
 * count, and neither does `usage`, wherever it stands. */
bool usage_same_version(struct str a, struct str b);

/* Adds the text of a recipe with an empty `usage`, to be compared with another one: what remains is
 * its author's. */
void usage_forget(struct str text, struct buf *b);
