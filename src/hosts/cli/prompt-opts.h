#pragma once

#include "hosts/cli/cli.h"

/* Options of the commands that launch an agent (docs/prompts.md, "From a task to an agent"). */
struct prompt_opts {
	const char *agent, *role, *model, *dir, *dir_too;
	struct opt_list contexts;
	bool no_role, dry_run, json, quiet, verbose, debug, record, strict;
};

/* Where a command works: the directory of -d or -C, else where the user stands; both absolute.
 * False with an issue added. */
bool prompt_directory(struct cli *cli, const char *dir, struct str *cwd, struct str *stands);
