#pragma once

#include "graph/graph.h"
#include "graph/step.h"

#include "lab.h"

/*
 * A step recipe in the lab, with a dialect that is as small as can be: the command of a step is its
 * id, its result is the text that it printed, a loop is over `items` and a text stands for itself.
 * Steps are children of one sequence unless a test says otherwise; what the host and the dialect
 * were asked is told in `heard`, and so are the events of steps.
 */
struct steps_lab {
	struct lab lab;
	struct node nodes[12], root;
	struct step_node steps[12], root_step;
	struct text texts[8];
	const struct node *children[12];
	size_t count, text_count;
	struct step_graph graph;
	struct step_host host;
	struct plan *plan;
	json_t *vars;
	struct buf heard;
	/* What the operations say, for the next that is asked. */
	enum step_made makes, calls;
	const char *removes; /* a file of the command, to delete at its end */
	bool no_result;
	struct graph called; /* by NODE_CALL */
	struct plan *called_plan;
};

static struct steps_lab *steps_now; /* the operations get no data of their own */

static inline void steps_hear(const char *what, struct str which)
{
	buf_printf(
		&steps_now->heard, "%s%s%.*s", steps_now->heard.len ? " " : "", what, STR(which));
}

/* -- the dialect ---------------------------------------------------------------------------------
 */

static inline enum step_made steps_make(const struct node *n, const struct scope *s UNUSED,
	const struct step_call *call UNUSED, const struct step_host *host UNUSED,
	struct step_command *ret, struct arena *a, struct report *r)
{
	const char **argv = arena_array(a, const char *, 2);

	if (steps_now->makes == STEP_MISTAKE)
		report_error(r, (struct where){ 0 }, "made wrong");
	if (steps_now->makes == STEP_CANNOT) {
		ret->code = 127;
		buf_adds(&ret->why, "there is none");
	}
	if (steps_now->removes)
		buf_add(&ret->remove,
			(struct str){ steps_now->removes, strlen(steps_now->removes) + 1 });
	argv[0] = arena_str(a, n->step->id).p;
	argv[1] = NULL;
	ret->argv = argv;
	ret->argc = 1;
	return steps_now->makes;
}

static inline json_t *steps_result(const struct node *n UNUSED, struct str printed,
	const struct step_host *host UNUSED, struct report *r)
{
	if (!steps_now->no_result)
		return json_from_str(printed);
	report_error(r, (struct where){ 0 }, "not what was asked for");
	report_hint(r, "ask again");
	return NULL;
}

static inline json_t *steps_said(const struct node *n UNUSED, struct str printed)
{
	return json_pack("[o]", json_from_str(printed));
}

static inline json_t *steps_list(
	const struct node *n UNUSED, const struct scope *s, struct report *r UNUSED)
{
	return json_incref(json_object_get(scope_vars(s), "items"));
}

static inline enum step_made steps_call(const struct node *n UNUSED, const struct scope *s UNUSED,
	const struct step_call *up, const struct step_host *host UNUSED, struct step_call *ret,
	struct report *r)
{
	if (steps_now->calls != STEP_MADE) {
		report_error(r, (struct where){ 0 }, "no such recipe");
		return steps_now->calls;
	}
	ret->up = up;
	ret->graph = graph_ref(&steps_now->called);
	ret->vars = json_pack("{s:s}", "own", "begin");
	ret->depth = up->depth + 1;
	ret->max_agents = up->max_agents;
	if (steps_now->called_plan) {
		graph_unref(ret->graph);
		ret->plan = plan_ref(steps_now->called_plan);
		ret->graph = graph_ref(ret->plan->graph);
	}
	return STEP_MADE;
}

static inline json_t *steps_returned(const struct step_call *call)
{
	return json_incref(call->vars);
}

static inline void steps_text(struct buf *b, const json_t *value)
{
	if (json_is_string(value))
		buf_add(b, json_str(value));
	else
		json_write(b, value, 0);
}

static inline bool steps_resolve(
	const struct text *t, const struct scope *s UNUSED, struct buf *ret, struct report *r)
{
	buf_add(ret, t->raw);
	return !str_eq(t->raw, S("mistake")) ||
	       report_error(r, (struct where){ 0 }, "a mistake in a text");
}

static inline bool steps_decide(
	const struct text *t, const struct scope *s UNUSED, bool *ret, struct report *r)
{
	*ret = str_eq(t->raw, S("yes"));
	return !str_eq(t->raw, S("mistake")) ||
	       report_error(r, (struct where){ 0 }, "a mistake in a guard");
}

static const struct text_ops steps_text_ops = { .resolve = steps_resolve, .decide = steps_decide };

static const struct step_ops steps_ops = { .make = steps_make,
	.result = steps_result,
	.said = steps_said,
	.list = steps_list,
	.call = steps_call,
	.returned = steps_returned,
	.text = steps_text };

/* -- making one ----------------------------------------------------------------------------------
 */

static inline const struct text *steps_write(struct steps_lab *s, const char *raw)
{
	struct text *t = &s->texts[s->text_count++];

	*t = (struct text){ .ops = &steps_text_ops, .raw = str_of(raw) };
	return t;
}

/* All nodes stand at the beginning of a text without a name. */
static inline struct where steps_nowhere(const struct place *p UNUSED)
{
	return (struct where){ 0 };
}

static const struct locator steps_locator = { .value = steps_nowhere };
static const struct doc steps_doc = { .locator = &steps_locator };
static const struct place steps_place = { .doc = &steps_doc };

