#pragma once

#include "app/past/find.h"

/* One run: everything that product.md lists. A new reference. */
json_t *status_document(const struct run_look *look);
