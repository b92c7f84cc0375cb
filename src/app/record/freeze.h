#pragma once

#include "app/record/launch.h"
#include "data/mask.h"

/* What a run directory keeps of its start: graph.json, values.json and start.json. */
bool freeze_write(struct launch *l, struct report *r);
bool freeze_read(struct launch *l, struct report *r);
/* values.json alone again, with the secrets that have turned up since. */
bool freeze_values(const struct launch *l, struct report *r);

/* What graph.json of a run of that subject is: `recipe`, `graph` and `dirs` are looked at. */
void freeze_graph_text(const struct subject *s, struct buf *b);
json_t *freeze_graph_json(const struct subject *s);
/* The graph alone, for pictures: a new reference. NULL with issues added. */
struct graph *freeze_graph(const char *dir, struct report *r);

/* What a reader of its records needs beside them. The paths of its artifacts as they can be opened,
 * for those that run.json shows: name → path, a new reference. NULL: some have a secret in them
 * that cannot be had; *ret_why, unless that is NULL, says why. */
json_t *freeze_artifacts(struct str dir, const json_t *shown, const char **ret_why);
/* The texts that nothing about the run may show; NULL: it has no secrets. The caller ends it with
 * mask_free(). *ret_known: false when some are written down nowhere (--secret-env) and are not in
 * the environment of this process either, or a file that may have some cannot be read. */
struct mask *freeze_mask(struct str dir, bool *ret_known);

/* Replaces a file of the directory whole. */
bool freeze_file(struct str dir, const char *name, struct str text, bool durable, struct report *r);
/* The same for several of a run that begins, in their order. */
struct freeze_text {
	const char *name;
	struct str text;
	/* It comes before run.json, without which nothing reads it: a new file need not be written
	 * under another name first. */
	bool first;
};
bool freeze_files(
	const struct launch *l, const struct freeze_text *files, size_t count, struct report *r);
/* Reads a JSON file of it: a new reference. NULL with an issue added, or without one when it is not
 * there and `optional`. */
json_t *freeze_json(struct str dir, const char *name, bool optional, struct report *r);
