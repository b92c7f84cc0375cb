#pragma once

#include "app/past/find.h"
#include "app/past/handle.h"

/* A run of another process, or one that has ended: its end comes through the loop, its events are
 * read from its directory. */

/* Takes the look. */
struct run_handle *elsewhere_open(struct app *a, struct run_look *look);
/* What is known about it now; NULL: it is in this process. Borrowed. */
const struct run_look *elsewhere_look(const struct run_handle *h);
/* The same of any run; one in this process is looked at now. It lives with the handle, until the
 * next call. NULL with a refusal: it is not recorded, or it is gone. */
struct run_look *handle_look(struct run_handle *h, struct report *r);
/* run_end() of a run that has left nothing elsewhere. */
bool elsewhere_end(struct run_handle *h, enum run_order what, int grace_ms, struct report *r);
/* Looks at it again, as find_again() does. */
bool elsewhere_look_again(struct run_handle *h, struct report *r);
