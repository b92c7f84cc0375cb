#pragma once

#include "app/runs.h"

/* Files that a run has declared to make, by the names that its recipe gives them. */

/* Borrowed during the call. */
struct artifact {
	struct str name, path; /* the path as declared, its values put in */
	bool exists;
	json_t *facts; /* the entry of the manifest: size, sum, required … */
};

typedef bool artifact_fn(void *data, const struct artifact *a);
/* False: enough. */
void artifacts_each(struct run_handle *h, artifact_fn *see, void *data);

/* A descriptor of the regular file behind a declared name, for reading. -1 with an issue. */
int artifact_open(struct run_handle *h, struct str name, struct report *r);
