#pragma once

#include "app/past/find.h"
#include "app/past/handle.h"

/* A run of another process, or one that has ended: its end comes through the loop, its events are
 * read from its directory. */

/* Takes the look. */
struct run_handle *elsewhere_open(struct app *a, struct run_look *look);
/* What is known about it now. Borrowed. */
const struct run_look *elsewhere_look(const struct run_handle *h);
