#pragma once

#include "data/json.h"

struct bridge;
struct answer_plan;

/* From what an agent has written to what is sent: text with its marks taken out, by the outbound
 * handlers, in chunks; buttons, voices, files. */

/* Puts "steps" and "at" into the delivery and calls `done`, perhaps before it returns. One at a
 * time; until then it is the bridge's. */
void answer_plan(struct bridge *b, json_t *delivery, void (*done)(void *data), void *data);
/* The bridge stops before the handlers have ended. */
void answer_drop(struct answer_plan *p);
