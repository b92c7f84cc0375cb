#pragma once

#include "data/json.h"
#include "hosts/cli/cli.h"

/* Adds the pairs of a file to `env`, NAME=VALUE each: lines KEY=value, with `export ` before them
 * or not, the value in single or double quotes or as it is; # begins a comment at the start of a
 * line and behind a space. Nothing is expanded, no shell reads it. False with an issue added. */
bool env_file_read(struct cli *cli, const char *file, json_t *env);
