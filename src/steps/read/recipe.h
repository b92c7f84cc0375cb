#pragma once

#include "base/map.h"
#include "data/doc.h"
#include "data/needs.h"

/* A step recipe as written: every key read, checked and in its place, nothing resolved. It lives in
 * one arena and does not change; texts keep their places, so that they can be compiled. */

enum step_type { STEP_AGENT, STEP_BASH, STEP_RECIPE, STEP_WAIT, STEP_TYPE_COUNT };
enum step_loop { STEP_ONCE, STEP_FOREACH, STEP_WHILE };
enum step_on_error { STEP_FAIL, STEP_CONTINUE, STEP_SKIP_REMAINING };
enum step_backoff { STEP_EXPONENTIAL, STEP_LINEAR };
enum step_answer { STEP_DENY, STEP_APPROVE };

enum { STEP_PARALLEL_DEFAULT = -1 }; /* `parallel: true`: as wide as the run says */

/* A text, or a number or boolean as the text that it reads as. text.p is NULL: not given. */
struct recipe_text {
	struct str text;
	const struct place *place;
};

/* A value as it is. NULL: not given. */
struct recipe_value {
	const json_t *value;
	const struct place *place;
};

/* An entry of `env` or `update_context`, in order. */
struct recipe_pair {
	struct str name;
	const json_t *value;     /* any scalar; in `update_context` anything */
	struct recipe_text text; /* when the value is a text */
};

struct step_retry {
	bool given;
	int64_t max_attempts; /* 1: once and no more */
	enum step_backoff backoff;
	uint64_t initial_delay_ms, max_delay_ms;
};

struct step_recursion {
	bool given;
	int64_t max_depth, max_total_steps;
};

/* The keys of loops. */
struct step_rounds {
	struct recipe_text foreach, as, collect; /* `as` is there whenever `foreach` is */
	int64_t parallel;                        /* 0: one after the other; STEP_PARALLEL_DEFAULT */
	int64_t max_iterations;
	int64_t delay_between_ms;
	bool checkpoint_iterations;
	struct recipe_text while_condition, break_when;
	int64_t max_while_iterations;
	const struct recipe_pair *update_context;
	size_t update_context_count;
	struct step *const *steps; /* the body of a loop; none: the step itself is */
	size_t step_count;
};

struct step_bash {
	struct recipe_text command, output_stderr, output_exit_code, shell, cwd, stdin;
	const struct recipe_pair *env;
	size_t env_count;
	int64_t max_output_size;
	bool stream;
};

struct step_agent {
	struct recipe_text name, prompt, mode, provider, model, spawn_mode;
	struct recipe_value config, provider_preferences, model_role;
};

/* A step that is a recipe. */
struct step_called {
	struct recipe_text recipe;
	struct recipe_value context;
	struct step_recursion recursion;
};

/* The groups behind `rounds` are those of one type each. They stand beside each other and not in a
 * union: what is not of the step's type holds nothing or its defaults and may be looked at. */
struct step {
	struct str id;
	enum step_type type;
	enum step_loop loop;
	const struct place *place;
	const struct step *parent;      /* the loop that it is in the body of; NULL: none */
	const struct step_stage *stage; /* NULL: the recipe has none */
	size_t index; /* among its siblings: of the stage, the recipe or the body */
	size_t order; /* among all steps of the file */

	struct recipe_text output; /* the name of a variable, as are collect, as … */
	bool parse_json;
	struct recipe_text condition;
	uint64_t timeout_ms; /* of each try; 0: none */
	enum step_on_error on_error;
	struct step_retry retry;
	const struct needs *needs; /* NULL: not said */
	enum runs_on runs_on;
	const struct str *depends_on;
	size_t depends_on_count;

	struct step_rounds rounds;
	struct step_bash bash;
	struct step_agent agent;
	struct step_called called;
	uint64_t wait_ms;
};

struct step_approval {
	bool required;
	struct recipe_text prompt;
	uint64_t timeout_ms; /* 0: for ever */
	enum step_answer fallback;
};

struct step_stage {
	struct str name;
	const struct place *place;
	struct step_approval approval;
	struct step *const *steps;
	size_t step_count;
	size_t index;
};

struct step_rate_backoff {
	bool enabled;
	int64_t initial_delay_ms, max_delay_ms;
	double multiplier;
	int64_t reset_after_success;
};

struct step_rate_limiting {
	bool given;
	int64_t max_concurrent_llm; /* 0: any number */
	int64_t min_delay_ms;
	struct step_rate_backoff backoff;
};

struct step_recipe {
	struct arena arena;
	struct doc doc;
	struct place root;
	struct str path; /* of the file: sub-recipes are looked for beside it */
	struct recipe_text name, description, version;
	const json_t *context;     /* an object, empty when none is given */
	json_t *nothing;           /* that empty one; owned */
	struct step *const *steps; /* flat; none when it has stages */
	size_t step_count;
	struct step_stage *const *stages;
	size_t stage_count;
	struct step *const *all; /* every step in file order, bodies of loops included */
	size_t all_count;
	struct step_recursion recursion;
	struct step_rate_limiting rate_limiting;
	struct recipe_value orchestrator;
	const struct str *secrets;
	size_t secret_count;
	const struct str *required; /* what a caller has to give */
	size_t required_count;
	struct report extensions; /* notes: what is not in the portable format */
	struct report warnings;
};

/* Reads and checks a whole recipe that a step calls. `path` is its file, `name` what diagnostics
 * call it; everything that is kept is copied. `given` has the variables that are known when it
 * runs, an object; NULL: none. NULL with every mistake in `r`, and the warnings as well; otherwise
 * they are in the recipe.
 */
struct step_recipe *step_recipe_read(
	struct str path, struct str name, struct str text, const json_t *given, struct report *r);
/* The same of one that nothing calls, for a text that yaml_read() has read: takes `root`, which may
 * be NULL, and the issues of `found`. */
struct step_recipe *step_recipe_of(struct str path, struct str name, struct str text, json_t *root,
	struct report *found, const json_t *given, struct report *r);
void step_recipe_free(struct step_recipe *recipe);

/* {"steps", "stages", "variables"} of `roux show --json`: a new reference. */
json_t *step_recipe_facts(const struct step_recipe *recipe);

const char *step_type_name(enum step_type type);
