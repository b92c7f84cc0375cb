#pragma once

#include "app/app.h"
#include "data/json.h"

struct json_out;

/* Who answers a prompt: the configured agents, roles, contexts and tasks; and a prompt for one
 * agent that was composed of them. */

/* -- what is configured --------------------------------------------------------------------------
 */

enum agents_kind { AGENTS_AGENT, AGENTS_ROLE, AGENTS_CONTEXT, AGENTS_TASK };
/* "agent", "role", "context", "task". */
const char *agents_kind_name(enum agents_kind kind);

/* Borrowed until the visitor returns. */
struct agents_entry {
	enum agents_kind kind;
	struct str name, alias, description; /* the last two may be empty */
	struct str file;                     /* where it stands */
	const json_t *fields;                /* all of it, an object unless it is a mistake */
	bool local;                          /* of the working directory, not of the user */
	bool required;                       /* of a context */
};

/* False ends it. */
typedef bool agents_fn(void *data, const struct agents_entry *entry);

/* Those of one kind. The order counts: the first agent is the default; tasks come by name. `cwd` is
 * an absolute path, whose .start is read too. False with issues added, also when nothing at all is
 * configured. */
bool agents_each(
	enum agents_kind kind, struct str cwd, agents_fn *fn, void *data, struct report *r);
/* The one that a person means by `typed`: a name, an alias, a beginning or a part of a name.
 * `notes` gets a line when it was shortened. False with issues added. */
bool agents_find(enum agents_kind kind, struct str cwd, struct str typed, struct buf *notes,
	agents_fn *fn, void *data, struct report *r);
/* {"name","scope","file","fields"}. */
void agents_entry_write(const struct agents_entry *entry, struct json_out *o);

/* -- a prompt ------------------------------------------------------------------------------------
 */

enum agents_mode { AGENTS_START, AGENTS_PROMPT, AGENTS_LAUNCH_TASK };

/* Texts that are empty are not given. */
struct agents_request {
	enum agents_mode mode;
	struct str text;               /* AGENTS_PROMPT */
	struct str task, instructions; /* AGENTS_LAUNCH_TASK */
	struct str agent, role, model; /* as typed */
	bool no_role;
	bool bare; /* neither a role nor contexts unless they are named; the agent's name is exact
		    */
	const struct str *contexts; /* as typed, each perhaps a list with commas */
	size_t context_count;
	struct str cwd;    /* where the agent works; absolute. Its .start is read */
	struct str stands; /* paths in the request are taken from here; absolute */
	bool dry;          /* nothing will be started: no temporary files */
	bool strict;       /* a model or a role that does not reach the agent is a mistake */
	bool captured;     /* the streams of the agent are the engine's, not this process's */
};

/* What a host without an agent of its own shows or sends: an array of {"role":"user","text"}, a new
 * reference. NULL with issues added. Section commands are run only with `commands`. */
json_t *agents_render(const struct agents_request *q, bool commands, struct report *r);

/* An agent ready to be started, and what led to it. */
struct agents_launch;

/* Runs section commands and, unless it is dry, makes temporary files. *ret is set in any case, so
 * that its warnings can be told. False with issues added. */
bool agents_prepare(const struct agents_request *q, struct agents_launch **ret, struct report *r);
/* When the agent has ended: deletes its files. */
void agents_launch_free(struct agents_launch *l);

/* The document of a dry run. */
void agents_launch_write(const struct agents_launch *l, struct json_out *o);
/* Borrowed, for the host to word. */
struct report *agents_launch_warnings(struct agents_launch *l);
/* The signal that interrupted the preparation; 0: none. */
int agents_launch_signal(const struct agents_launch *l);

enum agents_context_state { AGENTS_CONTEXT_USED, AGENTS_CONTEXT_EMPTY, AGENTS_CONTEXT_LEFT_OUT };

struct agents_context {
	struct str name;
	enum agents_context_state state;
};

/* What was chosen and made of it. Borrowed from the launch. */
struct agents_choice {
	struct str agent, model; /* no model: empty */
	bool has_role, has_task;
	struct str role, task;
	struct agents_context *contexts;
	size_t context_count;
	struct str role_text, prompt;
	struct str cwd, program;
	struct str command;   /* can be pasted into a shell */
	bool shell;           /* a shell reads the command; else it is started directly */
	struct str notes;     /* names that were shortened, a line each */
	struct str log_level; /* of the settings; empty: none */
};

/* Only of one that was prepared. */
struct agents_choice agents_launch_choice(struct agents_launch *l);

/* Whether this process may become the agent: nothing has to be done after it. */
bool agents_launch_may_replace(const struct agents_launch *l);
/* Becomes the agent. Returns only when that fails: -errno. */
int agents_launch_replace(const struct agents_launch *l);
/* Starts it on this process's streams and waits. Its exit status, 128+n when a signal ended it, or
 * -errno when it could not be started. */
int agents_launch_wait(const struct agents_launch *l);

/* -- trying an agent -----------------------------------------------------------------------------
 */

/* What came of a launch with a harmless prompt. */
struct agents_trial {
	bool terminal;     /* on a pseudo-terminal; else with pipes */
	bool answered;     /* the word that the prompt asks for came, and it did not fail */
	bool timed_out;    /* it was ended when its time was over */
	bool failed;       /* could not be tried at all: why is in `error` */
	int error;         /* errno of that */
	int status;        /* its exit status, 128+n after signal n; of one that was ended: -1 */
	uint64_t ms;       /* until it answered or ended */
	struct buf output; /* the last of what it printed, fit for a terminal; to be ended */
};

/* What an agent that is tried is asked. */
struct str agents_trial_prompt(void);
/* Launches the agent of that exact name as `roux prompt` would, in a process of its own, on a
 * pseudo-terminal or with pipes, and ends it and what it started when it has answered or after
 * `limit_ms`. `cwd` is absolute. Must be called by a process without threads. */
void agents_try(struct str name, struct str cwd, bool terminal, uint64_t limit_ms,
	struct agents_trial *ret);

/* What a recorded run of it needs: the command, what its environment gets beside ours, where it
 * works, and the prompt when that is its standard input. Borrowed from the launch. */
struct agents_command {
	const char *const *argv;
	size_t argc;
	const char *const *env;
	size_t envc;
	const char *cwd;
	bool gives_stdin;
	struct str prompt;
};
struct agents_command agents_launch_command(const struct agents_launch *l);
/* The command as something that runs_start() takes. NULL with issues. */
struct recipe_ref;
struct recipe_ref *agents_launch_ref(
	struct app *a, const struct agents_launch *l, struct report *r);
