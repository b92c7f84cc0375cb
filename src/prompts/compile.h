#pragma once

#include "data/doc.h"
#include "prompts/placeholders.h"

/* Turns an agent's command, shell text that its author wrote, and values, some of them from
 * strangers, into one process to start. No value ever becomes shell text:
 *
 *   direct  the command is only NAME=word assignments and words: argv and environment are built
 *           here and no shell is started;
 *   shell   everything else: SHELL -c SCRIPT start VALUE…, where each placeholder of the script has
 *           become a reference to a positional parameter, quoted as its place needs.
 *
 * Both give the same arguments. Pure: nothing is read, nothing is started. */

enum launch_form { FORM_DIRECT, FORM_SHELL };

struct compile_input {
	struct str command;
	const struct place *place; /* where it stands; NULL: in no file */
	unsigned kinds;            /* IN_AGENT, or IN_AGENT | IN_STEP */
	const struct placeholder_values *values;
	struct str home;
	const char *shell; /* for the shell form: "bash" */
};

/* In the arena. */
struct compiled {
	enum launch_form form;
	const char *const *argv; /* ends with NULL */
	size_t argc;
	const char *const *env; /* NAME=VALUE, the assignments of the direct form; ends with NULL */
	size_t envc;
	struct str display; /* a command line that can be pasted into a shell */
};

/* False with issues added: a quote that never ends, a value that is too long. NUL bytes of values
 * are left out with a warning. */
bool prompt_compile(struct arena *a, const struct compile_input *in, struct compiled *ret,
	struct report *r, struct report *warnings);

/* What is wrong with the command itself, whatever the values: a quote that never ends. */
bool compile_check(struct str command, const struct place *place, struct report *r);

/* Whether a shell has a command of that name built in, so that PATH need not have it. */
bool compile_shell_has(struct str name);
