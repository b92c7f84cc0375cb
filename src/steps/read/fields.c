#include "steps/read/fields.h"

#include "base/near.h"
#include "base/number.h"
#include "data/big.h"

const char *const step_type_names[] = { "agent", "bash", "recipe", "wait", NULL };

static const char *const on_error_words[] = { "fail", "continue", "skip_remaining", NULL };
static const char *const backoff_words[] = { "exponential", "linear", NULL };
static const char *const spawn_words[] = { "subprocess", NULL };
static const char *const answer_words[] = { "deny", "approve", NULL };
static const char *const effect_words[] = { "read", "write", "destructive", NULL };
static const char *const path_words[] = { "project", "anywhere", NULL };
static const char *const runs_on_words[] = { "any", "local", NULL };
static const char *const inline_words[] = { "required", NULL };

enum {
	AGENT = 1 << STEP_AGENT,
	BASH = 1 << STEP_BASH,
	RECIPE = 1 << STEP_RECIPE,
	WAIT = 1 << STEP_WAIT,
	SCALAR = KEY_TEXT | KEY_NUMBER | KEY_BOOL,
};

#define NAME(text) .name = { text, sizeof(text) - 1 }
#define INTO(type, member, kind) .store = KEY_STORE_##kind, .offset = offsetof(struct type, member)
/* A value of one kind, with what a diagnostic expects. */
#define A_TEXT .types = KEY_TEXT, .wanted = "a string"
#define A_BOOL .types = KEY_BOOL, .wanted = "true or false"
#define A_NAME .types = KEY_TEXT, .wanted = "the name of a variable", .is_name = KEY_NAME_RESULT
#define A_MAPPING .types = KEY_MAPPING, .wanted = "a mapping"
#define A_CONDITION .types = SCALAR, .wanted = "an expression"
#define WHOLE(least) .types = KEY_INTEGER, .wanted = "a whole number", .minimum = (least)
#define A_LIST "\"- \" before the first key of each, and indent the others as far"
#define A_DURATION .duration = true
#define UP_TO(most) .maximum = (most)

#define IN_RECIPE .in = KEY_IN_RECIPE
#define IN_STEP .in = KEY_IN_STEP
#define FOR_BASH IN_STEP, .used_by = BASH, .refused_by = WAIT
#define FOR_AGENT IN_STEP, .used_by = AGENT, .refused_by = BASH | RECIPE | WAIT
#define FOREACH_ONLY IN_STEP, .needs = STEP_FOREACH
#define LOOP_ONLY IN_STEP, .needs = STEP_WHILE
#define ALWAYS .needs_always = true

