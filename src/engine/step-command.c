#include <inttypes.h>
#include <string.h>

#include "base/environ.h"
#include "engine/command.h"
#include "engine/steps.h"
#include "graph/around.h"

/* The command of a bash or agent step: made by the dialect, and an agent's at its turn. */

/* False: it was one agent too many. */
static bool count_agent(struct frame *f)
{
	bool charged = f->tries.now > 1 || (f->role == FRAME_COPY && node_joins(f->up->node));

	if (charged || pace_charge(f, 1))
		return true;
	step_mistake(f);
	return false;
}

static void begin(struct frame *f)
{
	bool agent = f->node->step->agent;

	f->state = FRAME_WAITING;
	if ((agent && !count_agent(f)) || command_is_found(f))
		return;
	if (agent)
		pace_want(f);
	else
		schedule_command(f);
}

static uint64_t max_output(const struct frame *f)
{
	return f->node->step->max_output;
}

static void take(struct frame *f, struct step_command *made, struct job_spec *spec)
{
	const struct step_node *s = f->node->step;

	buf_add(&f->leaf.remove, buf_str(&made->remove));
	content_unref(f->in);
	f->in = content_from_buf(&made->in);
	spec->in = f->in;
	spec->argv = made->argv;
	spec->argc = made->argc;
	spec->env = made->env;
	spec->cwd = made->cwd;
	if (!f->leaf.announced)
		run_emit_frame(f->run,
			&(struct event){ .kind = s->agent ? EVENT_AGENT_START : EVENT_BASH_START,
				.attempt = f->tries.now,
				.step.env = buf_str(&made->shown) },
			f);
}

/* `cwd` and `env` of a template that imports the recipe hold for steps that say nothing else. */
static bool surround(struct frame *f, struct job_spec *spec, struct arena *a)
{
	const struct frame *import = step_caller(f);
	struct run *r = f->run;
	struct around around;

	while (import && !import->node->call)
		import = step_caller(import);
	if (!import)
		return true;
	if (!around_build(import->node, import->scope, a, &around, &r->issues)) {
		step_mistake(f);
		return false;
	}
	if (around.env) {
		struct environ_list both = { 0 };

		environ_add(&both, command_env_without(around.env, r->options.env, a), spec->env);
		const char **env = arena_array(a, const char *, both.vars.len + 1);
		memcpy(env, both.vars.at, both.vars.len * sizeof(*env));
		spec->env = env;
		vec_done(&both.vars);
	}
	bool own = spec->cwd != r->options.steps->project;
	return !around.cwd || own || command_go_to(f, around.cwd, spec, a);
}

static bool make(struct frame *f, struct job_spec *spec, struct arena *a)
{
	const struct step_node *s = f->node->step;
	struct run *r = f->run;
	struct step_command made = { 0 };
	enum step_made how = s->ops->make(
		f->node, f->scope, step_call_of(f), r->options.steps, &made, a, &r->issues);

	if (how == STEP_MADE) {
		take(f, &made, spec);
	} else if (how == STEP_MISTAKE) {
		step_mistake(f);
	} else {
		struct verdict v = { .code = made.code,
			.err = buf_str(&made.why),
			.err_tail = buf_str(&made.why),
			.no_retry = true };

		command_judge(f, &v, NULL);
	}
	buf_done(&made.in);
	buf_done(&made.shown);
	buf_done(&made.remove);
	buf_done(&made.why);
	return how == STEP_MADE && surround(f, spec, a);
}

static void display(const struct frame *f, struct buf *b)
{
	buf_add(b, f->node->line);
}

static void name(const struct frame *f, struct buf *b)
{
	buf_printf(b, "step '%.*s'", STR(f->node->step->id));
}

static void judge(const struct frame *f, const struct verdict *v, struct outcome *o)
{
	o->code = f->timed_out ? f->ops->dialect->limit_code : verdict_code(v);
	o->no_retry = v->no_retry || o->code == 126 || o->code == 127;
	o->cut = v->cut;
}

static void warn_cut(struct frame *f)
{
	AUTO_BUF text = BUF_INIT;

	buf_printf(&text,
		"step '%.*s' printed more than max_output_size (%" PRIu64
		" bytes); the rest was dropped",
		STR(f->node->step->id), f->node->step->max_output);
	run_warn_once(f->run, buf_str(&text));
}

static void abandoned(struct frame *f)
{
	pace_ended(f, &f->outcome);
}

static void done(struct frame *f)
{
	command_done(f);
	step_remove_files(f);
	buf_done(&f->leaf.remove);
}

static const struct command_kind kind = {
	.keeps_err = true,
	.max_output = max_output,
	.make = make,
	.display = display,
	.name = name,
	.judge = judge,
	.cut = warn_cut,
	.ended = pace_ended,
};

const struct frame_ops step_command_ops = {
	.dialect = &frame_steps,
	.command = &kind,
	.late_limit = true,
	.begin = begin,
	.recorded = command_recorded,
	.start = command_start,
	.halt = command_halt,
	.kill = command_kill,
	.abandoned = abandoned,
	.done = done,
};
