#pragma once

#include "app/record/launch.h"

/* What values.json has: the values, and what start.json shows masked and a resume needs. It alone
 * has the text of secrets: it is kept there under names that no value has, with parentheses in
 * them. So are texts that turned out to be secret while the run was executed, for who shows its
 * records. What has the value of a --secret-env in it is kept as secret-pieces.h says. */

/* Adds to `kept` the values and what differs in `start`, which is start.json. */
void masked_keep(const struct launch *l, const json_t *start, json_t *kept);
/* Gives the launch what was kept back, and takes it out of `values`. Where a variable is not set,
 * MASKED stays in its place. */
void masked_restore(struct launch *l, json_t *values);
/* The same for the values alone, without what was kept back. Of the launch only the names of
 * variables are looked at. */
void masked_restore_values(const struct launch *l, json_t *values);
/* The same for the paths of artifacts alone; `kept` stays as it is. Of the launch only the names of
 * variables are looked at. False: one that a path needs is not set. */
bool masked_restore_artifacts(const struct launch *l, json_t *artifacts, const json_t *kept);

/* The member for the texts that are not UTF-8. */
#define MASKED_BYTES "(bytes) "