/* In the order of the specification, which is the order of the schema and the reference page. */
const struct key step_keys[] = {
	/* -- the recipe */
	{ NAME("name"), IN_RECIPE, A_TEXT, .required = true, INTO(step_recipe, name, TEXT),
		.summary = "what the recipe is called: letters, digits, '-' and '_'" },
	{ NAME("description"), IN_RECIPE, A_TEXT, .required = true,
		INTO(step_recipe, description, TEXT), .summary = "what it is for" },
	{ NAME("version"), IN_RECIPE, .types = KEY_TEXT, .wanted = "a string such as \"1.0.0\"",
		.example = "\"1.0.0\"", .required = true, INTO(step_recipe, version, TEXT),
		.summary = "three numbers with dots between them, such as 1.0.0" },
	{ NAME("steps"), IN_RECIPE, .types = KEY_LIST, .wanted = "a list of steps",
		.example = A_LIST, .items = KEY_ITEMS_STEPS, .summary = "what to do, in order" },
	{ NAME("stages"), IN_RECIPE, .types = KEY_LIST, .wanted = "a list of stages",
		.example = A_LIST, .items = KEY_ITEMS_STAGES,
		.summary = "in place of `steps`: groups of steps with gates" },
	{ NAME("context"), IN_RECIPE, A_MAPPING, .example = "{ name: value }",
		.summary = "variables and their default values, of any type" },
	{ NAME("required"), IN_RECIPE, .types = KEY_LIST, .wanted = "a list of names",
		.example = "[version]", .items = KEY_ITEMS_NAMES, .extension = true,
		.summary = "variables that a caller has to give; of roux, not portable" },
	{ NAME("author"), IN_RECIPE, .types = KEY_ANY, .summary = "kept for people" },
	{ NAME("created"), IN_RECIPE, .types = KEY_ANY, .summary = "kept for people" },
	{ NAME("updated"), IN_RECIPE, .types = KEY_ANY, .summary = "kept for people" },
	{ NAME("tags"), IN_RECIPE, .types = KEY_ANY, .summary = "kept for people" },
	{ NAME("recursion"), IN_RECIPE, A_MAPPING, .items = KEY_ITEMS_KEYS,
		.inside = KEY_IN_RECURSION, .summary = "how far recipes may call recipes" },
	{ NAME("rate_limiting"), IN_RECIPE, A_MAPPING, .items = KEY_ITEMS_KEYS,
		.inside = KEY_IN_RATE_LIMITING, .summary = "pacing of agent steps" },
	{ NAME("orchestrator"), IN_RECIPE, A_MAPPING, .items = KEY_ITEMS_KEYS,
		.inside = KEY_IN_ORCHESTRATOR, INTO(step_recipe, orchestrator, VALUE),
		.summary = "settings that are passed on to agents" },
	{ NAME("secrets"), IN_RECIPE, .types = KEY_LIST, .wanted = "a list of names",
		.items = KEY_ITEMS_NAMES, .summary = "variables whose values are never shown" },

	/* -- for hosts */
	{ NAME("label"), IN_RECIPE, A_TEXT, .summary = "a title, for tools and pages" },
	{ NAME("async"), IN_RECIPE, A_BOOL, .fallback = "false",
		.summary = "hosts start it detached and answer at once" },
	{ NAME("effects"), IN_RECIPE, .types = KEY_TEXT,
		.wanted = "\"read\", \"write\" or \"destructive\"", .words = effect_words,
		.summary =
			"what it does to the world, for clients that ask before they call a tool" },
	{ NAME("idempotent"), IN_RECIPE, A_BOOL,
		.summary = "doing it twice is the same as doing it once" },
	{ NAME("network"), IN_RECIPE, A_BOOL, .summary = "it talks to other machines" },
	{ NAME("always"), IN_RECIPE, A_BOOL,
		.summary = "clients that show only some tools show this one" },
	{ NAME("output_schema"), IN_RECIPE, A_MAPPING,
		.summary = "a JSON Schema of what it prints" },
	{ NAME("sync_budget"), IN_RECIPE, .types = KEY_TEXT | KEY_NUMBER,
		.wanted = "a duration such as \"45s\"",
		.summary = "how long a tool call waits for it; 0: until it ends" },
	{ NAME("progress_budget"), IN_RECIPE, .types = KEY_TEXT | KEY_NUMBER,
		.wanted = "a duration such as \"240s\"",
		.summary = "the same for a client that hears of progress" },
	{ NAME("paths"), IN_RECIPE, .types = KEY_TEXT, .wanted = "\"project\" or \"anywhere\"",
		.words = path_words, .fallback = "\"project\"",
		.summary = "where paths that a model gives may lead" },

	/* -- every step */
	{ NAME("id"), IN_STEP, A_TEXT, .required = true,
		.summary = "a name that no other step has" },
	{ NAME("type"), IN_STEP, .types = KEY_TEXT, .wanted = "agent, bash, recipe or wait",
		.words = step_type_names, .fallback = "\"agent\"",
		.summary = "what kind of step it is" },
	{ NAME("output"), IN_STEP, A_NAME, .refused_by = WAIT, INTO(step, output, TEXT),
		.summary = "the variable that gets the result" },
	{ NAME("parse_json"), IN_STEP, A_BOOL, .refused_by = WAIT, .fallback = "false",
		INTO(step, parse_json, BOOL),
		.summary = "the result is JSON and is stored as its value" },
	{ NAME("condition"), IN_STEP, A_CONDITION, INTO(step, condition, TEXT),
		.summary = "the step is skipped when this is false" },
	{ NAME("timeout"), IN_STEP, WHOLE(1), A_DURATION, .example = "whole seconds: 90",
		INTO(step, timeout_ms, SECONDS),
		.summary =
			"seconds that each try may take: 60 for bash, 600 for agents by default" },
	{ NAME("on_error"), IN_STEP, .types = KEY_TEXT,
		.wanted = "\"fail\", \"continue\" or \"skip_remaining\"", .words = on_error_words,
		.fallback = "\"fail\"", INTO(step, on_error, WORD),
		.summary = "what a failure means for the run" },
	{ NAME("retry"), IN_STEP, A_MAPPING, .example = "{ max_attempts: 3 }", .refused_by = WAIT,
		.items = KEY_ITEMS_KEYS, .inside = KEY_IN_RETRY,
		.summary = "try again after a failure" },
	{ NAME("needs"), IN_STEP, .types = KEY_MAPPING, .wanted = "a mapping",
		.example = "{ cpus: 8, mem: 16G }", .refused_by = WAIT, .extension = true,
		.summary = "what it asks of the machine that runs it; of roux, not portable" },
	{ NAME("runs_on"), IN_STEP, .types = KEY_TEXT, .wanted = "\"local\" or \"any\"",
		.words = runs_on_words, .refused_by = WAIT, .extension = true,
		.summary = "local: here, also when other steps run elsewhere; of roux, not "
			   "portable" },
	{ NAME("depends_on"), IN_STEP, .types = KEY_LIST, .wanted = "a list of step ids",
		.items = KEY_ITEMS_TEXTS, .fallback = "[]",
		.summary = "steps that stand earlier and must have ended" },
	{ NAME("foreach"), IN_STEP, A_TEXT, INTO(step, rounds.foreach, TEXT),
		.summary = "a {{list}}: the step runs once for each item" },
	{ NAME("as"), FOREACH_ONLY, .types = KEY_TEXT, .wanted = "the name of a variable",
		.is_name = KEY_NAME_OTHER, INTO(step, rounds.as, TEXT),
		.fallback = "\"" STEP_AS "\"", .summary = "the variable that has the item" },
	{ NAME("collect"), LOOP_ONLY, A_NAME, INTO(step, rounds.collect, TEXT),
		.summary = "the variable that gets the list of all results" },
	{ NAME("parallel"), FOREACH_ONLY, ALWAYS, .types = KEY_BOOL | KEY_INTEGER,
		.wanted = "true, false or a whole number", .minimum = 1, .fallback = "false",
		.summary = "run iterations at once: as many as the run allows, or this many" },
	{ NAME("max_iterations"), FOREACH_ONLY, WHOLE(1), .fallback = "100",
		INTO(step, rounds.max_iterations, INT), .summary = "a longer list is refused" },
	{ NAME("delay_between"), FOREACH_ONLY, WHOLE(0), A_DURATION, .fallback = "0",
		INTO(step, rounds.delay_between_ms, INT),
		.summary = "milliseconds between iterations" },
	{ NAME("checkpoint_iterations"), FOREACH_ONLY, ALWAYS, A_BOOL, .fallback = "false",
		INTO(step, rounds.checkpoint_iterations, BOOL),
		.summary = "a resume continues with the iteration that failed" },
	{ NAME("while_condition"), IN_STEP, A_CONDITION, INTO(step, rounds.while_condition, TEXT),
		.summary = "the step runs again as long as this is true" },
	{ NAME("max_while_iterations"), LOOP_ONLY, WHOLE(1), UP_TO(1000), .fallback = "100",
		INTO(step, rounds.max_while_iterations, INT),
		.summary = "rounds after which a loop ends" },
	{ NAME("break_when"), LOOP_ONLY, ALWAYS, A_CONDITION, INTO(step, rounds.break_when, TEXT),
		.summary = "ends the loop when it is true after an iteration" },
	{ NAME("update_context"), LOOP_ONLY, A_MAPPING, .example = "{ name: \"{{value}}\" }",
		.items = KEY_ITEMS_BY_NAME, .summary = "variables to set after each iteration" },
	{ NAME("steps"), LOOP_ONLY, ALWAYS, .types = KEY_LIST, .wanted = "a list of steps",
		.example = A_LIST, .items = KEY_ITEMS_STEPS, .summary = "the body of a loop" },
	{ NAME("while_steps"), LOOP_ONLY, ALWAYS, .types = KEY_LIST, .wanted = "a list of steps",
		.example = A_LIST, .items = KEY_ITEMS_STEPS,
		.summary = "another spelling of `steps`" },

	/* -- bash */
	{ NAME("command"), IN_STEP, A_TEXT, .used_by = BASH, .refused_by = AGENT | RECIPE | WAIT,
		.needed_by = BASH, .filled = true, INTO(step, bash.command, TEXT),
		.summary = "what the shell runs; pass values through `env`" },
	{ NAME("output_stderr"), FOR_BASH, A_NAME, INTO(step, bash.output_stderr, TEXT),
		.summary = "the variable that gets what it printed as errors" },
	{ NAME("output_exit_code"), FOR_BASH, A_NAME, INTO(step, bash.output_exit_code, TEXT),
		.summary = "the variable that gets its exit code, as text" },
	{ NAME("shell"), FOR_BASH, A_TEXT, .fallback = "\"/bin/bash\"",
		INTO(step, bash.shell, TEXT), .summary = "the program that runs the command" },
	{ NAME("cwd"), FOR_BASH, A_TEXT, INTO(step, bash.cwd, TEXT),
		.summary = "the directory to run it in" },
	{ NAME("env"), FOR_BASH, A_MAPPING, .example = "{ NAME: \"{{value}}\" }",
		.items = KEY_ITEMS_SCALARS,
		.summary = "variables of its environment: the safe way to pass values" },
	{ NAME("max_output_size"), FOR_BASH, WHOLE(1), .fallback = "10485760",
		INTO(step, bash.max_output_size, INT), .summary = "bytes of output to keep" },
	{ NAME("stdin"), FOR_BASH, A_TEXT, INTO(step, bash.stdin, TEXT),
		.summary = "what it reads from its standard input" },
	{ NAME("stream"), FOR_BASH, A_BOOL, .fallback = "false", INTO(step, bash.stream, BOOL),
		.summary = "show what it prints while it runs" },

	/* -- agent */
	{ NAME("agent"), FOR_AGENT, A_TEXT, .needed_by = AGENT, INTO(step, agent.name, TEXT),
		.summary = "which agent answers" },
	{ NAME("prompt"), FOR_AGENT, A_TEXT, .needed_by = AGENT, INTO(step, agent.prompt, TEXT),
		.summary = "what it is asked" },
	{ NAME("mode"), FOR_AGENT, A_TEXT, INTO(step, agent.mode, TEXT),
		.summary = "a word before the prompt" },
	{ NAME("agent_config"), IN_STEP, .used_by = AGENT, .refused_by = BASH | WAIT, A_MAPPING,
		INTO(step, agent.config, VALUE),
		.summary = "settings that are passed on to the agent" },
	{ NAME("provider"), FOR_AGENT, A_TEXT, INTO(step, agent.provider, TEXT),
		.summary = "passed on to the agent" },
	{ NAME("model"), FOR_AGENT, A_TEXT, INTO(step, agent.model, TEXT),
		.summary = "the model that the agent is to use" },
	{ NAME("provider_preferences"), FOR_AGENT, .types = KEY_LIST,
		.wanted = "a list of mappings", .items = KEY_ITEMS_MAPPINGS,
		INTO(step, agent.provider_preferences, VALUE),
		.summary = "passed on to the agent" },
	{ NAME("model_role"), FOR_AGENT, .types = KEY_TEXT | KEY_LIST,
		.wanted = "a string or a list of strings", .items = KEY_ITEMS_TEXTS,
		INTO(step, agent.model_role, VALUE), .summary = "passed on to the agent" },
	{ NAME("spawn_mode"), FOR_AGENT, .types = KEY_TEXT, .wanted = "\"subprocess\"",
		.words = spawn_words, INTO(step, agent.spawn_mode, TEXT),
		.summary = "how the agent is started" },

	/* -- recipe */
	{ NAME("recipe"), IN_STEP, A_TEXT, .used_by = RECIPE, .refused_by = AGENT | BASH | WAIT,
		.needed_by = RECIPE, INTO(step, called.recipe, TEXT),
		.summary = "the file of a recipe, beside this one" },
	{ NAME("context"), IN_STEP, A_MAPPING, .example = "{ name: \"{{value}}\" }",
		.used_by = RECIPE, .refused_by = AGENT | BASH | WAIT,
		INTO(step, called.context, VALUE), .summary = "the variables that it is given" },
	{ NAME("recursion"), IN_STEP, A_MAPPING, .used_by = RECIPE, .refused_by = BASH | WAIT,
		.items = KEY_ITEMS_KEYS, .inside = KEY_IN_RECURSION,
		.summary = "other limits for what it calls" },

	/* -- wait */
	{ NAME("seconds"), IN_STEP, .types = KEY_NUMBER, .wanted = "a number of seconds",
		.used_by = WAIT, .refused_by = AGENT | BASH | RECIPE, .needed_by = WAIT,
		INTO(step, wait_ms, SECONDS), .summary = "how long to wait" },

	/* -- retry */
	{ NAME("max_attempts"), .in = KEY_IN_RETRY, WHOLE(1), .fallback = "3",
		INTO(step_retry, max_attempts, INT),
		.summary = "tries in all, the first included" },
	{ NAME("backoff"), .in = KEY_IN_RETRY, .types = KEY_TEXT,
		.wanted = "\"exponential\" or \"linear\"", .words = backoff_words,
		.fallback = "\"exponential\"", INTO(step_retry, backoff, WORD),
		.summary = "whether the wait doubles with each try or stays the same" },
	{ NAME("initial_delay"), .in = KEY_IN_RETRY, .types = KEY_NUMBER, A_DURATION,
		.wanted = "a number of seconds", .fallback = "5",
		INTO(step_retry, initial_delay_ms, SECONDS),
		.summary = "seconds before the second try" },
	{ NAME("max_delay"), .in = KEY_IN_RETRY, .types = KEY_NUMBER, A_DURATION,
		.wanted = "a number of seconds", .fallback = "300",
		INTO(step_retry, max_delay_ms, SECONDS),
		.summary = "seconds that a wait never exceeds" },

	/* -- recursion */
	{ NAME("max_depth"), .in = KEY_IN_RECURSION, WHOLE(1), UP_TO(20), .fallback = "5",
		INTO(step_recursion, max_depth, INT),
		.summary = "recipes in a chain, this one included" },
	{ NAME("max_total_steps"), .in = KEY_IN_RECURSION, WHOLE(1), UP_TO(1000), .fallback = "100",
		INTO(step_recursion, max_total_steps, INT), .summary = "agent steps in all" },

	/* -- rate_limiting */
	{ NAME("max_concurrent_llm"), .in = KEY_IN_RATE_LIMITING, WHOLE(1), UP_TO(100),
		INTO(step_rate_limiting, max_concurrent_llm, INT), .summary = "agents at once" },
	{ NAME("min_delay_ms"), .in = KEY_IN_RATE_LIMITING, WHOLE(0), UP_TO(60000), .fallback = "0",
		INTO(step_rate_limiting, min_delay_ms, INT),
		.summary = "milliseconds between the end of one and the start of the next" },
	{ NAME("backoff"), .in = KEY_IN_RATE_LIMITING, A_MAPPING, .items = KEY_ITEMS_KEYS,
		.inside = KEY_IN_BACKOFF, .summary = "what happens when a limit was met" },

	/* -- its backoff */
	{ NAME("enabled"), .in = KEY_IN_BACKOFF, A_BOOL, .fallback = "true",
		INTO(step_rate_backoff, enabled, BOOL), .summary = "whether agents slow down" },
	{ NAME("initial_delay_ms"), .in = KEY_IN_BACKOFF, WHOLE(100), .fallback = "1000",
		INTO(step_rate_backoff, initial_delay_ms, INT), .summary = "the first delay" },
	{ NAME("max_delay_ms"), .in = KEY_IN_BACKOFF, WHOLE(0), .fallback = "60000",
		INTO(step_rate_backoff, max_delay_ms, INT), .summary = "the longest delay" },
	{ NAME("multiplier"), .in = KEY_IN_BACKOFF, .types = KEY_NUMBER, .wanted = "a number",
		.minimum = 1, .fallback = "2", INTO(step_rate_backoff, multiplier, DOUBLE),
		.summary = "how much longer each delay is" },
	{ NAME("reset_after_success"), .in = KEY_IN_BACKOFF, WHOLE(1), .fallback = "3",
		INTO(step_rate_backoff, reset_after_success, INT),
		.summary = "successes after which there is no delay any more" },

	/* -- orchestrator */
	{ NAME("config"), .in = KEY_IN_ORCHESTRATOR, A_MAPPING, .items = KEY_ITEMS_KEYS,
		.inside = KEY_IN_ORCHESTRATOR_CONFIG, .summary = "passed on to agents" },
	{ NAME("min_delay_between_calls_ms"), .in = KEY_IN_ORCHESTRATOR_CONFIG, WHOLE(0),
		.summary = "milliseconds" },

	/* -- stages */
	{ NAME("name"), .in = KEY_IN_STAGE, A_TEXT, .required = true,
		.summary = "letters, digits, '-', '_' and spaces; no other stage has it" },
	{ NAME("steps"), .in = KEY_IN_STAGE, .types = KEY_LIST, .wanted = "a list of steps",
		.example = A_LIST, .required = true, .items = KEY_ITEMS_STEPS,
		.summary = "what to do, in order" },
	{ NAME("approval"), .in = KEY_IN_STAGE, A_MAPPING,
		.example = "{ required: true, prompt: \"…\" }", .items = KEY_ITEMS_KEYS,
		.inside = KEY_IN_APPROVAL, .summary = "a gate behind the stage" },
	{ NAME("required"), .in = KEY_IN_APPROVAL, A_BOOL, .fallback = "false",
		INTO(step_approval, required, BOOL),
		.summary = "the run waits for a person's answer" },
	{ NAME("prompt"), .in = KEY_IN_APPROVAL, A_TEXT, INTO(step_approval, prompt, TEXT),
		.summary = "what the person is asked" },
	{ NAME("timeout"), .in = KEY_IN_APPROVAL, WHOLE(0), A_DURATION, .fallback = "0",
		INTO(step_approval, timeout_ms, SECONDS),
		.summary = "seconds until the default counts; 0: for ever" },
	{ NAME("default"), .in = KEY_IN_APPROVAL, .types = KEY_TEXT,
		.wanted = "\"deny\" or \"approve\"", .words = answer_words, .fallback = "\"deny\"",
		INTO(step_approval, fallback, WORD),
		.summary = "the answer when none was given in time" },
	{ NAME("inline"), .in = KEY_IN_APPROVAL, .types = KEY_TEXT, .wanted = "\"required\"",
		.words = inline_words,
		.summary = "a tool call is refused when its client cannot ask a person" },
};

