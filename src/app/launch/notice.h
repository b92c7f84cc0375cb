#pragma once

#include "base/report.h"

struct ledger;

/* Notes that the end of this run is to be told (runs.h: notices_each()). */
bool notice_begin(struct ledger *l, struct str run, struct report *r);
