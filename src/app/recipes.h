#pragma once

#include "app/app.h"
#include "data/json.h"

struct json_out;
struct planned_submit;
struct recipe_argument;

/* Recipes and templates: finding them, opening them, telling about them. Nothing here starts
 * anything. */

/* A recipe or a template that was opened, with the values that were given for it. It does not
 * change when its file does. */
struct recipe_ref;

enum recipe_operand {
	OPERAND_ANY,      /* a template if it looks like one, else a recipe */
	OPERAND_TEMPLATE, /* a template, never a recipe */
	OPERAND_RECIPE,   /* a recipe, never a template */
};

struct recipe_open {
	enum recipe_operand as;
	bool dialect_0_9; /* a template is read in the dialect of version 0.9 */
	bool launch;      /* refuse a recipe that is disabled: it can only be looked at */
	/* An object, which the reference shares. A step recipe is checked for values that it needs:
	 * NULL: none are given; json_null(): they are not known yet. */
	json_t *values;
};

/* What an operand means: the id of a recipe, its path, the text of a template, its JSON, @FILE, or
 * - for standard input. NULL options: all defaults. NULL with every mistake in `r`. */
struct recipe_ref *recipes_open(
	struct app *a, const char *operand, const struct recipe_open *given, struct report *r);
/* A text as if it stood in a file called `name`: a recipe when that ends with .md, .yaml or .yml,
 * else a template. What it imports is looked for beside `name`. */
struct recipe_ref *recipes_open_text(struct app *a, struct str name, struct str text,
	const struct recipe_open *given, struct report *r);
/* The same recipe with other values, from the files as they were. NULL with issues added. */
struct recipe_ref *recipe_ref_with(struct recipe_ref *ref, json_t *values, struct report *r);
struct recipe_ref *recipe_ref_share(struct recipe_ref *ref);
void recipe_ref_free(struct recipe_ref *ref);

/* Its id; empty: it is a template. Borrowed. */
struct str recipe_ref_id(const struct recipe_ref *ref);
bool recipe_ref_async(const struct recipe_ref *ref);
/* A member of its file's object, as its author wrote it, for hosts that read their own: `effects`,
 * `label`, `sync_budget`. Borrowed; NULL: it has none. */
const json_t *recipe_ref_member(const struct recipe_ref *ref, const char *name);
/* Such a member that is a text, with what it declares as secret masked. */
void recipe_ref_shown_member(const struct recipe_ref *ref, const char *name, struct buf *b);
/* The text of its file as it was read, with what it declares as secret masked. */
void recipe_ref_shown_text(const struct recipe_ref *ref, struct buf *b);
/* Whether it declares the value of that name as secret. */
bool recipe_ref_hides(const struct recipe_ref *ref, struct str name);
/* How many commands it has; 0: that depends on values. */
size_t recipe_ref_size(const struct recipe_ref *ref);
bool recipe_ref_is_steps(const struct recipe_ref *ref);
/* Whether `args` declares its arguments: then they can be given in that order. */
bool recipe_ref_declares(const struct recipe_ref *ref);
/* What was found when it was read, as warnings. Borrowed, for the host to word. */
struct report *recipe_ref_warnings(const struct recipe_ref *ref);
/* Whether its values have only names that it declares, or, from a person, that it uses; issues with
 * the nearest name otherwise. */
bool recipe_ref_check_names(const struct recipe_ref *ref, bool person, struct report *r);
/* The same, and whether it has every value that it needs, as a person gives them: all that is wrong
 * with them is added to `r`. */
bool recipe_ref_check_values(struct recipe_ref *ref, struct report *r);

/* Whether an operand that may be either is a template. */
bool recipes_is_template(struct app *a, const char *operand);
/* Whether there is a recipe of that id or path. */
bool recipes_has(struct app *a, const char *operand);
/* Its file, which is not read. Empty with issues added. */
struct str recipes_path(struct app *a, const char *operand, struct arena *arena, struct report *r);
/* Whether a word may be the name of a value, and whether it is a field of a template's node. */
bool recipes_is_name(struct str word);
bool recipes_is_field(struct str word);

/* Where they are looked for, as absolute paths. */
struct str recipes_user_dir(struct app *a);
struct str recipes_packaged_dir(struct app *a);
/* The project of the working directory: the directory that has `.roux`, and its recipes; empty:
 * there is none. */
struct str recipes_project(struct app *a);
struct str recipes_project_dir(struct app *a);
/* Why there is none although `.roux` is there, for people; or empty. */
struct str recipes_unused_project(struct app *a);

/* -- all of them ---------------------------------------------------------------------------------
 */

