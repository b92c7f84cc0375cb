#include "steps/compile/compile.h"

#include <stdlib.h>

#include "base/path.h"
#include "steps/compile/sub-recipe.h"
#include "steps/language/text.h"
#include "steps/read/keys.h"

struct compile {
	struct graph *graph;
	const struct step_recipe *recipe;
	const struct step_ops *ops;
};

static struct node *new_node(struct compile *c, enum node_kind kind, const struct place *place)
{
	struct node *n = arena_new(&c->graph->arena, struct node);
	struct step_node *s = arena_new(&c->graph->arena, struct step_node);

	n->kind = kind;
	n->place = place;
	n->runs = true;
	n->retry.value = 1;
	n->step = s;
	s->ops = c->ops;
	return n;
}

/* The part that compiling fills; constant ever after. */
static struct step_node *own(struct node *n)
{
	return (struct step_node *)n->step;
}

static const struct text *text_of(struct compile *c, const struct recipe_text *t)
{
	return t->text.p ? step_text(&c->graph->arena, t->text, t->place) : NULL;
}

static json_t *kept(struct compile *c, json_t *value)
{
	json_array_append_new(c->graph->made, value);
	return value;
}

/* -- one step ------------------------------------------------------------------------------------
 */

static void set_failure(struct node *n, enum step_on_error on_error)
{
	own(n)->on_error = (enum step_failure)on_error;
	n->failure = on_error == STEP_CONTINUE ? FAILURE_CONTINUE : FAILURE_BRANCH;
	n->failure_stated = on_error == STEP_CONTINUE;
}

/* Whether a loop around it wants what it comes to. */
static bool wanted_by_loop(const struct step *s)
{
	for (; s; s = s->parent)
		if (s->loop != STEP_ONCE && (s->rounds.collect.text.len || s->output.text.len))
			return true;
	return false;
}

static const json_t *metadata(struct compile *c, const struct step *s)
{
	json_t *value = json_object();

	json_object_set_new(value, "id", json_from_str(s->id));
	json_object_set_new(value, "index", json_integer((json_int_t)s->index));
	if (s->stage)
		json_object_set_new(value, "stage", json_from_str(s->stage->name));
	return kept(c, value);
}

static void name_step(struct compile *c, struct node *n, const struct step *s)
{
	n->label = s->id;
	own(n)->id = s->id;
	own(n)->data = s;
	n->needs = s->needs;
	n->runs_on = s->runs_on;
	/* In the body of a loop `step` is the loop. */
	own(n)->metadata = s->parent ? NULL : metadata(c, s);
}

static struct str line_of(const struct step *s)
{
	switch (s->type) {
	case STEP_BASH:
		return s->bash.command.text;
	case STEP_AGENT:
		return s->agent.prompt.text;
	case STEP_RECIPE:
		return s->called.recipe.text;
	case STEP_WAIT:
	case STEP_TYPE_COUNT:
		break;
	}
	return S("wait");
}

static enum node_kind kind_of(enum step_type type)
{
	return type == STEP_RECIPE ? NODE_CALL : type == STEP_WAIT ? NODE_WAIT : NODE_COMMAND;
}

/* What the step does, once. Inside a loop of its own the loop has the condition, the variables and
 * the say about failures. */
static struct node *work_node(struct compile *c, const struct step *s, bool body)
{
	struct node *n = new_node(c, kind_of(s->type), s->place);
	struct step_node *o = own(n);

	name_step(c, n, s);
	n->line = line_of(s);
	n->timeout_ms.value = s->timeout_ms;
	o->usual_timeout_ms = step_timeout_ms(s->type);
	if (s->retry.given) {
		n->retry.value = (uint64_t)s->retry.max_attempts;
		o->pause.ms = s->retry.initial_delay_ms;
		o->pause.max_ms = s->retry.max_delay_ms;
		o->pause.doubles = s->retry.backoff == STEP_EXPONENTIAL;
	}
	o->agent = s->type == STEP_AGENT;
	o->agent_name = s->agent.name.text;
	o->stream = s->bash.stream;
	o->max_output = (uint64_t)s->bash.max_output_size;
	o->wait_ms = s->wait_ms;
	o->output_stderr = s->bash.output_stderr.text;
	o->output_exit_code = s->bash.output_exit_code.text;
	o->keeps_output = s->output.text.len || s->parse_json || wanted_by_loop(s);
	if (!body) {
		n->when = text_of(c, &s->condition);
		o->output = s->output.text;
		set_failure(n, s->on_error);
	}
	return n;
}

