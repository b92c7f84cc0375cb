#pragma once

#include "data/json.h"

/* What became of the artifacts of a run: name → path, exists, size, sha256, kind, media_type,
 * required. */

/* `artifacts` is name → path, or → an object with `path` and what its recipe says about it;
 * `declared` may be NULL or such an object whose other members are taken over. Relative paths are
 * those of `cwd`. A new reference. */
json_t *manifest_make(const json_t *artifacts, const json_t *declared, struct str cwd);
/* Name → path of the same. A new reference; never NULL. */
json_t *manifest_paths(const json_t *artifacts);
/* The path of an artifact as it can be opened, added to `ret`. */
void manifest_resolve(struct str path, struct str cwd, struct buf *ret);
