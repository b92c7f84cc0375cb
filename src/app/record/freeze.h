#pragma once

#include "app/record/launch.h"

/* What a run directory keeps of its start (async-runs.md section 4): graph.json, values.json and
 * start.json. */
bool freeze_write(const struct launch *l, struct report *r);
bool freeze_read(struct launch *l, struct report *r);

/* The graph alone, for pictures: a new reference. NULL with issues added. */
struct graph *freeze_graph(const char *dir, struct report *r);

/* Replaces a file of the directory whole. */
bool freeze_file(struct str dir, const char *name, struct str text, bool durable, struct report *r);
/* Reads a JSON file of it: a new reference. NULL with an issue added, or without one when it is not
 * there and `optional`. */
json_t *freeze_json(struct str dir, const char *name, bool optional, struct report *r);
