#include "app/catalog/plan-steps.h"

#include "app/agents/step-agents.h"
#include "app/catalog/check-steps.h"
#include "app/catalog/secrets.h"
#include "app/context/run-values.h"
#include "graph/step.h"
#include "steps/compile/compile.h"
#include "steps/compile/ops.h"
#include "steps/compile/sub-recipe.h"
#include "steps/language/condition.h"
#include "steps/language/reference.h"
#include "steps/language/text.h"
#include "steps/language/value.h"

enum {
	VISITS_MAX = 1 << 20, /* loops in loops of recipes that call each other have to end */
};

struct planning {
	const struct planned_host *host;
	walk_fn *visit;
	void *data;
	struct arena scratch;
	struct buf path;
	struct buf note; /* about the nodes around */
	struct step_agents *agents;
	const struct walk_call *within;
	size_t visits;
	bool stopped;
};

/* One recipe: the first, or one that is called. */
struct planned_recipe {
	struct planning *p;
	const struct step_graph *graph;
	json_t *vars; /* what is known; names whose value only a run can tell are missing */
	uint64_t depth, max_depth;
};

static void plan_node(struct planned_recipe *r, const struct node *n);

/* -- what is known -------------------------------------------------------------------------------
 */

/* Replaces the references that are known. False: not all were. */
static bool partly(struct str text, const json_t *vars, struct buf *b)
{
	struct reference ref;
	size_t at = 0, from = 0;
	bool all = true;

	while (reference_next(text, &at, &ref)) {
		AUTO_REPORT ignored = REPORT_INIT;
		json_t *made = NULL;
		const json_t *value = reference_find(&ref, vars, &made, NULL, &ignored);

		buf_add(b, str_sub(text, from, ref.offset - from));
		if (value)
			step_value_render(b, value);
		else
			buf_add(b, str_sub(text, ref.offset, ref.length));
		all &= value != NULL;
		json_decref(made);
		from = ref.offset + ref.length;
	}
	buf_add(b, str_from(text, from));
	return all;
}

/* Its id and when it began are known when it runs. */
static void set_session(const struct planning *p, json_t *vars)
{
	json_object_set_new(
		vars, "session", json_pack("{s:s}", "project", p->host->cwd ? p->host->cwd : "."));
}

static void forget_name(json_t *vars, struct str name)
{
	if (name.len)
		json_object_deln(vars, name.p, name.len);
}

/* What the step and those in its body set is not known from here on. */
static void forget(json_t *vars, const struct step *s)
{
	forget_name(vars, s->output.text);
	forget_name(vars, s->rounds.collect.text);
	forget_name(vars, s->bash.output_stderr.text);
	forget_name(vars, s->bash.output_exit_code.text);
	for (size_t i = 0; i < s->rounds.update_context_count; i++)
		forget_name(vars, s->rounds.update_context[i].name);
	for (size_t i = 0; i < s->rounds.step_count; i++)
		forget(vars, s->rounds.steps[i]);
}

/* Whether a condition is known to be false. *open: it is not known at all. */
static bool surely_false(const struct text *condition, const json_t *vars, bool *open)
{
	AUTO_REPORT ignored = REPORT_INIT;

	*open = false;
	if (!condition)
		return false;
	enum condition c = condition_decide(condition->raw, NULL, vars, &ignored);
	*open = c == CONDITION_UNDEFINED || c == CONDITION_BAD;
	return c == CONDITION_FALSE;
}

/* -- telling -------------------------------------------------------------------------------------
 */

/* False: it has looked at enough. */
static bool may_visit(struct planning *p)
{
	size_t most = p->host->visits ? MIN(p->host->visits, (size_t)VISITS_MAX) : VISITS_MAX;

	p->stopped |= ++p->visits > most;
	return !p->stopped;
}

static void tell(struct planning *p, struct walk_leaf *leaf)
{
	leaf->path = buf_str(&p->path);
	leaf->note = buf_str(&p->note);
	leaf->within = p->within;
	if (may_visit(p))
		p->stopped = !p->visit(p->data, leaf);
}

/* Adds to the note; what it was before is the result. */
static size_t add_note(struct planning *p, const char *what, struct str text)
{
	size_t before = p->note.len;

	buf_printf(&p->note, "%s%s%s%.*s", before ? "; " : "", what, *what && text.len ? " " : "",
		STR(text));
	return before;
}

