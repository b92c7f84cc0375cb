#pragma once

#include "hosts/cli/cli.h"

/* What `roux resume RUN` does. */
int cli_resume(struct cli *cli, const char *run, const struct common_opts *o);
