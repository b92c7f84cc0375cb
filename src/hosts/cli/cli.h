#pragma once

#include "base/report.h"
#include "cmdline/command.h"

struct app;
struct settings;
struct mask;

/* The command line as a host: turns words into calls of app/ and answers into text or JSON. */
struct cli {
	const struct command *const *commands;
	size_t command_count;
	const char *program; /* argv[0] */
	/* What is being run; NULL and 0 before: */
	const struct command *command;
	const char *const *operands;
	size_t operand_count;
	struct arena arena;
	struct report report;
	size_t told;       /* of its issues: cli_warn() has told these warnings */
	struct app *app;   /* cli_app() */
	struct mask *mask; /* texts that no diagnostic may show; NULL: none */
};

/* Parses, runs and returns the exit status. */
int cli_main(const struct command *const *commands, size_t count, int argc, char **argv);

/* Parses the words behind the name of a command and runs it. */
int cli_run(struct cli *cli, const struct command *c, size_t argc, const char *const *argv);

/* Reports that `name` is not a command, with what its user may have meant. Returns false. */
bool cli_unknown_command(struct cli *cli, const char *name);
/* A recipe explains itself like a command of its own. Returns the exit status. */
int cli_help_recipe(struct cli *cli, const char *word, bool json);
/* What a command takes. */
int cli_help_command(const struct command *c, bool json);
/* Has a program roux-NAME tell about itself. Returns only when there is none. */
void cli_help_external(const char *name);

/* Options that every command has. */
struct common_opts {
	const char *dir;
	bool json;
};
extern const struct opt common_opts[2];
#define COMMON_SET(T) OPT_SET_IN("Common options", common_opts, T, common)
/* For a command that has no others. */
#define ONLY_COMMON(T) SETS(((const struct opt_set[]){ COMMON_SET(T) }), T)

/* What answers all requests of this process. Opened when it is first asked for, after -C was
 * followed. */
struct app *cli_app(struct cli *cli);
/* What the user's config.toml says; read once. NULL with issues added: it has a mistake. */
const struct settings *cli_settings(struct cli *cli);

/* Ends a command whose request was wrong: prints the issues as text or as a document. Returns the
 * exit status. */
int cli_refuse(struct cli *cli, bool json);
/* Puts the next steps of the report's issues into the words of the command line. */
void cli_word(struct cli *cli);
/* Writes to standard output; a reader that went away is not an error. Returns an exit status. */
int cli_print(struct str text);
/* Writes to standard error. */
void cli_say(struct str text);
/* From now on that writes nothing: --silent. */
void cli_hush(void);
/* The same even then: something is about to happen that must not happen silently. */
void cli_insist(struct str text);
/* Goes to the directory of -C. False with an issue added. */
bool cli_enter(struct cli *cli, const struct common_opts *o);
