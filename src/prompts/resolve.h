#pragma once

#include "prompts/select.h"

/* From what was selected to two texts: the role and the prompt. */

enum {
	SECTION_OUTPUT_MAX = 16 << 20, /* of a command; more is a failure */
	SECTION_FILE_MAX = 16 << 20,
	SECTION_TIMEOUT_S = 30,
};

/* Runs a command and puts what it printed on both streams into `out`. False when it did not end
 * with status 0 in time or printed more than `max_output`; `why` then has a clause about it. */
typedef bool section_run_fn(void *data, const char *const *argv, const char *cwd, double timeout_s,
	size_t max_output, struct buf *out, struct buf *why);

struct resolve_input {
	struct config *config;
	const struct prompt_request *request;
	const struct selection *selection;
	struct str date; /* prompt_date(): one for the whole run */
	section_run_fn *run;
	void *run_data;
};

enum context_state { CONTEXT_USED, CONTEXT_EMPTY, CONTEXT_SKIPPED };

struct resolved_context {
	struct str name;
	enum context_state state;
};

struct resolved {
	struct buf role, prompt;
	struct str
		role_path; /* of a role that is a file and nothing else; empty: another, or none */
	VEC(struct resolved_context) contexts;
};

/* Reads files and runs section commands. False with issues added when the role or the task cannot
 * be had; what befalls a context is a warning. To be ended in any case. */
bool prompt_resolve(const struct resolve_input *in, struct resolved *ret, struct report *r,
	struct report *warnings);
void resolved_done(struct resolved *d);

/* The local time with its offset: 2025-01-07T14:30:00+10:00, or Z. */
void prompt_date(struct buf *b, int64_t seconds);

/* A section's file as an absolute path: relative ones are looked for as docs/prompts.md, "Sections:
 * file, command, prompt", says. */
struct str section_path(struct config *c, const struct section *s);
/* Why the file cannot be read as one: an errno, or 0. */
int section_file_error(const char *path);

/* The command line of a section command: SHELL FLAG TEXT; NULL-terminated, in the arena. */
const char *const *section_argv(struct config *c, const struct section *s);
/* The shell for the commands of agents. */
const char *agent_shell(struct config *c);
