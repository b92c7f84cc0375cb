#pragma once

#include "app/runs.h"

struct mask;

/* Files that a run has made, for clients. */

/* roux://runs/ID/artifacts/NAME */
void artifact_uri(struct buf *b, struct str run, struct str name);
/* The type of a file by its name; application/octet-stream when that says nothing. */
void artifact_type(struct str path, struct buf *b);
/* The same of a declared artifact whose content is known; *ret_blob: it is not text. */
void artifact_type_of(struct run_handle *h, struct str name, struct str content, struct buf *type,
	bool *ret_blob);
/* Adds a block to `content` for each of `facts`: pictures and sounds themselves when they are
 * small and without the secrets of `mask`, links to all others. */
void artifacts_content(
	struct run_handle *h, struct mask *mask, const json_t *facts, json_t *content);