/* See app/trust.h. */
enum trust {
	TRUST_NEEDLESS, /* not a project's recipe: the user's, a packaged one, or a template */
	TRUST_NONE,
	TRUST_CHANGED, /* it was trusted, and is another recipe now */
	TRUST_GIVEN,
};

enum recipe_state { RECIPE_ACTIVE, RECIPE_INVALID, RECIPE_DISABLED };
const char *recipe_state_name(enum recipe_state state);

/* One id with the recipe that stands for it. Borrowed until the visitor returns. */
struct recipe_info {
	struct str id, path;
	struct str description; /* empty: none, or it cannot be read */
	const char *layer;      /* "user", "project" or "packaged" */
	const char *format;     /* "json", "markdown", "yaml"; NULL: it cannot be read */
	enum recipe_state state;
	bool tool; /* active, and in the user's directory or a trusted one of the project */
	bool async;
	enum trust trust;                        /* app/trust.h */
	const struct recipe_argument *arguments; /* names, `required` and `list` only */
	size_t argument_count;
	const struct str *shadowed; /* paths of the same id that are not used */
	size_t shadowed_count;
	const json_t *usage; /* {"calls":…, …}; NULL: it was never started, or that is not known */
	struct str error;    /* of an invalid one: its first mistake, or that of an import */
	struct str cursor;      /* recipe_filter.after of the page that follows this one */
	struct recipe_ref *ref; /* it, opened without values; NULL: it cannot be read. A visitor
				   that keeps it takes recipe_ref_share() */
};

enum recipe_order { RECIPES_BY_ID, RECIPES_BY_CALLS /* the most first, then by id */ };

/* Zeroed: all, by id. */
struct recipe_filter {
	bool tools;        /* only what is a tool */
	unsigned states;   /* 1 << enum recipe_state, together; 0: every state */
	const char *layer; /* NULL: all */
	struct str text;   /* what the id or the description contains, in any case of letters */
	enum recipe_order order;
	size_t limit;     /* 0: none */
	struct str after; /* the cursor of the last one seen; empty: from the first */
};

/* False ends it. */
typedef bool recipe_fn(void *data, const struct recipe_info *info);
/* False with an issue added: a directory cannot be read. The others are told all the same. */
bool recipes_each(struct app *a, const struct recipe_filter *filter, recipe_fn *fn, void *data,
	struct report *r);
/* It as an element of the documents of `list` and `tool list`: a new reference. */
json_t *recipe_info_json(const struct recipe_info *info);

/* Words for completion, one a line: the ids that a terminal can show, of one layer or, with NULL,
 * of all; and for the first recipe among the words of a command line `name=`, or `name=value` for
 * each value where there are few. */
void recipes_id_words(struct app *a, const char *layer, struct buf *b);
void recipes_argument_words(struct app *a, size_t count, const char *const *words, struct buf *b);

/* Calls `changed` from the loop of `a` when something in the directories of recipes has changed, or
 * in that of agents, roles and tasks: once for all that happened since the last call. NULL, with
 * errno: the kernel does not allow it. It has to be ended before the app is closed. */
struct recipes_watch;
struct recipes_watch *recipes_watch(struct app *a, void (*changed)(void *data), void *data);
void recipes_watch_end(struct recipes_watch *w);

/* -- one of them ---------------------------------------------------------------------------------
 */

/* The document of `show`. It is written, not built: a recipe may have very many nodes. */
void recipes_describe(const struct recipe_ref *ref, struct json_out *o);
/* Its arguments as JSON Schema, with their defaults: a new reference. */
json_t *recipes_input_schema(const struct recipe_ref *ref);
/* What it prints, as JSON Schema: a new reference; NULL: its author does not say. */
json_t *recipes_output_schema(const struct recipe_ref *ref);

/* The same in parts. Texts are borrowed. */
struct str recipe_ref_path(const struct recipe_ref *ref);
const char *recipe_ref_format(const struct recipe_ref *ref); /* "json", "markdown", "yaml" */
/* Without what is secret in it. */
void recipe_ref_description(const struct recipe_ref *ref, struct buf *b);
/* {"imports":{ALIAS:{"id","path"}},"artifacts":{NAME:PATH},"mailbox":…}: a new reference. */
json_t *recipe_ref_parts(const struct recipe_ref *ref);
bool recipe_ref_disabled(const struct recipe_ref *ref);
/* What a user calls it by: its id, or the path that it was opened by. Borrowed. */
struct str recipe_ref_operand(const struct recipe_ref *ref);