static void tell_note(
	struct planned_recipe *r, const struct node *n, const char *what, struct str text)
{
	struct planning *p = r->p;
	size_t before = add_note(p, what, text);

	tell(p, &(struct walk_leaf){ .node = n });
	buf_truncate(&p->note, before);
}

static const char *directory(struct planned_recipe *r, const struct step *s)
{
	AUTO_BUF dir = BUF_INIT;
	const char *project = r->p->host->cwd ? r->p->host->cwd : ".";

	if (!s->bash.cwd.text.p)
		return NULL;
	(void)partly(s->bash.cwd.text, r->vars, &dir);
	return dir.len && dir.p[0] == '/'
		       ? arena_str(&r->p->scratch, buf_str(&dir)).p
		       : arena_printf(&r->p->scratch, "%s/%s", project, buf_cstr(&dir)).p;
}

static void tell_command(
	struct planned_recipe *r, const struct node *n, const char *const *argv, size_t argc)
{
	tell(r->p, &(struct walk_leaf){ .node = n,
			   .argv = argv,
			   .argc = argc,
			   .timeout_ms = n->timeout_ms.value,
			   .cwd = directory(r, step_of(n)) });
}

static void plan_bash(struct planned_recipe *r, const struct node *n)
{
	const struct step *s = step_of(n);
	struct arena *a = &r->p->scratch;
	AUTO_BUF text = BUF_INIT;

	(void)partly(s->bash.command.text, r->vars, &text);
	const char *argv[] = { s->bash.shell.text.p ? arena_str(a, s->bash.shell.text).p
						    : "/bin/bash",
		"-c", arena_str(a, buf_str(&text)).p, NULL };
	tell_command(r, n, argv, 3);
}

/* An agent that is not configured is shown by its name and what it is asked. */
static void plan_agent(struct planned_recipe *r, const struct node *n)
{
	const struct step *s = step_of(n);
	struct arena *a = &r->p->scratch;
	struct step_command made = { 0 };
	AUTO_BUF prompt = BUF_INIT;

	if (s->agent.mode.text.len)
		buf_printf(&prompt, "MODE: %.*s\n\n", STR(s->agent.mode.text));
	(void)partly(s->agent.prompt.text, r->vars, &prompt);
	if (step_agent_plan(r->p->agents, s, buf_str(&prompt), &made, a)) {
		tell_command(r, n, made.argv, made.argc);
	} else {
		const char *argv[] = { arena_str(a, s->agent.name.text).p,
			arena_str(a, buf_str(&prompt)).p, NULL };
		size_t before = add_note(r->p, "an agent", S(""));

		tell_command(r, n, argv, 2);
		buf_truncate(&r->p->note, before);
	}
	buf_done(&made.in);
	buf_done(&made.shown);
	buf_done(&made.remove);
	buf_done(&made.why);
}

/* -- loops ---------------------------------------------------------------------------------------
 */

/* The body with `r` and its index behind the path. */
static void plan_round(struct planned_recipe *r, const struct node *body, size_t index)
{
	struct planning *p = r->p;
	size_t len = p->path.len;

	buf_printf(&p->path, "%sr%zu", len ? "." : "", index);
	plan_node(r, body);
	buf_truncate(&p->path, len);
}

static void plan_each(struct planned_recipe *r, const struct node *n)
{
	const struct step_node *s = n->step;
	AUTO_REPORT ignored = REPORT_INIT;
	struct scope scope = { .vars = r->vars };
	AUTO_JSON *list = s->ops->list(n, &scope, &ignored);
	AUTO_JSON *saved = json_incref(json_object_getn(r->vars, s->loop.as.p, s->loop.as.len));
	json_t *item;
	size_t i;

	forget(r->vars, step_of(n));
	if (!list) {
		size_t before = add_note(r->p, "for each of", s->loop.list->raw);

		forget_name(r->vars, s->loop.as);
		plan_round(r, n->children[0], 0);
		buf_truncate(&r->p->note, before);
	}
	json_array_foreach(list, i, item)
	{
		if (r->p->stopped)
			break;
		json_object_setn_nocheck(r->vars, s->loop.as.p, s->loop.as.len, item);
		plan_round(r, n->children[0], i);
		forget(r->vars, step_of(n));
	}
	if (saved)
		json_object_setn_nocheck(r->vars, s->loop.as.p, s->loop.as.len, saved);
	else
		forget_name(r->vars, s->loop.as);
}

