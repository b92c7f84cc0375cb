#pragma once

#include "app/catalog/plan-steps.h"

/* A plan as documents: what `roux plan` prints. Nothing is executed. */
void planned_json(const struct plan *p, const struct planned_host *host, struct buf *b);
/* One line a command: its path and its display form. */
void planned_text(const struct plan *p, const struct planned_host *host, struct buf *b);
