#include "steps/read/recipe.h"

#include "steps/read/fields.h"
#include "steps/read/names.h"
#include "steps/read/schema.h"

#include "unit.h"

#define HEAD "name: t\ndescription: d\nversion: 1.0.0\n"
#define CONTEXT HEAD "context: {l: [a], n: 1, m: {k: {j: 2}}, s: text, js: '{\"q\": 1}'}\n"

static struct step_recipe *read_given(const char *text, const json_t *given, struct report *r)
{
	return step_recipe_read(S("/dir/t.yaml"), S("t.yaml"), str_of(text), given, r);
}

static struct step_recipe *must_read(const char *text)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF shown = BUF_INIT;
	struct step_recipe *recipe = read_given(text, NULL, &r);

	report_text(&r, REPORT_ALL, &shown);
	if (!recipe)
		print_error("%s", buf_cstr(&shown));
	assert_non_null(recipe);
	return recipe;
}

/* The steps as one flow list behind CONTEXT. */
static void steps_of(struct buf *b, const char *steps)
{
	buf_printf(b, CONTEXT "steps:\n%s\n", steps);
}

static void assert_valid(const char *steps)
{
	AUTO_BUF text = BUF_INIT;

	steps_of(&text, steps);
	step_recipe_free(must_read(buf_cstr(&text)));
}

static void assert_mistake(const char *text, const char *message)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_BUF shown = BUF_INIT;
	struct step_recipe *recipe = read_given(text, NULL, &r);

	report_text(&r, REPORT_ALL, &shown);
	assert_null(recipe);
	if (r.errors == 1 && str_eq(r.issues.at[0].message, str_of(message)) &&
		(r.issues.at[0].hint.len || r.issues.at[0].actions[0].what) && r.issues.at[0].line)
		return;
	print_error("want '%s', got\n%s", message, buf_cstr(&shown));
	fail();
}

/* Exactly one mistake, with a place and advice. */
static void assert_refused(const char *steps, const char *message)
{
	AUTO_BUF text = BUF_INIT;

	steps_of(&text, steps);
	assert_mistake(buf_cstr(&text), message);
}

static void assert_warned(const char *steps, const char *message, const char *hint)
{
	AUTO_BUF text = BUF_INIT;

	steps_of(&text, steps);
	struct step_recipe *recipe = must_read(buf_cstr(&text));
	assert_int_equal(recipe->warnings.warnings, 1);
	assert_str(recipe->warnings.issues.at[0].message, message);
	if (hint)
		assert_str(recipe->warnings.issues.at[0].hint, hint);
	step_recipe_free(recipe);
}

/* -- what is read --------------------------------------------------------------------------------
 */

