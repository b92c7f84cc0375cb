#pragma once

#include "hosts/cli/cli.h"

/* The words of --in-doubt. */
extern const char *const doubt_words[];
enum doubt { DOUBT_RERUN, DOUBT_STOP, DOUBT_UNSAID };
#define DOUBT_HELP                                                                         \
	"what becomes of commands that were running when the run was cut short, or whose " \
	"output or record is gone"

/* Answers for a run that could not be continued; `taken`: another process continues it already.
 * Returns an exit status, or -1 when the report tells why. */
typedef int resume_refused_fn(void *data, bool taken, bool json);
/* What `roux resume RUN` does. */
int cli_resume(struct cli *cli, const char *run, const struct common_opts *o, enum doubt in_doubt,
	resume_refused_fn *refused_fn, void *data);

/* Whether what a rerun is to do was said once at most; else with an issue. */
bool rerun_choice(struct cli *cli, const char *from, bool failed, bool all);
