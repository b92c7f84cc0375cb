#pragma once

#include "hosts/mcp/server.h"
#include "loop/notify.h"

/* The tools: recipes as a client sees them (docs/mcp.md, "Which recipes are tools"), and the
 * built-in ones. */

struct recipe_ref;
struct builtin;

enum tool_effects { EFFECTS_UNKNOWN, EFFECTS_READ, EFFECTS_WRITE, EFFECTS_DESTRUCTIVE };

#define BUDGET_UNSET UINT64_MAX

/* One of them, as it was when it was listed. Calls of it hold a reference. */
struct tool {
	unsigned references;
	struct arena arena;
	struct str name, id;
	const struct builtin *builtin; /* NULL: a recipe */
	struct recipe_ref *ref;
	json_t *input;   /* the schema of its arguments */
	json_t *output;  /* of what it prints, as its author wrote it; NULL: not known */
	bool wrapped;    /* that is not an object: clients get {"result": …} */
	json_t *secrets; /* names of values that come from the environment */
	json_t *paths;   /* names of arguments that are paths */
	bool anywhere;   /* paths may leave the project */
	bool async, steps;
	size_t commands; /* 0: not known */
	enum tool_effects effects;
	uint64_t sync_ms, progress_ms; /* 0: never; BUDGET_UNSET: as the server has it */
	json_t *listed;                /* the element of tools/list */
};

struct tool *tool_ref(struct tool *t);
void tool_unref(struct tool *t);

struct problem {
	struct str id, text;
};

struct catalog {
	struct mcp *server;
	struct arena arena;           /* of the problems */
	VEC(struct tool *) tools;     /* by name */
	VEC(struct tool *) prompts;   /* recipes that are prompts: of fixtures */
	VEC(struct problem) problems; /* recipes that are not tools, and why */
	json_t *listed_prompts;       /* prompts/list, as it was when they were read */
	uint64_t generation;          /* counts changes */
	bool read;
	struct recipes_watch *watch;
	struct notify notify;    /* of the directories that the command line names */
	struct named_dir *named; /* NULL: they are not watched */
	struct timer again;      /* changes of one moment are one */
};

struct catalog *catalog_new(struct mcp *m);
void catalog_free(struct catalog *c);
/* Reads the recipes when that has not been done; from then on changes are noticed and told. */
void catalog_read(struct catalog *c);
/* Borrowed; NULL: there is none. */
struct tool *catalog_find(struct catalog *c, struct str name);
/* What prompts/list has: a new reference. */
json_t *prompts_all(const struct mcp *m);
/* The tool of the recipe with that id; the name of the tool is taken too. Borrowed; NULL: none. */
struct tool *catalog_recipe(struct catalog *c, struct str id);

/* A page of a list for method `x`: reads its cursor and answers. `each` is the list in its order;
 * takes it. `member` is the name in the result. */
void answer_page(struct exchange *x, const char *member, json_t *all, uint64_t generation);