static void keys_become_fields(void **state UNUSED)
{
	struct step_recipe *r = must_read(CONTEXT
		"secrets: [s]\nrecursion: {max_depth: 3}\n"
		"rate_limiting: {max_concurrent_llm: 2, backoff: {multiplier: 1.5}}\n"
		"steps:\n"
		"- id: a\n  type: bash\n  command: echo {{item}}\n  foreach: '{{l}}'\n"
		"  parallel: 4\n  collect: c\n  timeout: 7\n  on_error: skip_remaining\n"
		"  retry: {backoff: linear, initial_delay: 0.5}\n  env: {B: 1, A: '{{n}}'}\n"
		"  delay_between: 20\n  max_output_size: 9\n  stdin: x\n  cwd: /\n  shell: sh\n"
		"- id: b\n  agent: x\n  prompt: p {{c}}\n  mode: M\n  depends_on: [a]\n"
		"  condition: true\n  agent_config: {k: 1}\n"
		"- id: w\n  type: wait\n  seconds: 0.25\n"
		"- id: r\n  type: recipe\n  recipe: sub.yaml\n  context: {v: '{{m.k}}'}\n"
		"  recursion: {max_total_steps: 9}\n");
	const struct step *a = r->steps[0], *b = r->steps[1];

	assert_int_equal(r->step_count, 4);
	assert_str(r->path, "/dir/t.yaml");
	assert_str(r->secrets[0], "s");
	assert_int_equal(r->recursion.max_depth, 3);
	assert_int_equal(r->recursion.max_total_steps, 100);
	assert_int_equal(r->rate_limiting.max_concurrent_llm, 2);
	assert_true(r->rate_limiting.backoff.multiplier == 1.5);
	assert_int_equal(a->type, STEP_BASH);
	assert_int_equal(a->loop, STEP_FOREACH);
	assert_str(a->bash.command.text, "echo {{item}}");
	assert_str(a->rounds.as.text, "item");
	assert_int_equal(a->rounds.parallel, 4);
	assert_int_equal(a->timeout_ms, 7000);
	assert_int_equal(a->on_error, STEP_SKIP_REMAINING);
	assert_true(a->retry.given);
	assert_int_equal(a->retry.max_attempts, 3);
	assert_int_equal(a->retry.backoff, STEP_LINEAR);
	assert_int_equal(a->retry.initial_delay_ms, 500);
	assert_int_equal(a->retry.max_delay_ms, 300000);
	assert_int_equal(a->bash.env_count, 2);
	assert_str(a->bash.env[0].name, "B");
	assert_null(a->bash.env[0].text.text.p);
	assert_str(a->bash.env[1].text.text, "{{n}}");
	assert_int_equal(a->rounds.delay_between_ms, 20);
	assert_int_equal(a->bash.max_output_size, 9);
	assert_int_equal(b->type, STEP_AGENT);
	assert_int_equal(b->timeout_ms, 600000);
	assert_int_equal(b->retry.max_attempts, 1);
	assert_str(b->condition.text, "true");
	assert_str(b->depends_on[0], "a");
	assert_int_equal(b->order, 1);
	assert_int_equal(json_object_size(b->agent.config.value), 1);
	assert_int_equal(r->steps[2]->wait_ms, 250);
	assert_int_equal(r->steps[2]->timeout_ms, 0);
	assert_int_equal(r->steps[3]->called.recursion.max_total_steps, 9);
	step_recipe_free(r);
}

static void a_bash_step_has_a_minute(void **state UNUSED)
{
	struct step_recipe *r = must_read(HEAD "steps: [{id: a, type: bash, command: x}]\n");

	assert_int_equal(r->steps[0]->timeout_ms, 60000);
	assert_int_equal(r->steps[0]->bash.max_output_size, 10485760);
	assert_int_equal(json_object_size(r->context), 0);
	step_recipe_free(r);
}

static void stages_and_bodies_are_nested(void **state UNUSED)
{
	struct step_recipe *r = must_read(CONTEXT
		"stages:\n- name: one two\n  steps:\n"
		"  - {id: loop, foreach: '{{l}}', steps: [{id: x, type: bash, command: y}]}\n"
		"  approval: {required: true, prompt: 'go on {{n}}?', timeout: 5, default: "
		"approve}\n"
		"- name: last\n  steps: [{id: z, type: bash, command: 'echo {{stage.name}}'}]\n");

	assert_int_equal(r->stage_count, 2);
	assert_int_equal(r->all_count, 3);
	assert_str(r->all[1]->id, "x");
	assert_str(r->all[1]->parent->id, "loop");
	assert_str(r->all[1]->stage->name, "one two");
	assert_true(r->stages[0]->approval.required);
	assert_int_equal(r->stages[0]->approval.timeout_ms, 5000);
	assert_int_equal(r->stages[0]->approval.fallback, STEP_APPROVE);
	assert_false(r->stages[1]->approval.required);
	step_recipe_free(r);
}

static void facts_tell_what_show_prints(void **state UNUSED)
{
	struct step_recipe *r = must_read(CONTEXT
		"stages:\n- name: one\n  steps:\n"
		"  - {id: loop, while_condition: '{{n}} < 3', update_context: {n: '{{x}}'}, "
		"steps: [{id: in, type: bash, command: y, output: x, condition: '{{s}}'}]}\n"
		"  approval: {required: true, prompt: 'ok {{m.k}}?'}\n");
	AUTO_JSON *facts = step_recipe_facts(r);
	AUTO_BUF text = BUF_INIT;

	json_write(&text, facts, 0);
	assert_str(buf_str(&text),
		"{\"steps\":[{\"id\":\"loop\",\"type\":\"agent\",\"stage\":\"one\",\"parent\":null,"
		"\"agent\":null,\"recipe\":null,\"loop\":\"while\",\"condition\":null},"
		"{\"id\":\"in\",\"type\":\"bash\",\"stage\":\"one\",\"parent\":\"loop\",\"agent\":"
		"null,"
		"\"recipe\":null,\"loop\":null,\"condition\":\"{{s}}\"}],"
		"\"stages\":[{\"name\":\"one\",\"approval\":true}],"
		"\"variables\":{\"read\":[\"m.k\",\"n\",\"s\",\"x\"],\"set\":[\"n\",\"x\"]}}");
	step_recipe_free(r);
}

