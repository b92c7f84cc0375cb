#pragma once

#include "app/runs.h"

/* Archiving and deleting ended runs. Each is false with an issue; *reason is then the few words of
 * a refusal, or NULL. */

/* *ret_path is where the run is now. */
bool retire_archive(struct runs *s, struct run_look *look, struct str *ret_path,
	const char **reason, struct report *r);
/* With `preserve` *ret_preserved is name → where the copy of the artifact is, a new reference. */
bool retire_prune(struct runs *s, struct run_look *look, bool preserve, json_t **ret_preserved,
	const char **reason, struct report *r);

/* What `[retention]` of the settings would delete, or, with `yes`, deletes: a document or text. */
bool retire_due(struct runs *s, bool yes, bool json, struct buf *b, struct report *r);
/* Deletes what is past those limits, silently: a run has ended. `ledger` may be NULL. */
void retire_after_run(struct str root, struct ledger *ledger);