static struct node *sequence(
	struct compile *c, struct step *const *steps, size_t count, const struct place *place);

static void set_updates(struct compile *c, struct step_node *o, const struct step *s)
{
	struct step_update *updates =
		arena_array(&c->graph->arena, struct step_update, s->rounds.update_context_count);

	for (size_t i = 0; i < s->rounds.update_context_count; i++) {
		const struct recipe_pair *p = &s->rounds.update_context[i];

		updates[i] = (struct step_update){
			.name = p->name, .text = text_of(c, &p->text), .value = (json_t *)p->value
		};
	}
	o->loop.updates = updates;
	o->loop.update_count = s->rounds.update_context_count;
}

static void set_children(struct compile *c, struct node *n, struct node **children, size_t count)
{
	struct node **all = arena_array(&c->graph->arena, struct node *, count);

	for (size_t i = 0; i < count; i++) {
		all[i] = children[i];
		all[i]->parent = n;
	}
	n->children = (const struct node *const *)all;
	n->child_count = count;
}

static uint64_t usual_rounds(bool each)
{
	struct step usual = { 0 };

	keys_default(KEY_IN_STEP, &usual);
	return (uint64_t)(each ? usual.rounds.max_iterations : usual.rounds.max_while_iterations);
}

static struct node *loop_node(struct compile *c, const struct step *s)
{
	bool each = s->loop == STEP_FOREACH;
	struct node *n = new_node(c, each ? NODE_EACH : NODE_WHILE, s->place);
	struct step_node *o = own(n);
	struct node *body = s->rounds.step_count
				    ? sequence(c, s->rounds.steps, s->rounds.step_count, s->place)
				    : work_node(c, s, true);

	name_step(c, n, s);
	n->line = line_of(s);
	n->when = text_of(c, &s->condition);
	set_failure(n, s->on_error);
	set_children(c, n, &body, 1);
	o->output = s->output.text;
	o->loop.collect = s->rounds.collect.text;
	o->loop.as = s->rounds.as.text;
	o->loop.list = text_of(c, &s->rounds.foreach);
	o->loop.condition = text_of(c, &s->rounds.while_condition);
	o->loop.break_when = text_of(c, &s->rounds.break_when);
	o->loop.max_rounds =
		(uint64_t)(each ? s->rounds.max_iterations : s->rounds.max_while_iterations);
	o->loop.usual_rounds = usual_rounds(each);
	o->loop.delay_ms = (uint64_t)s->rounds.delay_between_ms;
	o->loop.checkpoints = s->rounds.checkpoint_iterations;
	o->loop.width = s->rounds.parallel;
	n->each_parallel = s->rounds.parallel != 0;
	set_updates(c, o, s);
	return n;
}

static struct node *step_node(struct compile *c, const struct step *s)
{
	struct node *n = s->loop == STEP_ONCE ? work_node(c, s, false) : loop_node(c, s);

	own(n)->listed = !s->parent;
	return n;
}

/* -- the whole -----------------------------------------------------------------------------------
 */

static struct node *sequence(
	struct compile *c, struct step *const *steps, size_t count, const struct place *place)
{
	struct node *n = new_node(c, NODE_SEQUENCE, place);
	struct node **children = mem_alloc(sizeof(*children) * (count + 1));

	for (size_t i = 0; i < count; i++)
		children[i] = step_node(c, steps[i]);
	set_children(c, n, children, count);
	free(children);
	return n;
}

static struct node *gate_node(struct compile *c, const struct step_stage *stage)
{
	struct node *n = new_node(c, NODE_GATE, stage->place);
	struct step_node *o = own(n);

	n->label = stage->name;
	n->line = stage->approval.prompt.text;
	o->stage.name = stage->name;
	o->gate.prompt = text_of(c, &stage->approval.prompt);
	o->gate.timeout_ms = stage->approval.timeout_ms;
	o->gate.approves = stage->approval.fallback == STEP_APPROVE;
	return n;
}

static struct node *stage_node(struct compile *c, const struct step_stage *stage)
{
	struct node *n = new_node(c, NODE_SEQUENCE, stage->place);
	size_t count = stage->step_count + stage->approval.required;
	struct node **children = mem_alloc(sizeof(*children) * count);

