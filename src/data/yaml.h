#pragma once

#include "base/arena.h"
#include "data/doc.h"

/* YAML 1.1 through libyaml, scalars resolved as the loader did that step recipes are written for:
 *
 * - plain data only: a tag other than !!str, !!int, !!float, !!bool, !!null, !!timestamp, !!seq and
 *   !!map is a mistake; timestamps stay text;
 * - `<<` merges; of duplicate keys the last counts, with a warning;
 * - a key is the text that stands there, also when it would read as a number or a boolean (`1:`,
 *   `on:`), because members of a json_t are texts and an author who writes `on` means that;
 * - .inf and .nan, which JSON cannot hold, become the texts inf, -inf and nan;
 * - an alias shares the value of its anchor: read, do not change, what comes from here. */

enum {
	YAML_BYTES_MAX = 1 << 20,
	YAML_NODES_MAX = 100000, /* with every alias counted as what it stands for */
	YAML_DEPTH_MAX = 500,
};

/* Reads one document; an empty one is null. NULL with every mistake in `r` that could be found;
 * warnings go there as well. The caller owns the result. */
json_t *yaml_read(const struct source *source, struct report *r);

/* Finds places in a YAML text that was read without mistakes. Walks the whole text for each. */
extern const struct locator yaml_locator;
/* The same with a memory: walks the text once, when the first place is asked for (by one thread at
 * a time). It belongs to one document and lives in the arena. */
const struct locator *yaml_locator_new(struct arena *a);