/* -- the file ------------------------------------------------------------------------------------
 */

static void what_is_no_mapping_is_refused(void **state UNUSED)
{
	assert_mistake("", "the file is empty, expected a recipe: a mapping");
	assert_mistake("- a\n", "found a list, expected a recipe: a mapping");
	assert_mistake("x\n", "found a string, expected a recipe: a mapping");
}

static void the_top_has_its_rules(void **state UNUSED)
{
#define STEPS "steps: [{id: a, type: bash, command: x}]\n"
	assert_mistake("description: d\nversion: 1.0.0\n" STEPS, "`name` is missing");
	assert_mistake("name: ''\ndescription: d\nversion: 1.0.0\n" STEPS, "`name` is empty");
	assert_mistake("name: 1\ndescription: d\nversion: 1.0.0\n" STEPS,
		"`name` is a number, expected a string");
	assert_mistake("name: t\ndescription: d\nversion: 1.0\n" STEPS,
		"`version` is a number, expected a string such as \"1.0.0\"");
	assert_mistake("name: t\ndescription: d\nversion: 1.0.0+b\n" STEPS,
		"`version` is '1.0.0+b', expected three numbers such as 1.0.0");
	assert_mistake(HEAD "context: [a]\n" STEPS, "`context` is a list, expected a mapping");
	assert_mistake(HEAD "secrets: [1]\n" STEPS, "a number is in `secrets`, expected strings");
	assert_mistake(HEAD "recursion: {deep: 1}\n" STEPS, "recursion: unknown key 'deep'");
	assert_mistake(HEAD
		"rate_limiting: {backoff: {initial_delay_ms: 500, max_delay_ms: 200}}\n" STEPS,
		"rate_limiting: backoff: `max_delay_ms` (200) is less than `initial_delay_ms` "
		"(500)");
	assert_mistake(HEAD "orchestrator: {config: {min_delay_between_calls_ms: -1}}\n" STEPS,
		"orchestrator: config: `min_delay_between_calls_ms` is -1, expected at least 0");
	assert_mistake(HEAD "stages: []\n", "`stages` is empty");
	assert_mistake(HEAD "steps: {a: 1}\n", "`steps` is a mapping, expected a list of steps");
#undef STEPS
}

static void unknown_keys_at_the_top_are_a_warning(void **state UNUSED)
{
	struct step_recipe *r =
		must_read(HEAD "auhtor: me\nsteps: [{id: a, type: bash, command: x}]\n");

	assert_int_equal(r->warnings.warnings, 1);
	assert_str(r->warnings.issues.at[0].message, "the unknown key 'auhtor' is ignored");
	assert_str(r->warnings.issues.at[0].hint, "did you mean 'author'?");
	assert_int_equal(r->warnings.issues.at[0].line, 4);
	step_recipe_free(r);
}

/* -- steps ---------------------------------------------------------------------------------------
 */

