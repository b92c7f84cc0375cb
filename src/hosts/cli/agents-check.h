#pragma once

#include "hosts/cli/cli.h"

/* `roux agents --check NAME`: launches it in both forms with a harmless prompt and prints what
 * came. Returns 0 when both answered, 1 when one did not, 2 when there is no such agent. */
int agents_check(struct cli *cli, struct str cwd, const char *typed, uint64_t limit_s, bool json);