static void plan_while(struct planned_recipe *r, const struct node *n)
{
	bool open;

	if (surely_false(n->step->loop.condition, r->vars, &open))
		return;
	forget(r->vars, step_of(n));
	size_t before = add_note(
		r->p, "while", n->step->loop.condition ? n->step->loop.condition->raw : S("true"));
	plan_round(r, n->children[0], 0);
	buf_truncate(&r->p->note, before);
}

/* -- other recipes -------------------------------------------------------------------------------
 */

/* A copy of a value with its references replaced; NULL when one is not known. */
static json_t *known_value(const json_t *value, const json_t *vars)
{
	json_t *all, *item, *one;
	const char *key;
	size_t i;

	if (json_is_string(value)) {
		struct arena a = ARENA_INIT;
		AUTO_REPORT ignored = REPORT_INIT;
		const struct text *t = step_text(&a, json_str(value), NULL);
		struct scope scope = { .vars = (json_t *)vars };

		one = t->ops->value(t, &scope, &ignored);
		arena_done(&a);
		return one;
	}
	if (!json_is_object(value) && !json_is_array(value))
		return json_deep_copy(value);
	all = json_is_object(value) ? json_object() : json_array();
	bool ok = true;
	json_object_foreach((json_t *)value, key, item)
	{
		one = known_value(item, vars);
		ok &= one != NULL;
		json_object_set_new_nocheck(all, key, one);
	}
	json_array_foreach(value, i, item)
	{
		one = known_value(item, vars);
		ok &= one != NULL;
		json_array_append_new(all, one);
	}
	if (ok)
		return all;
	json_decref(all);
	return NULL;
}

static json_t *called_vars(
	const struct planned_recipe *r, const struct step *s, const struct graph *g)
{
	json_t *vars = json_deep_copy(g->steps->context), *value;
	const char *name;

	json_object_foreach((json_t *)s->called.context.value, name, value)
	{
		json_t *known = known_value(value, r->vars);

		if (known)
			json_object_set_new_nocheck(vars, name, known);
		else
			json_object_del(vars, name);
	}
	json_object_set(vars, "recipe", g->steps->metadata);
	json_object_set(vars, "session", json_object_get(r->vars, "session"));
	return vars;
}

/* What a called recipe declares holds for what it is given. */
static void hide_secrets(const struct planning *p, const struct graph *g, const json_t *vars)
{
	const struct step_recipe *recipe = step_graph_recipe(g);

	for (size_t i = 0; p->host->secrets && i < recipe->secret_count; i++)
		mask_add(p->host->secrets,
			json_object_getn(vars, recipe->secrets[i].p, recipe->secrets[i].len));
}

/* The steps of a recipe that a node of a template imports, below the path of the node. */
static void plan_import(
	struct planning *p, const struct walk_leaf *call, uint64_t depth, uint64_t max_depth)
{
	const struct graph *g = call->node->call;
	struct planned_recipe r = { .p = p,
		.graph = g->steps,
		.vars = json_deep_copy(g->steps->context),
		.depth = depth + 1,
		.max_depth = depth ? max_depth : g->steps->max_depth };
	size_t len = p->path.len;

	if (depth && r.depth > r.max_depth) {
		tell_note(&r, call->node, "the recipe", call->node->line);
		json_decref(r.vars);
		return;
	}
	json_object_update(r.vars, (json_t *)call->passed);
	hide_secrets(p, g, r.vars);
	json_object_set(r.vars, "recipe", g->steps->metadata);
	set_session(p, r.vars);
	buf_printf(&p->path, "%s0", len ? "." : "");
	struct walk_call within = { call->node, p->within };
	p->within = &within;
	plan_node(&r, g->root);
	p->within = within.up;
	buf_truncate(&p->path, len);
	json_decref(r.vars);
}

/* The commands of a template recipe that a step calls, below its path. */
struct planned_template {
	const struct planned_recipe *r; /* that calls it */
	const struct node *root;
};

