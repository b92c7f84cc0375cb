#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/environ.h"
#include "base/path.h"
#include "base/shell-words.h"
#include "engine/command.h"
#include "graph/argv.h"
#include "graph/around.h"

/* The command of a template: words from the node's own text. */

static void begin(struct frame *f)
{
	f->state = FRAME_WAITING;
	if (!command_is_found(f))
		schedule_command(f);
}

static uint64_t max_output(const struct frame *f)
{
	return f->run->options.max_output;
}

/* It fails before it starts. Returns false. */
static bool PRINTF(2, 3) fail_early(struct frame *f, const char *fmt, ...)
{
	AUTO_BUF why = BUF_INIT;
	va_list args;

	va_start(args, fmt);
	buf_vprintf(&why, fmt, args);
	va_end(args);
	struct verdict v = { .code = 1, .err = buf_str(&why), .err_tail = buf_str(&why) };
	command_judge(f, &v, NULL);
	return false;
}

/* `cwd` is meant from where the run is, and so is a program that is named by a path. */
bool command_go_to(struct frame *f, const char *cwd, struct job_spec *spec, struct arena *a)
{
	struct str here =
		f->run->options.cwd ? str_of(f->run->options.cwd) : path_absolute(a, S("."));
	struct str there = path_from(a, here, str_of(cwd));
	struct stat st;

	if (stat(there.p, &st) < 0)
		return fail_early(f, "cwd %s: %s", cwd, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return fail_early(f, "cwd %s: %s", cwd, strerror(ENOTDIR));
	spec->cwd = there.p;
	if (strchr(spec->argv[0], '/'))
		spec->program = path_from(a, here, str_of(spec->argv[0])).p;
	return true;
}

/* Those that the caller has set win. */
const char *const *command_env_without(
	const char *const *env, const char *const *set, struct arena *a)
{
	size_t count = 0, n = 0;

	while (env[count])
		count++;
	const char **kept = arena_array(a, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		if (!set || !environ_sets(set, env[i]))
			kept[n++] = env[i];
	return kept;
}

/* A terminal is given to one command, and nothing else runs meanwhile. */
static bool take_terminal(struct frame *f, struct job_spec *spec)
{
	for (const struct frame *up = f->up; up; up = up->up)
		if (node_joins(up->node))
			return fail_early(f, "`tty`: it is inside a parallel node");
	if (!f->run->options.tty)
		return fail_early(f, "`tty`: the run has no terminal to give it");
	spec->terminal = true;
	return true;
}

static bool make(struct frame *f, struct job_spec *spec, struct arena *a)
{
	struct report *r = &f->run->issues;
	struct around around;

	if (!argv_build(f->node, f->scope, a, &spec->argv, &spec->argc, r) ||
		!around_build(f->node, f->scope, a, &around, r)) {
		run_fail(f->run, RUN_INVALID);
		frame_end_halted(f);
		return false;
	}
	if (around.env)
		spec->env = command_env_without(around.env, f->run->options.env, a);
	if (around.cwd && !command_go_to(f, around.cwd, spec, a))
		return false;
	return !f->node->tty || take_terminal(f, spec);
}

static void display(const struct frame *f, struct buf *b)
{
	struct arena a = ARENA_INIT;
	AUTO_REPORT ignored = REPORT_INIT;
	const char *const *argv;
	size_t argc;

	if (argv_build(f->node, f->scope, &a, &argv, &argc, &ignored))
		command_display(b, argv, argc);
	arena_done(&a);
}

static void name(const struct frame *f, struct buf *b)
{
	buf_adds(b, "node ");
	frame_path(f, b);
}

/* At its time limit it keeps a code of its own, but does not succeed. */
static void judge(const struct frame *f, const struct verdict *v, struct outcome *o)
{
	o->code = verdict_code(v);
	if (f->timed_out)
		o->code = !v->signal && v->code ? v->code : 1;
}

static const struct command_kind kind = {
	.max_output = max_output,
	.make = make,
	.display = display,
	.name = name,
	.judge = judge,
};

const struct frame_ops command_ops = {
	.dialect = &frame_templates,
	.command = &kind,
	.late_limit = true,
	.begin = begin,
	.recorded = command_recorded,
	.start = command_start,
	.halt = command_halt,
	.kill = command_kill,
	.done = command_done,
};
