#pragma once

#include "base/report.h"
#include "data/json.h"

/* What the user decided once and for all, in $XDG_CONFIG_HOME/roux/config.toml, else in
 * ~/.config/roux/config.toml (docs/reference.md, "Settings"). An option or a variable beats it.
 */

/* What holds where neither the file nor an option says otherwise. */
enum { DEFAULT_JOBS = 64, DEFAULT_GRACE_MS = 5000, DEFAULT_MAX_PARALLEL = 16 };

enum settings_usage { SETTINGS_USAGE_FILE, SETTINGS_USAGE_LEDGER };
/* Whether the answers that a client of MCP brings count. */
enum settings_approvals { SETTINGS_APPROVALS_ALLOW, SETTINGS_APPROVALS_DENY };

struct settings_collection {
	struct str name;
	struct str dir; /* absolute; relative ones are meant from the directory of the file */
};

/* What is not given has its default. */
struct settings {
	unsigned jobs; /* 0: one for each processor */
	unsigned max_parallel;
	uint64_t grace_ms;
	bool durable;
	unsigned usage;         /* enum settings_usage */
	unsigned approvals_mcp; /* enum settings_approvals */
	uint64_t max_age_days, max_runs;
	struct settings_collection *collections; /* in the order of the file */
	size_t collection_count;
	struct str on;     /* where commands run: an executor, or with a class; empty: here */
	json_t *executors; /* the tables of the file; owned; NULL: none */
	bool jobs_given, max_parallel_given, grace_given, durable_given, usage_given;
	bool approvals_mcp_given;
	bool max_age_given, max_runs_given; /* neither: nothing is deleted by itself */

	struct str path; /* of the file; empty when there is no home to look in */
	bool found;      /* whether there is one */
	struct arena arena;
};

/* Also of $ROUX_USAGE, which beats the file. Without a file there is nothing to do. False with
 * errors added when it does not parse or a value is of the wrong kind; then the settings are the
 * defaults. Unknown keys are warnings. */
bool settings_read(struct settings *s, struct report *errors, struct report *warnings);
void settings_done(struct settings *s);
/* Its collections as name → directory: a new reference. */
json_t *settings_collections(const struct settings *s);
/* Only says what is wrong with a file: `path`, called `name`. */
void settings_check(
	const char *path, struct str name, struct report *errors, struct report *warnings);
/* Whether a path is that of such a file: roux/config.toml somewhere. */
bool settings_names(struct str path);
