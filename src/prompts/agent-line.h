#pragma once

#include "prompts/config.h"
#include "prompts/placeholders.h"

/* How an agent is started. It has up to two lines: `command` for a terminal, and `batch` for
 * streams that are captured or go into a file or a pipe, where most programs that draw a screen
 * refuse to start or never end. Everything that launches, shows or checks an agent asks here which
 * one counts. */
struct agent_line {
	const char *field; /* "command" or "batch" */
	struct str text;
	uint32_t names; /* a mask of 1 << placeholder */
	bool batch;
};

/* `batch` is taken when it is asked for and there; otherwise `command`. `kinds` is IN_AGENT, or
 * with IN_STEP. Borrowed from the entry. */
struct agent_line agent_line(const struct config_entry *agent, bool batch, unsigned kinds);

static inline bool agent_line_names(const struct agent_line *l, enum prompt_placeholder name)
{
	return l->names & 1u << name;
}

/* Whether an argument hands the prompt over. */
bool agent_line_has_prompt(const struct agent_line *l);
bool agent_line_has_role(const struct agent_line *l);

/* It names {bin} and closes its quotes. False with an issue added. */
bool agent_line_check(struct config *c, const struct config_entry *agent,
	const struct agent_line *l, struct report *r);

/* The first place where a prompt that begins with a dash would be taken for an option: a word that
 * begins with {prompt} and has no word `--` before it in its command. *offset and *length are those
 * of the placeholder. False: there is none. */
bool agent_line_bare_prompt(struct str line, size_t *offset, size_t *length);
