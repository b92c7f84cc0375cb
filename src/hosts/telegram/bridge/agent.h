#pragma once

#include "app/runs.h"

struct agents_launch;
struct bridge;

/* Who answers prompts: the configured template, recipe or agent, started as a detached, recorded
 * run. */

/* The name to show: agent.name, the recipe, or the program of the template. Empty: no agent is
 * configured, and `why` (may be NULL) gets one line that says which key to set. */
struct str agent_name(struct bridge *b, struct arena *a, struct buf *why);

struct agent_job {
	const char *run; /* the id that the run gets */
	uint64_t item;   /* its turn */
	int64_t chat, message;
	struct str task; /* of the prompts configuration; empty: none. The prompt instructs it */
	struct str prompt;
	json_t *files; /* array of paths */
};

/* Where it works: an absolute path, in the arena. */
struct str agent_cwd(struct bridge *b, struct arena *a);
/* The models to choose from: agent.models, else those of the named agent, its default first. An
 * array of objects with "id", a new reference. */
json_t *agent_models(struct bridge *b);

/* A handle of b->app. *ret_launch holds files of an agent that was composed, until the run has
 * ended; it may become NULL. NULL with issues. */
struct run_handle *agent_start(struct bridge *b, const struct agent_job *job,
	struct agents_launch **ret_launch, struct report *r);

/* A template of the configuration (a text, an array or an object) as something to run. Values are
 * borrowed. `name` is what it is called in messages. NULL with issues. */
struct recipe_ref *agent_template(struct bridge *b, const char *name, const json_t *template,
	uint64_t timeout_ms, json_t *values, struct report *r);

/* What is chosen; empty: nothing is. In the arena. */
struct str agent_model(struct bridge *b, struct arena *a);
struct str agent_thinking(struct bridge *b, struct arena *a);
/* Whether the chosen model supports thinking levels. */
bool agent_thinks(struct bridge *b);
