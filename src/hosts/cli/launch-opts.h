#pragma once

#include "app/launch.h"
#include "hosts/cli/cli.h"
#include "hosts/cli/follow.h"
#include "hosts/cli/secret-opts.h"

/* Options of every command that starts or takes up a recorded run. */
struct launch_opts {
	const char *as;
	struct secret_opts secrets;
	bool detach, durable;
	struct opt_list agents, collections;
	uint64_t max_parallel; /* 0: as the settings say */
	bool stream;
};
/* The collections of the settings and of the options, which win: NULL when there are none. False
 * with issues added. */
struct launch_opts;
bool launch_collections(struct cli *cli, const struct launch_opts *o, json_t **ret);
/* Gives a new launch what the settings say. */
bool launch_settings(struct cli *cli, struct launch *l);
extern const struct opt name_opts[1];
extern const struct opt launch_opts[2];
extern const struct opt agent_opts[2];
extern const struct opt step_opts[2];

/* NAME=VALUE words of an option, put into an object that is made when there is one. False with an
 * issue added. */
bool launch_pairs(
	struct cli *cli, const char *option, const struct opt_list *words, json_t **object);

/* Puts them into the launch. False with issues added. */
/* The values of --secret and --secret-env: before the recipe is read, which has to know them. */
bool launch_secrets(struct cli *cli, const struct launch_opts *o, struct launch *l);
bool launch_options(
	struct cli *cli, const struct launch_opts *o, const struct run_opts *run, struct launch *l);

/* What a new run takes over from an ended one. */
struct launch_from {
	struct str dir;  /* of the other run */
	struct str node; /* from where on everything is run again; empty: from the beginning */
};

/* Claims the id, freezes the launch, and runs it here or hands it to a supervisor; answers. Returns
 * the exit status. `from` is NULL for a run of its own. */
int launch_start(struct cli *cli, struct launch *l, const struct run_opts *o, bool json,
	bool stdin_used, const struct launch_from *from);
/* The same for one command that is given the terminal. */
int launch_on_terminal(struct cli *cli, struct launch *l, const struct run_opts *o);
/* Goes on with a run whose lock is held, here or detached. */
int launch_resume(struct cli *cli, struct launch *l, const struct run_opts *o, bool json);
/* What `roux resume RUN` does. */
int cli_resume(struct cli *cli, const char *run, const struct common_opts *o);
/* Answers a start that was refused by the state of things. */
int launch_refuse(struct cli *cli, bool json, const char *reason);
