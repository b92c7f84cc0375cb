#pragma once

#include "data/mask.h"
#include "graph/walk.h"
#include "recipe/dirs.h"

/* What a step recipe would run. What depends on the output of a step is not known before: such
 * references stay as they are written, and whatever hangs on them is shown once. */

/* What the caller knows: working directory, agents, collections. Members may be NULL. */
struct planned_host {
	const char *cwd;           /* where the run would be */
	const json_t *agents;      /* --agent: name → command */
	const json_t *collections; /* name → directory */
	/* Of a run that is to be done again in part: whether the node at `path` is not executed
	 * again, and the variables of that run. */
	bool (*known)(void *data, struct str path);
	void *known_data;
	const json_t *context;
	const struct recipe_dirs *dirs; /* where recipes are that are called by name */
	struct mask *secrets;           /* gets those of recipes that are called */
	size_t visits;                  /* no more nodes of a recipe are looked at; 0: all are */
};

/* Every command in order, and notes without argv for what is none. The visitor's false ends it. */
void planned_steps_walk(
	const struct plan *p, const struct planned_host *host, walk_fn *visit, void *data);
/* The same for the step recipe that a node of a template imports. False: the visitor ended it. */
bool planned_import_walk(
	const struct walk_leaf *call, const struct planned_host *host, walk_fn *visit, void *data);
