#pragma once

#include "prompts/compile.h"
#include "prompts/resolve.h"
#include "prompts/temporary.h"

/* Composing a prompt and launching an agent, for every host: load, select, resolve, compile. */

enum prompts_io {
	PROMPTS_TERMINAL, /* the agent gets the three streams of this process */
	PROMPTS_CAPTURED, /* they are the engine's: standard input is empty or the prompt */
};

/* What a host asks for. */
struct prompts_ask {
	struct prompt_request request;
	struct str cwd; /* where the agent works; absolute */
	bool use_local; /* <cwd>/.start is read: it can run commands, so only when the user is there
			 */
	bool dry;       /* nothing is launched: no temporary files */
	enum prompts_io io;
	unsigned kinds;                  /* IN_AGENT, or with IN_STEP */
	struct str step, mode, provider; /* of a step: what those placeholders mean */
	struct str called;               /* how the step names its agent; empty: as it is called */
};

/* An agent ready to be started, and what led to it. */
struct prompts_launch {
	struct arena arena;
	struct config config;
	struct selection selection;
	struct resolved resolved;
	struct compiled compiled;
	const char *program; /* the file to execute */
	const char *cwd;
	struct buf date;
	bool gives_stdin; /* the prompt is its standard input */
	struct temporary role_file, prompt_file;
	struct report warnings;
	int signal; /* that interrupted the preparation; 0: none */
};

/* Fills `ret`, runs section commands and, unless it is dry, makes the temporary files. False with
 * issues added and no file left behind. To be ended in any case, when the agent has ended: that
 * deletes the files. */
bool prompts_prepare(const struct prompts_ask *ask, struct prompts_launch *ret, struct report *r);
void prompts_done(struct prompts_launch *l);

/* Whether this process may become the agent: nothing has to be done after it. */
bool prompts_may_replace(const struct prompts_launch *l);
/* Becomes the agent. Returns only when that fails: -errno. */
int prompts_replace(const struct prompts_launch *l);
/* Starts it on this process's streams and waits: terminal.h. Its exit status, 128+n when a signal
 * ended it, or -errno when it could not be started. */
int prompts_wait(const struct prompts_launch *l);

/* Loads the configuration as the commands that only look at it do: the global one and that of the
 * working directory. False with issues added, also when there is none at all. */
bool prompts_load(struct config *c, struct str cwd, bool use_local, struct report *r);
/* How many files a configuration has, and where the global ones are looked for. */
struct prompts_files {
	size_t global, local;
	struct str directory; /* lives in the arena */
	struct arena *arena;
};

/* Adds every finding about the configuration to `r`: for `check` and `doctor`. Without any
 * configuration there is nothing to find. With local files it can run commands of this
 * directory. */
void prompts_check(struct str cwd, struct report *r, struct prompts_files *ret);

/* The same for one of its files, `path` as the user called it; false: it is none, by its name. */
bool prompts_check_file(const char *path, struct str cwd, struct report *r);

/* -- telling -------------------------------------------------------------------------------------
 */

/* The document of a dry run, with a newline. */
void prompts_json(const struct prompts_launch *l, struct buf *b);
/* For people: who was chosen and what became of the contexts. */
void prompts_summary(const struct prompts_launch *l, bool verbose, struct buf *b);

/* What is configured, a line each or as a document; one of it in full. */
void prompts_list(const struct config *c, enum config_kind kind, bool json, struct buf *b);
void prompts_show(const struct config_entry *e, bool json, struct buf *b);

/* Runs a section command in the engine; `data` is a struct prompts_launch. */
section_run_fn prompts_run_section;
