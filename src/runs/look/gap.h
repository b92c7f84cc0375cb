#pragma once

#include "runs/ledger/ledger.h"

/* Whether there are run directories that the ledger lacks, found without reading them all: it was
 * made anew while there were some (ledger_has_gap()), or it does not know the run that `latest`
 * names, because an older copy was put in its place. The second is written down, so that it is not
 * forgotten when `latest` moves on. A run that began before the ledger knew of it (run-dir.h) is
 * not lacking: it gets its row here. A start that was killed before it had executed anything is
 * taken back. */
bool look_gap(struct str root, struct ledger *l);
/* The same, and whether directories have been put there by hand: their number, which the file
 * system knows, is compared with what the ledger has, and only when that is not as it was before
 * the directories are gone through. Waits for another process that writes only for a moment. */
bool look_gap_counted(struct str root, struct ledger *l);
/* An id was entered whose directory was there before, as that of a run that was archived: the
 * numbers would hide one run that the ledger lacks, so the next count goes through them all. */
void look_gap_unsure(struct ledger *l);
/* Whether there is no ledger although there are runs. */
bool look_lost(struct str root);
