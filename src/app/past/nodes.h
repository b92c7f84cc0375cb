#pragma once

#include "app/past/handle.h"

/* NULL: no command of that path has been started. Lives with the handle. */
const struct past_name *past_name_find(struct run_handle *h, struct str path);