struct recipe_argument {
	struct str name;
	struct str wanted; /* what a value has to be, for people */
	bool required;
	bool list;              /* takes JSON */
	bool path;              /* names a file */
	const json_t *fallback; /* its default; NULL: there is none, or nothing to tell about it */
	bool exact;             /* which is 2.0 where that is written, and not 2 */
};

typedef void recipe_argument_fn(void *data, const struct recipe_argument *argument);
void recipe_arguments_each(const struct recipe_ref *ref, recipe_argument_fn *fn, void *data);
/* Its nodes or steps, a line each, indented: for a terminal. */
void recipe_outline(const struct recipe_ref *ref, struct buf *b);
bool recipe_has_stages(const struct recipe_ref *ref);

/* -- without running -----------------------------------------------------------------------------
 */

/* What the caller says beside the recipe. Members may be NULL. */
struct recipe_surroundings {
	const json_t *agents;      /* name → command: before the configured ones */
	const json_t *collections; /* name → directory */
	bool model; /* the values come from a model, which may give declared arguments only */
	/* Of recipes_plan() and recipes_plan_each(): where commands would go, NAME[:CLASS]; NULL:
	 * that is not asked. */
	const char *on;
	/* Called behind the commands, with the data of those: each allocation that would be asked
	 * for, and what is worth knowing. May be NULL. */
	void (*submit)(void *data, const struct planned_submit *submit);
	void (*note)(void *data, struct str text);
};

/* An allocation of a batch system that would be asked for. <run>, <generation>, <id> and <dir> in
 * its words stand for what only a run has. */
struct planned_submit {
	struct str on, shape; /* for people: `slurm`, `4 cpus, 1h` */
	const char *const *argv;
	size_t argc;
};

struct check_request {
	const char *operand; /* NULL: every recipe, the settings, the configuration of prompts */
	struct recipe_open open;
	bool plan;     /* with the values: check them too */
	bool portable; /* note every use of an extension to the portable standard */
	struct recipe_surroundings with;
};

/* All findings are added to `r`. *ret_local (may be NULL): the configuration of prompts in the
 * working directory was read; it can run commands. */
void recipes_check(struct app *a, const struct check_request *q, bool *ret_local, struct report *r);

/* A command that would run; or a note without arguments about what is not a command. */
struct planned_command {
	struct str path, label, cwd, note;
	bool gate; /* a question that a person answers */
	bool agent;
	struct str on;           /* `local`, or the executor; empty: that was not asked */
	struct str shape;        /* the allocation it is for, for people; empty: none */
	const char *const *argv; /* NULL: only a note */
	size_t argc;
};

/* False ends it. */
typedef bool planned_fn(void *data, const struct planned_command *command);

/* What would run with the values of `ref`: the document of `plan`, with at most 100000 commands.
 * False with every mistake in `r`, and nothing is written; what is doubtful about the values joins
 * the warnings of `ref`. */
bool recipes_plan(struct recipe_ref *ref, const struct recipe_surroundings *with,
	struct json_out *o, struct report *r);
/* The same as data, in order. False with issues added. */
bool recipes_plan_each(struct recipe_ref *ref, const struct recipe_surroundings *with,
	planned_fn *fn, void *data, struct report *r);

/* -- tools and schemas ---------------------------------------------------------------------------
 */

/* A recipe in the user's directory, or in the project's, written as a whole or not at all. Members
 * that are NULL are not given. */
struct recipe_tool {
	const char *name;     /* the name of the file is made from it */
	const char *template; /* a command line, JSON text, or the name of a recipe */
	const char *description;
	const char *args; /* declarations, separated by commas */
	int async;        /* -1: not given */
	bool project;     /* in .roux/recipes of the project */
};

/* Checked by reading what would be written. `path` gets the file. False with issues, and nothing is
 * changed. Updating changes what is given and nothing else. */
bool recipes_add_tool(
	struct app *a, const struct recipe_tool *tool, struct buf *path, struct report *r);
bool recipes_update_tool(
	struct app *a, const struct recipe_tool *tool, struct buf *path, struct report *r);
bool recipes_remove_tool(
	struct app *a, const char *name, bool project, struct buf *path, struct report *r);
/* Makes the working directory a project: .roux/recipes with `text` as hello.md, which `path` gets.
 * False with issues: it is there already, or cannot be written. */
bool recipes_init_project(struct app *a, struct str text, struct buf *path, struct report *r);
/* The id of the recipe in a file. */
struct str recipes_id_of(struct str path);

enum schema_kind { SCHEMA_TEMPLATE, SCHEMA_RECIPE, SCHEMA_STEPS };
/* The JSON Schema of what can be written, for editors. */
void schema_write(enum schema_kind kind, struct buf *b);