	for (size_t i = 0; i < stage->step_count; i++)
		children[i] = step_node(c, stage->steps[i]);
	if (stage->approval.required)
		children[stage->step_count] = gate_node(c, stage);
	set_children(c, n, children, count);
	free(children);
	n->label = stage->name;
	own(n)->stage.name = stage->name;
	own(n)->stage.value = kept(c, json_pack("{s:o, s:i}", "name", json_from_str(stage->name),
					      "index", (int)stage->index));
	return n;
}

static struct node *root_node(struct compile *c)
{
	const struct step_recipe *r = c->recipe;

	if (!r->stage_count)
		return sequence(c, r->steps, r->step_count, &r->root);
	struct node *n = new_node(c, NODE_SEQUENCE, &r->root);
	struct node **children = mem_alloc(sizeof(*children) * r->stage_count);
	for (size_t i = 0; i < r->stage_count; i++)
		children[i] = stage_node(c, r->stages[i]);
	set_children(c, n, children, r->stage_count);
	free(children);
	return n;
}

static void set_pacing(struct step_graph *g, const struct step_rate_limiting *rate)
{
	if (!rate->given)
		return;
	g->max_concurrent = (uint64_t)rate->max_concurrent_llm;
	g->min_delay_ms = (uint64_t)rate->min_delay_ms;
	g->backoff = rate->backoff.enabled;
	g->backoff_initial_ms = (uint64_t)rate->backoff.initial_delay_ms;
	g->backoff_max_ms = (uint64_t)rate->backoff.max_delay_ms;
	g->backoff_factor = rate->backoff.multiplier;
	g->backoff_reset = (uint64_t)rate->backoff.reset_after_success;
}

/* What a graph of steps keeps alive. */
struct kept_alive {
	struct step_recipe *recipe;
	void *more;
	void (*more_free)(void *more);
};

static void let_go(void *data)
{
	struct kept_alive *k = data;

	step_recipe_free(k->recipe);
	if (k->more_free)
		k->more_free(k->more);
	free(k);
}

/* Also which steps name a recipe in a way that only roux has. */
static void note_calls(struct graph *g, const struct step_recipe *recipe)
{
	for (size_t i = 0; i < recipe->all_count; i++) {
		const struct step *s = recipe->all[i];

		g->steps->calls |= s->type == STEP_RECIPE;
		if (s->type == STEP_RECIPE && sub_recipe_is_extension(s->called.recipe.text))
			report_note(&g->extensions,
				place_where_for(&g->extensions, s->called.recipe.place),
				"step '%.*s': %s is an extension of roux", STR(s->id),
				sub_recipe_is_template(s->called.recipe.text)
					? "the call of a template recipe"
					: "the call of a recipe by its name");
	}
}

const struct step_recipe *step_graph_recipe(const struct graph *g)
{
	return ((const struct kept_alive *)g->keep)->recipe;
}

struct graph *step_graph(struct step_recipe *recipe, const struct step_ops *ops, void *keep,
	void (*keep_free)(void *keep))
{
	struct graph *g = mem_new(struct graph);
	struct kept_alive *k = mem_new(struct kept_alive);
	struct compile c = { g, recipe, ops };
	struct step_graph *s = g->steps = arena_new(&g->arena, struct step_graph);

	g->references = 1;
	*k = (struct kept_alive){ recipe, keep, keep_free };
	g->keep = k;
	g->keep_free = let_go;
	g->made = json_array();
	s->ops = ops;
	s->body = json_object_get(recipe->doc.root, recipe->stage_count ? "stages" : "steps");
	s->path = recipe->path;
	s->dir = arena_str(&g->arena, path_dir(recipe->path));
	s->context = json_deep_copy(recipe->context);
	s->metadata = json_pack("{s:o, s:o, s:o}", "name", json_from_str(recipe->name.text),
		"version", json_from_str(recipe->version.text), "description",
		json_from_str(recipe->description.text));
	s->required = recipe->required;
	s->required_count = recipe->required_count;
	s->max_depth = (uint64_t)recipe->recursion.max_depth;
	s->max_agents = (uint64_t)recipe->recursion.max_total_steps;
	set_pacing(s, &recipe->rate_limiting);
	g->root = root_node(&c);
	report_move(&g->warnings, &recipe->warnings);
	report_move(&g->extensions, &recipe->extensions);
	note_calls(g, recipe);
	return g;
}