static void types_have_their_keys(void **state UNUSED)
{
	assert_refused("- {id: a, type: http}",
		"step 'a': `type` is 'http', expected agent, bash, recipe or wait");
	assert_refused("- {id: a, command: x}",
		"step 'a': it has `command` but no `type`, which makes it an agent step");
	assert_refused("- {id: a, type: bash, command: x, agent: y}",
		"step 'a': a bash step cannot have `agent`");
	assert_refused("- {id: a, agent: x, prompt: y, recipe: z}",
		"step 'a': an agent step cannot have `recipe`");
	assert_refused("- {id: a, type: recipe, recipe: z, model: m}",
		"step 'a': a recipe step cannot have `model`");
	assert_refused("- {id: a, type: wait, seconds: 1, output: o}",
		"step 'a': a wait step cannot have `output`");
	assert_refused("- {id: a, type: wait, seconds: 1, env: {A: b}}",
		"step 'a': a wait step cannot have `env`");
	assert_refused("- {id: a, type: wait}", "step 'a': a wait step needs `seconds`");
	assert_refused("- {id: a, type: wait, seconds: -1}",
		"step 'a': `seconds` is -1, expected at least 0");
	assert_refused("- {id: a, type: bash, command: '  '}", "step 'a': `command` is empty");
	assert_refused("- {id: a, type: bash, command: true}",
		"step 'a': `command` is true, expected a string");
	assert_refused("- {id: a, agent: x, prompt: y, spawn_mode: thread}",
		"step 'a': `spawn_mode` is 'thread', expected \"subprocess\"");
	assert_refused(
		"- {id: a, type: bash, comand: x, command: y}", "step 'a': unknown key 'comand'");
}

static void empty_keys_of_other_types_do_not_count(void **state UNUSED)
{
	assert_valid("- {id: a, type: bash, command: x, agent: '', prompt: ~, context: {}}");
	assert_valid("- {id: a, type: wait, seconds: 0, output: '', retry: {}}");
	assert_valid("- {id: a, type: bash, command: x, output: '', foreach: ''}");
}

static void bash_keys_elsewhere_are_ignored_with_a_warning(void **state UNUSED)
{
	assert_warned("- {id: a, agent: x, prompt: y, cwd: /tmp}",
		"step 'a': `cwd` is ignored: an agent step has no use for it", "remove it");
	assert_warned("- {id: a, type: bash, command: x, collect: c}",
		"step 'a': `collect` is ignored without `foreach` or `while_condition`", NULL);
}

static void ids_are_unique_in_the_recipe(void **state UNUSED)
{
	assert_refused("- {id: a, type: bash, command: x}\n- {id: a, type: bash, command: x}",
		"step 'a': another step has this `id` already");
	assert_refused("- {type: bash, command: x}", "step number 1: `id` is missing");
	assert_refused("- {id: 1, type: bash, command: x}",
		"step number 1: `id` is a number, expected a string");
	assert_refused("- {id: a, foreach: '{{l}}', steps: [{id: b, type: bash, command: x}, "
		       "{id: b, type: bash, command: x}]}",
		"step 'b': another step has this `id` already");
}

static void names_are_letters_digits_and_underscores(void **state UNUSED)
{
	assert_true(name_of_variable(S("a_b1")));
	assert_true(name_of_variable(S("1")));
	assert_true(name_of_variable(S("_x")));
	assert_true(name_of_variable(S("gr\xc3\xb6\xc3\x9f"
				       "e")));
	assert_false(name_of_variable(S("_")));
	assert_false(name_of_variable(S("")));
	assert_false(name_of_variable(S("a-b")));
	assert_false(name_of_variable(S("a\xff")));
	assert_true(name_of_stage(S("my stage-1")));
	assert_false(name_of_stage(S(" ")));
	assert_true(name_of_version(S("10.0.1")));
	assert_false(name_of_version(S("1.0")));
	assert_false(name_of_version(S("1.0.")));
	assert_refused("- {id: a, type: bash, command: x, output: stage}",
		"step 'a': `output` is 'stage', which is reserved");
	assert_valid(
		"- {id: a, type: bash, command: 'echo {{recipe}}', foreach: '{{l}}', as: recipe}");
}

