#pragma once

#include "hosts/cli/cli.h"

/* What `roux resume RUN` does. `taken` answers when another process continues the run already. */
int cli_resume(struct cli *cli, const char *run, const struct common_opts *o,
	int (*taken)(void *data, bool json), void *data);

/* Whether what a rerun is to do was said once at most; else with an issue. */
bool rerun_choice(struct cli *cli, const char *from, bool failed, bool all);
