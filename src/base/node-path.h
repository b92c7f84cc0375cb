#pragma once

#include "base/buf.h"

/* Paths of the nodes of a graph: "." is the root, then parts with dots between them: the number of
 * a child, `r` and the number of a copy or a round, or "recover". They name nodes in events, in
 * files of a run and on the command line. (The paths of files are in base/path.h.) */

/* Append the path of a part of `up`. */
void node_path_child(struct buf *b, struct str up, uint64_t index);
void node_path_copy(struct buf *b, struct str up, uint64_t index);
void node_path_recover(struct buf *b, struct str up);

/* Whether `path` is `top` or below it. */
bool node_path_within(struct str path, struct str top);
/* Which child, copy or round of `up` the path leads through, from 0; UINT64_MAX: its recovery.
 * False when it is not below `up`. */
bool node_path_index(struct str path, struct str up, uint64_t *ret);
/* The path without its last part, "." when it has only one; and that last part. Borrowed. */
struct str node_path_up(struct str path);
struct str node_path_last(struct str path);
/* Whether a part is that of a copy or a round; which, from 0. */
bool node_path_is_copy(struct str part, uint64_t *ret_index);
/* Which copy or round the last part is, from 1; 0: neither. */
uint64_t node_path_round(struct str path);
