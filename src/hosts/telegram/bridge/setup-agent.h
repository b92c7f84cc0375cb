#pragma once

#include "base/report.h"
#include "data/json.h"

struct bridge;

/* Who answers, chosen at setup. */

/* Puts agent.name or agent.template into the changes: `given` is the name of an agent of the
 * prompts configuration, or a command template. NULL: when none is configured yet, one is asked for
 * on a terminal, and elsewhere a line says how to set it. False with an issue: there is no such
 * program. */
bool setup_agent(struct bridge *b, const char *given, json_t *changes, struct report *r);
