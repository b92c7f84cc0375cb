#pragma once

#include "roux/roux.h"

/* Statuses of a run: names, whether they are good, and the exit status of a command that ends so.
 */
const char *status_name(enum roux_status s);
bool status_ok(enum roux_status s);
int status_exit(enum roux_status s);
