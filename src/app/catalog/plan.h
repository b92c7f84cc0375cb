#pragma once

#include "app/catalog/plan-steps.h"

struct json_out;

/* The document of a plan: {"argv":[…],"leaves":[…]} with the first 100000 commands, and "truncated"
 * when there are more. Nothing is executed. */
void planned_json(const struct plan *p, const struct planned_host *host, struct json_out *o);