const size_t step_key_count = ARRAY_SIZE(step_keys);

const struct key *key_find(enum key_in in, struct str name)
{
	for (size_t i = 0; i < step_key_count; i++)
		if (step_keys[i].in == in && str_eq(step_keys[i].name, name))
			return &step_keys[i];
	return NULL;
}

struct str key_nearest(enum key_in in, struct str name)
{
	struct near near = near_to(name);

	for (size_t i = 0; i < step_key_count; i++)
		if (step_keys[i].in == in)
			near_offer(&near, step_keys[i].name);
	return near_best(&near);
}

bool key_duration(const struct key *k, const json_t *value, double *ret_ms)
{
	return k->duration && json_is_string(value) && !json_is_big(value) &&
	       number_duration(json_str(value), ret_ms);
}

bool key_accepts(const struct key *k, const json_t *value)
{
	unsigned type = 0;
	double ignored;

	if (key_duration(k, value, &ignored))
		return true;

	switch (json_typeof(value)) {
	case JSON_OBJECT:
		type = KEY_MAPPING;
		break;
	case JSON_ARRAY:
		type = KEY_LIST;
		break;
	case JSON_STRING:
		type = json_is_big(value) ? KEY_INTEGER | KEY_NUMBER : KEY_TEXT;
		break;
	case JSON_INTEGER:
		type = KEY_INTEGER | KEY_NUMBER;
		break;
	case JSON_REAL:
		type = KEY_NUMBER;
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		type = KEY_BOOL;
		break;
	case JSON_NULL:
		break;
	}
	return (k->types & type) != 0;
}

bool key_strict(enum key_in in)
{
	return in != KEY_IN_RECIPE && in != KEY_IN_STAGE && in != KEY_IN_ORCHESTRATOR &&
	       in != KEY_IN_ORCHESTRATOR_CONFIG;
}

uint64_t step_timeout_ms(enum step_type type)
{
	/* As the summary of `timeout` says. */
	static const uint64_t limits[STEP_TYPE_COUNT] = {
		[STEP_BASH] = 60000, [STEP_AGENT] = 600000
	};

	return type < STEP_TYPE_COUNT ? limits[type] : 0;
}

const char *step_type_name(enum step_type type)
{
	return step_type_names[type];
}
