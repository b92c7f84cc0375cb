#pragma once

#include "base/buf.h"

/* Addresses of resources, read. */

enum resource_kind {
	RESOURCE_NONE, /* well-formed, and there is no such thing */
	RESOURCE_RECIPES,
	RESOURCE_RECIPE,
	RESOURCE_RUNS,
	RESOURCE_DOCTOR,
	RESOURCE_RUN, /* of a run, as all that follow */
	RESOURCE_LOG,
	RESOURCE_EVENTS,
	RESOURCE_ARTIFACT,
};

struct resource_uri {
	enum resource_kind kind;
	struct buf id;   /* of the recipe or run */
	struct buf name; /* of an artifact */
	/* What the query says; those that are not given are empty. */
	struct buf stream, step, offset, limit, after;
};

/* False: it is malformed, or its query has what this kind does not have. The caller ends it in any
 * case. */
bool resource_uri_read(struct str uri, struct resource_uri *ret);
void resource_uri_done(struct resource_uri *u);
