#pragma once

#include "cmdline/command.h"

/* The table of the command, for main(). */
extern const struct command cmd_mcp;