static void numbers_have_ranges(void **state UNUSED)
{
	assert_refused("- {id: a, type: bash, command: x, timeout: 0}",
		"step 'a': `timeout` is 0, expected at least 1");
	assert_refused("- {id: a, type: bash, command: x, timeout: 1.5}",
		"step 'a': `timeout` is a number, expected a whole number, or one with a unit "
		"such as \"90s\"");
	assert_refused("- {id: a, type: bash, command: x, timeout: true}",
		"step 'a': `timeout` is true, expected a whole number, or one with a unit "
		"such as \"90s\"");
	assert_refused("- {id: a, type: bash, command: x, timeout: 99999999999999999999}",
		"step 'a': `timeout` is 99999999999999999999, which is too large");
	assert_refused("- {id: a, type: bash, command: x, foreach: '{{l}}', parallel: 0}",
		"step 'a': `parallel` is 0, expected at least 1");
	assert_refused("- {id: a, type: bash, command: x, retry: {initial_delay: -1}}",
		"step 'a': retry: `initial_delay` is -1, expected at least 0");
	assert_refused("- {id: a, type: bash, command: x, retry: {tries: 1}}",
		"step 'a': retry: unknown key 'tries'");
}

static void environments_hold_scalars(void **state UNUSED)
{
	assert_valid("- {id: a, type: bash, command: x, env: {A: 1, B: true, C: ~, D: x}}");
	assert_refused("- {id: a, type: bash, command: x, env: {A: [1]}}",
		"step 'a': 'A' in `env` is a list, expected a string, a number or a boolean");
	assert_refused("- {id: a, type: bash, command: x, env: {'A=B': 1}}",
		"step 'a': 'A=B' in `env` is not a name of an environment variable");
	assert_refused(
		"- {id: a, type: bash, command: \"a\\0b\"}", "step 'a': `command` has a NUL in it");
}

static void loops_have_their_rules(void **state UNUSED)
{
	assert_refused(
		"- {id: a, type: bash, command: x, foreach: '{{l}}', while_condition: '{{n}}'}",
		"step 'a': `while_condition` cannot be combined with `foreach`");
	assert_refused("- {id: a, type: bash, command: x, foreach: '{{l}}', parallel: true, "
		       "break_when: 'x'}",
		"step 'a': `break_when` cannot be combined with `parallel`");
	assert_refused("- {id: a, type: bash, command: x, while_condition: false}",
		"step 'a': `while_condition` never changes: it has no {{reference}}");
	assert_valid(
		"- {id: a, type: bash, command: x, while_condition: True, break_when: '{{n}}'}");
	assert_valid("- {id: a, type: bash, command: x, parallel: false}");
	assert_refused("- {id: a, steps: [{id: b, type: bash, command: x}]}",
		"step 'a': `steps` needs a loop: `foreach` or `while_condition`");
	assert_refused("- {id: a, foreach: '{{l}}', steps: [{id: b, type: bash}]}",
		"step 'b': a bash step needs `command`");
	assert_refused("- {id: a, foreach: '{{l}}', steps: [{id: b, type: bash, command: x}], "
		       "while_steps: [{id: c, type: bash, command: x}]}",
		"step 'a': `steps` and `while_steps` are two spellings of one key");
	assert_refused("- {id: a, type: bash, command: x, while_condition: '{{n}}', "
		       "update_context: {a-b: 1}}",
		"step 'a': `update_context` sets 'a-b', expected letters, digits and underscores");
}

static void dependencies_stand_earlier(void **state UNUSED)
{
	assert_refused("- {id: first, type: bash, command: x}\n"
		       "- {id: b, type: bash, command: x, depends_on: [frist]}",
		"step 'b': `depends_on` has 'frist', which is not a step");
	assert_refused("- {id: b, type: bash, command: x, depends_on: first}",
		"step 'b': `depends_on` is a string, expected a list of step ids");
	assert_refused("- {id: a, type: bash, command: x, depends_on: [b]}\n"
		       "- {id: b, type: bash, command: x}",
		"step 'a': `depends_on` has 'b', which stands later");
}

static void stages_have_their_rules(void **state UNUSED)
{
#define STAGE(more) HEAD "stages: [{name: s, steps: [{id: a, type: bash, command: x}], " more "}]\n"
	assert_mistake(STAGE("approval: {required: true}"),
		"stage 's': approval: `prompt` is needed when an approval is required");
	assert_mistake(STAGE("approval: {who: me}"), "stage 's': approval: unknown key 'who'");
	assert_mistake(STAGE("approval: {default: maybe}"),
		"stage 's': approval: `default` is 'maybe', expected \"deny\" or \"approve\"");
	assert_mistake(HEAD "stages: [{name: s, steps: []}]\n", "stage 's': `steps` is empty");
	assert_mistake(HEAD "stages: [x]\n", "stage number 1 is a string, expected a mapping");
#undef STAGE
}