static bool visit_called(void *data, const struct walk_leaf *leaf)
{
	struct planned_template *t = data;
	struct planning *p = t->r->p;
	size_t len = p->path.len;
	struct walk_leaf there = *leaf;

	buf_printf(&p->path, "%s0", len ? "." : "");
	if (leaf->node != t->root)
		buf_printf(&p->path, ".%.*s", STR(leaf->path));
	there.path = buf_str(&p->path);
	there.note = buf_str(&p->note);
	there.within = p->within;
	if (leaf->passed)
		plan_import(p, leaf, t->r->depth, t->r->max_depth);
	else
		p->stopped = !p->visit(p->data, &there);
	buf_truncate(&p->path, len);
	return !p->stopped;
}

static json_t *known_context(const struct planned_recipe *r, const struct step *s)
{
	json_t *values = json_object(), *value;
	const char *name;

	json_object_foreach((json_t *)s->called.context.value, name, value)
	{
		json_t *known = known_value(value, r->vars);

		json_object_set_new_nocheck(values, name, known ? known : json_deep_copy(value));
	}
	return values;
}

/* False: it is not one, or what it would run is not known. */
static bool plan_template(
	struct planned_recipe *r, const struct node *n, const struct sub_recipe *sub)
{
	AUTO_BUF path = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;

	if (!sub_recipe_path(sub, &path, &ignored) || !sub_recipe_is_template(buf_str(&path)))
		return false;
	struct recipe *recipe =
		recipe_open_file(r->p->host->dirs, buf_str(&path), LAYER_ADHOC, &ignored);
	AUTO_JSON *values = known_context(r, step_of(n));
	run_add_unknown_values(values);
	struct plan *plan = recipe ? plan_new(recipe->graph, values, &ignored) : NULL;
	struct planned_template t = { r, plan ? plan->graph->root : NULL };
	struct walk_call within = { n, r->p->within };
	r->p->within = &within;
	if (plan && r->p->host->secrets) {
		AUTO_JSON *names = recipe_secrets(recipe);

		secrets_collect(r->p->host->secrets, names, values, recipe, plan);
	}
	if (plan)
		(void)plan_walk(plan, visit_called, &t, &ignored);
	else
		tell_note(r, n, "the recipe", sub->word);
	r->p->within = within.up;
	plan_unref(plan);
	recipe_free(recipe);
	return true;
}

static void plan_call(struct planned_recipe *r, const struct node *n)
{
	const struct step *s = step_of(n);
	struct planning *p = r->p;
	AUTO_BUF word = BUF_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	size_t len = p->path.len;
	bool known = partly(s->called.recipe.text, r->vars, &word);
	uint64_t max_depth =
		s->called.recursion.given ? (uint64_t)s->called.recursion.max_depth : r->max_depth;
	struct step_recipe *called = NULL;

	const struct sub_recipe sub = { .step = s,
		.word = buf_str(&word),
		.dir = r->graph->dir,
		.collections = p->host->collections,
		.find = p->host->dirs ? find_called : NULL,
		.find_data = (void *)p->host->dirs };
	if (known && plan_template(r, n, &sub))
		return;
	if (known && r->depth < max_depth)
		called = sub_recipe_open(&sub, S(""), &ignored);
	if (!called) {
		tell_note(r, n, "the recipe", buf_str(&word));
		return;
	}
	struct graph *g = step_graph(called, &step_ops, NULL, NULL);
	struct planned_recipe inner = { .p = p,
		.graph = g->steps,
		.vars = called_vars(r, s, g),
		.depth = r->depth + 1,
		.max_depth = max_depth };
	struct walk_call within = { n, p->within };
	hide_secrets(p, g, inner.vars);
	p->within = &within;
	buf_printf(&p->path, "%s0", len ? "." : "");
	plan_node(&inner, g->root);
	p->within = within.up;
	buf_truncate(&p->path, len);
	json_decref(inner.vars);
	graph_unref(g);
}

/* -- what an earlier run has set ----------------------------------------------------------------
 */

/* The result shows no secret: what stands for one is not what the step has printed. */
static bool is_masked(const json_t *value)
{
	AUTO_BUF text = BUF_INIT;

	json_write(&text, value, 0);
	return str_contains(buf_str(&text), S(MASKED));
}

