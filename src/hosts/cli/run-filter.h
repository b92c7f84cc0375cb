#pragma once

#include "app/runs.h"
#include "hosts/cli/cli.h"

/* Options that say which runs a list has. */
struct filter_opts {
	const char *status, *recipe, *match, *since, *until, *before, *owner;
	uint64_t limit; /* 0: as many as a terminal shows, all elsewhere */
	bool failed, generations;
};
extern const struct opt filter_opts[10];

/* The filter that they ask for. False with issues added. */
bool filter_read(struct cli *cli, const struct filter_opts *o, struct run_filter *ret);

/* Names of statuses with commas between them. False with an issue added. */
bool filter_status(struct cli *cli, const char *option, struct str *ret);
/* "30d": how long ago, in milliseconds. False with an issue added. */
bool filter_age(struct cli *cli, const char *name, const char *option, uint64_t *ret_ms);
