#pragma once

#include "app/agents.h"
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
	bool strict;    /* a model or a role that does not reach the agent is a mistake */
	enum prompts_io io;
	unsigned kinds;                  /* IN_AGENT, or with IN_STEP */
	struct str step, mode, provider; /* of a step: what those placeholders mean */
	struct str called;               /* how the step names its agent; empty: as it is called */
};

/* An agent ready to be started, and what led to it. */
struct agents_launch {
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
bool prompts_prepare(const struct prompts_ask *ask, struct agents_launch *ret, struct report *r);
void prompts_done(struct agents_launch *l);

/* Loads the configuration as the commands that only look at it do: the global one and that of the
 * working directory. False with issues added, also when there is none at all. */
bool prompts_load(struct config *c, struct str cwd, bool use_local, struct report *r);
/* How many files a configuration has, and where the global ones are looked for. */
struct prompts_files {
	size_t global, local;
	struct str directory; /* lives in the arena */
	struct arena *arena;
	struct report *notes; /* gets what could be better; NULL: not asked for */
};

/* Adds every finding about the configuration to `r`: for `check` and `doctor`. Without any
 * configuration there is nothing to find. With local files it can run commands of this
 * directory. */
void prompts_check(struct str cwd, struct report *r, struct prompts_files *ret);

/* Notes about agents without a `batch`, and about those whose lines are not what a first
 * configuration would have now; what to write instead is the hint. */
void init_note_lines(struct config *c, struct report *r);

/* The same for one of its files, `path` as the user called it; false: it is none, by its name. */
bool prompts_check_file(const char *path, struct str cwd, struct report *r);

/* What a host asks for in the words of prompts/. Borrows the texts. */
struct prompt_request prompt_request_of(const struct agents_request *q);
/* The date of a prompt that is made now. */
void prompt_date_now(struct buf *b);

/* Runs a section command in the engine; `data` is a struct agents_launch. */
section_run_fn prompts_run_section;
