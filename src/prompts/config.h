#pragma once

#include "base/map.h"
#include "base/vec.h"
#include "data/doc.h"

/* Agents, roles, contexts and tasks as the TOML files of two directories define them. Reading keeps
 * everything; what a request selects is checked when it is selected (select.h), all of it by
 * `doctor` (doctor.h). */

enum config_kind { KIND_AGENT, KIND_ROLE, KIND_CONTEXT, KIND_TASK, KIND_SETTINGS };
enum { KIND_COUNT = KIND_SETTINGS }; /* of those with names */
enum config_scope { SCOPE_GLOBAL, SCOPE_LOCAL };

/* A named table, or a field of the settings. */
struct config_entry {
	enum config_kind kind;
	enum config_scope scope;
	struct str name;
	const json_t *value; /* what stands there, a table or not */
	const struct place *place;
	const struct config_entry *twin;  /* another one of that name in the same scope */
	const struct config_entry *hides; /* the global one that it replaces */
	size_t at;                        /* its number among the merged ones */
};

/* One file. */
struct config_file {
	struct doc doc;
	struct buf text;
	enum config_scope scope;
	struct place root;
};

struct config_dirs {
	struct str home, global, cwd; /* absolute */
	bool local;                   /* <cwd>/.start is read */
};

struct config {
	struct arena arena;
	struct config_dirs dirs;
	VEC(struct config_file *) files; /* those that exist, global ones first */
	VEC(struct config_entry *)
	entries[KIND_COUNT + 1];          /* merged, in order; the last: settings */
	struct map names[KIND_COUNT + 1]; /* of the same */
};

enum { CONFIG_FILE_MAX = 4 << 20 };

/* Where the global files are: start/ in the directory of the user's configurations. */
struct str config_global_dir(struct arena *a, struct str home);

/* False with issues added: a file that cannot be read or is not TOML, a table that is none. Texts
 * of `dirs` are copied. To be ended in any case. */
bool config_load(struct config *c, const struct config_dirs *dirs, struct report *r);
void config_done(struct config *c);

/* Whether a file of that name is one of them. */
bool config_reads(struct str name);

/* "agent", "agents": for people. */
const char *config_kind_name(enum config_kind kind);
const char *config_table_name(enum config_kind kind);

/* -- fields --------------------------------------------------------------------------------------
 */

enum config_type {
	CONFIG_TEXT,
	CONFIG_BOOL,
	CONFIG_SECONDS,    /* a positive number */
	CONFIG_TEXTS,      /* an array of texts */
	CONFIG_TEXT_TABLE, /* a table of texts */
	CONFIG_ANY,        /* read and ignored */
};

struct config_field {
	const char *name;
	enum config_type type;
	unsigned kinds; /* a mask of 1 << kind */
};

/* All of them; ends with a NULL name. */
extern const struct config_field config_fields[];
/* NULL: no such field. */
const struct config_field *config_field(enum config_kind kind, struct str name);

/* The place of a field of an entry, for diagnostics. */
const struct place *config_place(struct config *c, const struct config_entry *e, const char *field);

/* The entry is a table, defined once, and its known fields have the right types. False with issues
 * added. */
bool config_check(struct config *c, const struct config_entry *e, struct report *r);
/* One field of it. */
bool config_check_field(
	struct config *c, const struct config_entry *e, const char *field, struct report *r);

/* Fields; empty, false or NULL when they are not there or not of that type. */
struct str config_text(const struct config_entry *e, const char *field);
bool config_bool(const struct config_entry *e, const char *field);
double config_seconds(const struct config_entry *e, const char *field);
const json_t *config_value(const struct config_entry *e, const char *field);

/* The merged entry of that name, or NULL. */
const struct config_entry *config_find(
	const struct config *c, enum config_kind kind, struct str name);
/* A setting: its entry, whose value it is, or NULL. */
const struct config_entry *config_setting(const struct config *c, const char *name);
/* The text of a setting; empty when it has none. */
struct str config_setting_text(const struct config *c, const char *name);
/* Checks all settings. */
bool config_check_settings(struct config *c, struct report *r);

/* Whether it is for the steps of recipes only: [agents."*"]. */
bool config_any_agent(const struct config_entry *e);