/* -- variables -----------------------------------------------------------------------------------
 */

static void variables_must_be_known(void **state UNUSED)
{
	assert_refused("- {id: a, type: bash, command: 'echo {{cuont}}', output: count}",
		"step 'a': `command` uses {{cuont}}, which nothing has set before");
	assert_refused("- {id: a, type: bash, command: x, cwd: '{{nope}}'}",
		"step 'a': `cwd` uses {{nope}}, which nothing has set before");
	assert_refused("- {id: a, type: recipe, recipe: x, context: {v: [{w: '{{nope}}'}]}}",
		"step 'a': `context` uses {{nope}}, which nothing has set before");
	assert_valid("- {id: a, type: bash, command: 'echo {{ nope }} {{a-b}} {{}}'}");
	assert_valid("- {id: a, type: bash, command: 'echo {{recipe.name}} {{session.id}} "
		     "{{step.id}}'}");
}

static void a_mistake_in_a_block_has_its_own_place(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(read_given(CONTEXT "steps:\n- id: a\n  type: bash\n  command: |\n"
				       "    echo one\n    echo {{nope}}\n",
		NULL, &r));
	assert_int_equal(r.issues.at[0].line, 10);
	assert_int_equal(r.issues.at[0].column, 10);
}

static void paths_are_checked_against_the_context(void **state UNUSED)
{
	assert_valid("- {id: a, type: bash, command: 'echo {{m.k.j}} {{js.q}}'}");
	assert_refused("- {id: a, type: bash, command: 'echo {{m.x}}'}",
		"step 'a': `command` uses {{m.x}}, but 'm' has no 'x'");
	assert_refused("- {id: a, type: bash, command: 'echo {{s.x}}'}",
		"step 'a': `command` uses {{s.x}}, but 's' is a string");
	/* What a step sets is not known before. */
	assert_valid("- {id: a, type: bash, command: x, output: s, parse_json: true}\n"
		     "- {id: b, agent: x, prompt: '{{s.x}}'}");
}

static void what_is_given_is_known(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;
	AUTO_JSON *given = json_pack("{s:s, s:{s:i}}", "v", "x", "s", "x", 1);
	struct step_recipe *recipe = read_given(
		CONTEXT "steps: [{id: a, type: bash, command: 'echo {{v}} {{s.x}}'}]\n", given, &r);

	assert_non_null(recipe);
	step_recipe_free(recipe);
}

static void loop_variables_end_with_their_loop(void **state UNUSED)
{
	assert_refused("- {id: a, type: bash, command: 'echo {{i}}', foreach: '{{l}}', as: i}\n"
		       "- {id: b, type: bash, command: 'echo {{i}}'}",
		"step 'b': `command` uses {{i}}, which nothing has set before");
	assert_valid("- {id: a, type: bash, command: 'echo {{n.x}}', foreach: '{{l}}', as: n}\n"
		     "- {id: b, type: bash, command: 'echo {{n}}'}");
	assert_valid(
		"- {id: a, type: bash, command: 'echo {{_loop_index}}', while_condition: '{{n}}'}");
	assert_valid("- {id: a, foreach: '{{l}}', steps: [{id: b, type: bash, command: '{{any}}', "
		     "output: o}]}\n- {id: c, agent: x, prompt: '{{o}}'}");
}

static void output_in_shell_text_is_warned_about(void **state UNUSED)
{
	static const char warning[] =
		"step 'b': `command` pastes what step 'a' printed into shell text";

	assert_warned("- {id: a, agent: x, prompt: y, output: answer}\n"
		      "- {id: b, type: bash, command: 'echo {{answer}} {{answer}}'}",
		warning,
		"pass it as data: env: {ANSWER: \"{{answer}}\"}, and \"$ANSWER\" in the command");
	assert_warned("- {id: a, type: bash, command: x, output: o, output_exit_code: rc}\n"
		      "- {id: b, type: bash, command: 'echo {{item.x}} {{rc}}', foreach: '{{o}}'}",
		warning, NULL);
	assert_valid("- {id: a, agent: x, prompt: y, output: o}\n"
		     "- {id: b, type: bash, command: 'echo $O', env: {O: '{{o}}'}}");
}

