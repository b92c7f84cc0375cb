#pragma once

#include "app/agents.h"
#include "hosts/cli/cli.h"

/* Launches the agent as a recorded run, named after `name` and the time. Returns the agent's exit
 * status, or 2 when nothing was started. */
int prompt_record(struct cli *cli, struct agents_launch *launch, struct str name, bool json);
