#pragma once

#include "base/report.h"
#include "base/vec.h"

/* A first configuration of prompts. */

/* A program that answers prompts and how it is started. */
struct known_agent {
	const char *name, *bin, *description;
	const char *command;       /* on a terminal */
	const char *batch;         /* without one */
	const char *default_model; /* NULL: it needs none */
	const char *const *models; /* alias, identifier, …; ends with NULL; may be NULL */
	bool untried;              /* its program was never launched with these lines */
};

/* In order of preference; ends with a NULL name. */
extern const struct known_agent known_agents[];

/* Those that are in PATH, in order. */
struct found_agents {
	VEC(const struct known_agent *) list;
};
void init_find_agents(struct found_agents *ret);

/* Where the configuration of the user is, or with `local` that of the directory `cwd`. In the
 * arena. */
struct str init_directory(struct arena *a, struct str cwd, bool local);

/* What to write. */
struct init_plan {
	const char *dir; /* the configuration directory */
	const struct known_agent *const *agents;
	size_t agent_count;
	/* An agent of the user's own instead, started as `command`; NULL: none. */
	const char *own_name, *own_bin, *own_command, *own_batch;
	const struct known_agent *own_known; /* whose other fields it has; NULL: none */
	const char *default_agent;
	bool examples; /* a role, a context and a task to begin with */
};

/* What became of it. */
struct init_told {
	struct buf *text;   /* a line for each file is added: written, or left alone */
	bool kept_settings; /* there were some before */
};

/* Writes the files that are not there yet; never changes one. False with issues added, also when
 * what it would write does not work as a configuration. */
bool init_write(const struct init_plan *p, struct init_told *told, struct report *r);