static void other_slips_in_texts_are_warned_about(void **state UNUSED)
{
	assert_warned("- {id: a, type: bash, command: 'echo {{ s }}'}",
		"step 'a': `command` has spaces inside the braces: the text stays as it is",
		"write {{s}}");
	assert_warned("- {id: a, type: bash, command: x, condition: '{{nope}} == 1'}",
		"step 'a': `condition` uses {{nope}}, which nothing has set before", NULL);
}

static void every_mistake_is_told_in_one_go(void **state UNUSED)
{
	AUTO_REPORT r = REPORT_INIT;

	assert_null(
		read_given("naem: t\ndescription: d\nversion: 2\nsteps:\n- {id: a, type: bsah}\n"
			   "- {id: a, type: bash, command: '{{x}}', timeout: no, "
			   "depends_on: [z], on_error: abort}\n",
			NULL, &r));
	assert_int_equal(r.errors, 8);
	assert_int_equal(r.warnings, 1);
}

/* -- the table -----------------------------------------------------------------------------------
 */

static void the_table_is_complete(void **state UNUSED)
{
	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];

		assert_non_null(k->summary);
		assert_true(k->types == KEY_ANY || k->wanted);
		assert_ptr_equal(key_find(k->in, k->name), k);
		if (!k->fallback)
			continue;
		AUTO_JSON *value = json_loads(k->fallback, JSON_DECODE_ANY, NULL);
		assert_non_null(value);
		assert_true(key_accepts(k, value));
	}
}

static void the_schema_has_every_key(void **state UNUSED)
{
	AUTO_JSON *schema = steps_schema();
	const json_t *step = json_object_get(json_object_get(schema, "$defs"), "step");

	for (size_t i = 0; i < step_key_count; i++) {
		const struct key *k = &step_keys[i];
		const json_t *of = k->in == KEY_IN_RECIPE ? schema
				   : k->in == KEY_IN_STEP ? step
							  : NULL;

		if (of)
			assert_non_null(
				json_object_get(json_object_get(of, "properties"), k->name.p));
	}
	assert_true(json_is_false(json_object_get(step, "additionalProperties")));
	assert_null(json_object_get(schema, "additionalProperties"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys_become_fields),
		cmocka_unit_test(a_bash_step_has_a_minute),
		cmocka_unit_test(stages_and_bodies_are_nested),
		cmocka_unit_test(facts_tell_what_show_prints),
		cmocka_unit_test(what_is_no_mapping_is_refused),
		cmocka_unit_test(the_top_has_its_rules),
		cmocka_unit_test(unknown_keys_at_the_top_are_a_warning),
		cmocka_unit_test(types_have_their_keys),
		cmocka_unit_test(empty_keys_of_other_types_do_not_count),
		cmocka_unit_test(bash_keys_elsewhere_are_ignored_with_a_warning),
		cmocka_unit_test(ids_are_unique_in_the_recipe),
		cmocka_unit_test(names_are_letters_digits_and_underscores),
		cmocka_unit_test(numbers_have_ranges),
		cmocka_unit_test(environments_hold_scalars),
		cmocka_unit_test(loops_have_their_rules),
		cmocka_unit_test(dependencies_stand_earlier),
		cmocka_unit_test(stages_have_their_rules),
		cmocka_unit_test(variables_must_be_known),
		cmocka_unit_test(a_mistake_in_a_block_has_its_own_place),
		cmocka_unit_test(paths_are_checked_against_the_context),
		cmocka_unit_test(what_is_given_is_known),
		cmocka_unit_test(loop_variables_end_with_their_loop),
		cmocka_unit_test(output_in_shell_text_is_warned_about),
		cmocka_unit_test(other_slips_in_texts_are_warned_about),
		cmocka_unit_test(every_mistake_is_told_in_one_go),
		cmocka_unit_test(the_table_is_complete),
		cmocka_unit_test(the_schema_has_every_key),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("step recipe", tests, NULL, NULL);
}
