#pragma once

#include "prompts/config.h"

/* Looks at all of a configuration and adds what is wrong or doubtful to `r`, each with its place.
 * Files are looked at, nothing is run. */
void prompts_doctor(struct config *c, struct report *r);
