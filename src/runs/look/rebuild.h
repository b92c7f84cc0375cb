#pragma once

#include "runs/look/look.h"

/* Makes the ledger anew from the run directories. The old one is kept as ledger.db.old. */
struct rebuilt {
	size_t runs, skipped; /* skipped: directories that are not runs, or cannot be understood */
};
bool ledger_rebuild(struct str root, struct rebuilt *ret, struct report *r);
