#pragma once

#include "graph/step.h"
#include "steps/read/recipe.h"

/* The agents of a step recipe: those of --agent, then the registry (docs/prompts.md, "Begin"). */
struct step_agents;

/* `given` is name → command of --agent, or NULL; `cwd` is where the run works. */
struct step_agents *step_agents_new(const json_t *given, struct str cwd);
void step_agents_free(struct step_agents *agents);

/* The command of an agent step. */
enum step_made step_agent_make(struct step_agents *agents, const struct node *n,
	const struct scope *s, const struct step_call *call, const struct step_host *host,
	struct step_command *ret, struct arena *a, struct report *r);
/* The command that it would be for a prompt, as far as that can be known without running anything:
 * for `plan`. False: nothing can be said. */
bool step_agent_plan(struct step_agents *agents, const struct step *step, struct str prompt,
	struct step_command *ret, struct arena *a);
/* The table of agents.toml that would configure it: agents.NAME. */
void step_agent_table(struct str name, struct buf *b);
/* What the step asks for and its agent does not take, as warnings: a model, a role. */
void step_agent_check(struct step_agents *agents, const struct step *step, struct report *r);
/* Whether an agent of that name can be found: for `check`. */
bool step_agent_known(struct step_agents *agents, struct str name);
