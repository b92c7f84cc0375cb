#pragma once

#include "prompts/names.h"
#include "prompts/placeholders.h"

/* What is to be launched. Texts are bytes and are never read as options, names or paths
 * unless this says so. */
enum prompt_mode { MODE_START, MODE_PROMPT, MODE_TASK };

struct prompt_request {
	enum prompt_mode mode;
	struct str task;               /* MODE_TASK: a name, an alias or a path, as typed */
	struct str instructions;       /* MODE_TASK: empty means None */
	struct str text;               /* MODE_PROMPT */
	struct str agent, role, model; /* as typed; empty: not given */
	bool no_role;
	const struct str *contexts; /* terms, each perhaps a list with commas */
	size_t context_count;
	/* A step of a recipe, which means the same for every user: neither contexts nor a role
	 * unless they are named, and its agent's name is exact (names_step_agent()). */
	bool bare;
	bool batch;        /* the agent's streams are not a terminal's: its `batch` counts */
	struct str stands; /* paths in the request are taken from here; absolute */
};

/* A role, a context or a task: texts and where they come from. */
struct section {
	enum text_kind kind;                     /* IN_ROLE, IN_CONTEXT, IN_TASK */
	const struct config_entry *entry;        /* NULL: a path of the request */
	struct str name;                         /* or the path as typed */
	struct str file, command, prompt, shell; /* empty: not there; `file` of a path: absolute */
	double timeout;                          /* seconds; 0: not there */
};

struct selection {
	const struct config_entry *agent;
	struct agent_line line; /* how it is started */
	struct str model;       /* the identifier; empty: none */
	struct str asked_model; /* as the request or the task names it; empty: neither does */
	bool has_role, has_task;
	struct section role, task;
	VEC(struct section) contexts; /* in the order of the prompt */
	struct buf notes; /* names that were shortened and what they were taken for, a line each */
};

/* Chooses by the rules of docs/prompts.md, "From a task to an agent". What is chosen is valid as
 * far as that can be known without reading files. False with issues added; warnings are about terms
 * that mean nothing. To be ended in any case. */
bool select_all(struct config *c, const struct prompt_request *q, struct selection *ret,
	struct report *r, struct report *warnings);
void selection_done(struct selection *s);

/* Whether an agent has what it needs: bin, command. Its lines are looked at alone
 * (agent_line_check()). */
bool select_check_agent(struct config *c, const struct config_entry *agent, struct report *r);

/* The section of an entry. */
struct section section_of(const struct config_entry *e);
