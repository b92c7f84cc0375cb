#pragma once

#include "hosts/cli/cli.h"
#include "hosts/cli/follow.h"
#include "hosts/cli/secret-opts.h"

/* Options of every command that starts or continues a recorded run. */
struct launch_opts {
	const char *as;
	struct secret_opts secrets;
	bool detach, durable, unique, notify;
	const char *on;
	struct opt_list agents, collections;
	uint64_t max_parallel; /* 0: as the settings say */
};
extern const struct opt name_opts[3];
extern const struct opt launch_opts[2];
extern const struct opt on_opts[1];
extern const struct opt agent_opts[2];
extern const struct opt step_opts[1];

/* NAME=VALUE words of an option, put into an object that is made when there is one. False with an
 * issue added. */
bool launch_pairs(
	struct cli *cli, const char *option, const struct opt_list *words, json_t **object);
/* The collections of the settings and of the options, which win: NULL when there are none. False
 * with issues added. */
bool launch_collections(struct cli *cli, const struct launch_opts *o, json_t **ret);

/* What the options ask for, with the values of --secret and --secret-env put into `values`. False
 * with issues added. launch_request_done() in any case. */
bool launch_request(struct cli *cli, const struct launch_opts *o, const struct run_opts *run,
	json_t *values, struct request *ret);
void launch_request_done(struct request *q);