static void remember_name(struct planned_recipe *r, struct str name)
{
	json_t *value = json_object_getn(r->p->host->context, name.p, name.len);

	if (!name.len || !value)
		return;
	if (is_masked(value))
		forget_name(r->vars, name);
	else
		json_object_setn_nocheck(r->vars, name.p, name.len, value);
}

/* Of the recipe that was started: others have variables of their own. */
static bool remember(struct planned_recipe *r, const struct node *n)
{
	const struct planned_host *host = r->p->host;
	const struct step *s = step_of(n);

	if (!host->known || r->depth != 1 || !host->known(host->known_data, buf_str(&r->p->path)))
		return false;
	remember_name(r, s->output.text);
	remember_name(r, s->rounds.collect.text);
	remember_name(r, s->bash.output_stderr.text);
	remember_name(r, s->bash.output_exit_code.text);
	return true;
}

/* -- the tree ------------------------------------------------------------------------------------
 */

static void plan_children(struct planned_recipe *r, const struct node *n)
{
	struct planning *p = r->p;
	size_t len = p->path.len;

	if (n->step->stage.value)
		json_object_set(r->vars, "stage", (json_t *)n->step->stage.value);
	for (size_t i = 0; i < n->child_count && !p->stopped; i++) {
		buf_printf(&p->path, "%s%zu", len ? "." : "", i);
		plan_node(r, n->children[i]);
		buf_truncate(&p->path, len);
	}
}

static void plan_work(struct planned_recipe *r, const struct node *n)
{
	AUTO_BUF text = BUF_INIT;

	switch (n->kind) {
	case NODE_COMMAND:
		(n->step->agent ? plan_agent : plan_bash)(r, n);
		break;
	case NODE_EACH:
		plan_each(r, n);
		break;
	case NODE_WHILE:
		plan_while(r, n);
		break;
	case NODE_CALL:
		plan_call(r, n);
		break;
	case NODE_WAIT:
		buf_printf(&text, "%g s", (double)n->step->wait_ms / 1000);
		tell_note(r, n, "wait", buf_str(&text));
		break;
	case NODE_GATE:
		(void)partly(n->line, r->vars, &text);
		tell_note(r, n, "approval:", buf_str(&text));
		break;
	case NODE_SEQUENCE:
	case NODE_PARALLEL:
		plan_children(r, n);
		break;
	}
}

static void plan_node(struct planned_recipe *r, const struct node *n)
{
	struct planning *p = r->p;
	size_t before = p->note.len;
	bool open;

	if (!may_visit(p) || surely_false(n->when, r->vars, &open))
		return;
	if (open)
		(void)add_note(p, "if", n->when->raw);
	if (n->step->metadata)
		json_object_set(r->vars, "step", (json_t *)n->step->metadata);
	if (n->kind == NODE_COMMAND)
		arena_reset(&p->scratch);
	plan_work(r, n);
	if (n->step->data && !remember(r, n))
		forget(r->vars, step_of(n));
	buf_truncate(&p->note, before);
}

static void begin(struct planning *p)
{
	const struct planned_host *host = p->host;

	p->agents = step_agents_new(host->agents, str_of(host->cwd ? host->cwd : "."));
}

static void end(struct planning *p)
{
	step_agents_free(p->agents);
	buf_done(&p->path);
	buf_done(&p->note);
	arena_done(&p->scratch);
}

void planned_steps_walk(
	const struct plan *plan, const struct planned_host *host, walk_fn *visit, void *data)
{
	struct planning p = { .host = host, .visit = visit, .data = data };
	const struct step_graph *g = plan->graph->steps;
	struct planned_recipe r = { .p = &p,
		.graph = g,
		.vars = json_deep_copy(plan->vars),
		.depth = 1,
		.max_depth = g->max_depth };

	json_object_set(r.vars, "recipe", g->metadata);
	set_session(&p, r.vars);
	begin(&p);
	plan_node(&r, plan->graph->root);
	end(&p);
	json_decref(r.vars);
}

bool planned_import_walk(
	const struct walk_leaf *call, const struct planned_host *host, walk_fn *visit, void *data)
{
	struct planning p = { .host = host, .visit = visit, .data = data };

	/* The root has no part in the paths below it. */
	if (!str_eq(call->path, S(".")))
		buf_add(&p.path, call->path);
	begin(&p);
	plan_import(&p, call, 0, 0);
	end(&p);
	return !p.stopped;
}
