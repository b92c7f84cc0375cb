#pragma once

#include "graph/plan.h"

/* A plan as documents: what `roux plan` prints. Nothing is executed. */
void planned_json(const struct plan *p, const char *cwd, struct buf *b);
/* One line a command: its path and its display form. */
void planned_text(const struct plan *p, struct buf *b);
