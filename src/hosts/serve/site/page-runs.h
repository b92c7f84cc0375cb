#pragma once

#include "hosts/serve/site/site.h"

/* A table of runs. How many rows it has; 0: nothing was written. *ret_next (may be NULL) is the
 * cursor of the page that follows; 0: there is none. */
size_t runs_table(struct page *p, struct run_filter *f, uint64_t *ret_next);
