#pragma once

#include "runs/look/look.h"

/* Makes the ledger anew from the run directories, with the queues, the host state and the counts of
 * launches of the old one as far as they can be read. That one is kept as ledger.db.old. */
struct rebuilt {
	size_t runs, skipped; /* skipped: directories that are not runs, or cannot be understood */
};
bool ledger_rebuild(struct str root, struct rebuilt *ret, struct report *r);
/* Deletes what a rebuild that was killed has left. */
void rebuild_clean(struct str root);