/* A node that is in no group yet. */
static inline struct node *steps_node(struct steps_lab *s, enum node_kind kind, const char *id)
{
	struct step_node *own = &s->steps[s->count];
	struct node *n = &s->nodes[s->count++];

	*own = (struct step_node){ .ops = &steps_ops,
		.id = str_of(id),
		.listed = true,
		.keeps_output = true,
		.max_output = 4096 };
	*n = (struct node){ .kind = kind,
		.runs = true,
		.place = &steps_place,
		.line = str_of(id),
		.label = str_of(id),
		.step = own,
		.failure = kind == NODE_SEQUENCE ? FAILURE_CONTINUE : FAILURE_BRANCH,
		.retry.value = 1 };
	return n;
}

static inline struct step_node *steps_own(const struct node *n)
{
	return (struct step_node *)n->step;
}

/* The next step of the recipe. */
static inline struct node *steps_add(struct steps_lab *s, enum node_kind kind, const char *id)
{
	struct node *n = steps_node(s, kind, id);

	s->children[s->root.child_count++] = n;
	return n;
}

static inline struct node *steps_bash(struct steps_lab *s, const char *id)
{
	return steps_add(s, NODE_COMMAND, id);
}

static inline void steps_continue(struct node *n)
{
	steps_own(n)->on_error = STEP_FAILURE_CONTINUE;
	n->failure = FAILURE_CONTINUE;
	n->failure_stated = true;
}

static inline void steps_init(struct steps_lab *s)
{
	*s = (struct steps_lab){ 0 };
	lab_init(&s->lab);
	steps_now = s;
	s->root_step = (struct step_node){ .ops = &steps_ops };
	s->root = (struct node){ .kind = NODE_SEQUENCE,
		.runs = true,
		.children = s->children,
		.step = &s->root_step,
		.retry.value = 1 };
	s->graph = (struct step_graph){ .ops = &steps_ops, .max_depth = 5, .max_agents = 100 };
	s->host.max_parallel = 16;
	s->called.references = 1;
	s->vars = json_object();
}

/* -- running it ----------------------------------------------------------------------------------
 */

static inline void steps_listen(void *data UNUSED, const struct event *e)
{
	if (!event_is_step(e->kind))
		return;
	steps_hear(event_name(e->kind), S(""));
	buf_printf(&steps_now->heard, "(%.*s)", STR(e->path));
}

static inline void steps_run_as(struct steps_lab *s, const struct run_options *o)
{
	struct run_options options = o ? *o : (struct run_options){ 0 };
	struct executor *e = &s->lab.executor;

	s->plan = lab_plan("'x'");
	s->plan->graph->root = &s->root;
	s->plan->graph->steps = &s->graph;
	options.jobs = 8;
	options.executors = &e;
	options.executor_count = 1;
	options.stdin_fd = -1;
	options.steps = &s->host;
	options.vars = s->vars;
	options.listen = steps_listen;
	options.ended = lab_on_ended;
	options.ended_data = &s->lab;
	s->lab.run = run_start(s->lab.loop, s->plan, &options);
	lab_turn(&s->lab);
}

static inline void steps_run(struct steps_lab *s)
{
	steps_run_as(s, NULL);
}

#define steps_assert_heard(s, want) steps_heard_is((s), (want), __FILE__, __LINE__)
/* What happened since the last time. */
static inline void steps_heard_is(struct steps_lab *s, const char *want, const char *file, int line)
{
	unit_str(buf_str(&s->heard), str_of(want), file, line);
	buf_reset(&s->heard);
}

static inline struct str steps_json(struct buf *b, const json_t *value)
{
	buf_reset(b);
	if (value)
		json_write(b, value, 0);
	return buf_str(b);
}

#define steps_assert_var(s, name, want) steps_var_is((s), (name), (want), __FILE__, __LINE__)
/* As JSON with ' for "; empty: it is not set. */
static inline void steps_var_is(
	struct steps_lab *s, const char *name, const char *want, const char *file, int line)
{
	AUTO_BUF b = BUF_INIT;

	(void)steps_json(&b, json_object_get(s->vars, name));
	for (size_t i = 0; i < b.len; i++)
		if (b.p[i] == '"')
			b.p[i] = '\'';
	unit_str(buf_str(&b), str_of(want), file, line);
}

#define steps_assert_listed(s, want) steps_listed_is((s), (want), __FILE__, __LINE__)
/* "id:status:code:attempts" of the result's steps. */
static inline void steps_listed_is(
	struct steps_lab *s, const char *want, const char *file, int line)
{
	AUTO_BUF b = BUF_INIT;
	const json_t *step;
	size_t i;

	json_array_foreach((json_t *)run_result(s->lab.run)->steps, i, step) buf_printf(&b,
		"%s%s:%s:%d:%d", i ? " " : "", json_string_value(json_object_get(step, "id")),
		json_string_value(json_object_get(step, "status")),
		(int)json_number_of(step, "code"), (int)json_number_of(step, "attempts"));
	unit_str(buf_str(&b), str_of(want), file, line);
}

/* The run has ended so, and this was the test. */
static inline void steps_finish(struct steps_lab *s, enum run_status status)
{
	s->plan->graph->steps = NULL; /* it is not the graph's to free */
	lab_finish(&s->lab, status);
	plan_unref(s->plan);
	json_decref(s->vars);
	buf_done(&s->heard);
	assert_int_equal(s->called.references, 1);
}
