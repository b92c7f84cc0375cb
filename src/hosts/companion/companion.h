#pragma once

#include "base/report.h"
#include "cmdline/command.h"
#include "data/json.h"

struct app;

/* A program beside roux that has a command line of its own: `roux serve link` is run by roux-serve.
 */
struct companion {
	const char *name; /* "serve": the names of its commands begin with it and a space */
	const struct command *const *commands;
	size_t command_count;
	struct arena arena;
	struct report report;
	struct app *app; /* NULL until a command opens it */
};

/* Before anything is printed. */
void companion_begin(const struct companion *p);
/* Closes the app too. */
void companion_done(struct companion *p);

/* The command that is called `name` behind the program's own name, or NULL. */
const struct command *companion_find(const struct companion *p, const char *name);
/* Both return the exit status. `host` is the call's host. */
int companion_run(struct companion *p, void *host, const struct command *cmd, size_t argc,
	const char *const *argv);
int companion_unknown(struct companion *p, const char *name);

struct companion_common {
	const char *dir;
	bool json;
};
extern const struct opt companion_common_opts[2];
#define COMPANION_COMMON(T) OPT_SET_IN("Common options", companion_common_opts, T, common)

/* Follows -C. False with an issue. */
bool companion_enter(struct companion *p, const struct companion_common *o);
/* Prints the issues, as text or as a document. The exit status: 1 when the machine or a service is
 * to blame, else 2. */
int companion_refuse(struct companion *p, bool json);
void companion_say(const char *fmt, ...) PRINTF(1, 2);   /* a line on standard error */
void companion_print(const char *fmt, ...) PRINTF(1, 2); /* a line on standard output */
void companion_print_json(const json_t *document);
