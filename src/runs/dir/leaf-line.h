#pragma once

#include "data/json.h"
#include "runs/dir/leaves.h"

/* One line of leaves.jsonl, with its end, for leaves.c. False: damaged, or of an unknown kind.
 *
 * A run reads every line once more when it ends, and a page of the dashboard reads them all: as
 * JSON that was half of what a recorded command cost. What roux writes is read directly; whatever
 * looks different is left to the reader of JSON, so that both always agree. */

/* Texts are borrowed from `text` and, where that is not possible, from *keep, which the caller
 * releases. */
bool leaf_line_read(struct str text, struct leaf_line *ret, json_t **keep);

/* The two ways, for tests. */
bool leaf_line_read_plain(struct str text, struct leaf_line *ret);
bool leaf_line_read_json(struct str text, struct leaf_line *ret, json_t **keep);
