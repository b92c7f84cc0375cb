#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/freeze.h"
#include "app/resume.h"
#include "app/run.h"
#include "base/file.h"
#include "base/run-status.h"
#include "hosts/cli/commands.h"
#include "hosts/cli/launch-opts.h"
#include "hosts/cli/run-operand.h"
#include "hosts/cli/template.h"
#include "hosts/cli/values.h"
#include "runs/dir/leaves.h"
#include "runs/dir/leftovers.h"
#include "runs/dir/partial-files.h"

struct cmd_resume_opts {
	struct template_opts template; /* only --values */
	struct run_opts run;
	struct common_opts common;
	struct launch_opts launch;
	unsigned in_doubt;
	const char *from;
	bool only, foreground;
};

static const char *const doubt_words[] = { "rerun", "stop", NULL };
enum { DOUBT_RERUN, DOUBT_STOP };

static const struct opt resume_opts[] = {
	OPT_CHOICE(0, "in-doubt", doubt_words, struct cmd_resume_opts, in_doubt,
		"what becomes of commands that were running when the run was cut short"),
};

static const struct opt rerun_opts[] = {
	OPT_TEXT(0, "from", "NODE", struct cmd_resume_opts, from,
		"run this node again and what follows it; its path, or its label"),
	OPT_FLAG(0, "only", struct cmd_resume_opts, only,
		"run only that node; its output is the result"),
	OPT_FLAG(0, "foreground", struct cmd_resume_opts, foreground,
		"stay attached, which is the default; wins over --detach"),
};

static const struct opt_set resume_sets[] = {
	OPT_SET_IN("Options", values_opts, struct cmd_resume_opts, template),
	OPT_SET(NULL, resume_opts),
	OPT_SET_IN(NULL, launch_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, secret_opts, struct cmd_resume_opts, launch.secrets),
	OPT_SET_IN(NULL, agent_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, step_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, run_opts, struct cmd_resume_opts, run),
	COMMON_SET(struct cmd_resume_opts),
};

static const struct opt_set rerun_sets[] = {
	OPT_SET("Options", rerun_opts),
	OPT_SET_IN(NULL, values_opts, struct cmd_resume_opts, template),
	OPT_SET_IN(NULL, name_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, launch_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, secret_opts, struct cmd_resume_opts, launch.secrets),
	OPT_SET_IN(NULL, agent_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, step_opts, struct cmd_resume_opts, launch),
	OPT_SET_IN(NULL, run_opts, struct cmd_resume_opts, run),
	COMMON_SET(struct cmd_resume_opts),
};

/* -- both ----------------------------------------------------------------------------------------
 */

/* How long somebody who was killed a moment ago may take to be gone. */
enum { DYING_MS = 250, LOCK_MS = 512 };

/* Whoever is killed keeps its lock until the kernel has taken it apart, and so does what it was
 * forking in that moment: `kill -9 PID; roux resume RUN` comes while that goes on. */
static bool ends_now(const struct run_look *look)
{
	AUTO_CLOSE int fd = look_supervisor(&look->row);
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd >= 0 && poll(&p, 1, DYING_MS) <= 0)
		return false;
	for (long ms = 1; run_locked(look->dir.p); ms *= 2) {
		if (ms > LOCK_MS)
			return false;
		(void)nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
	}
	return true;
}

static bool find_run(struct cli *cli, const char *word, struct run_look *ret, const char **reason)
{
	if (!run_operand(cli, word, ret, reason))
		return false;
	if (!ret->live || !ends_now(ret))
		return true;
	look_done(ret);
	return run_operand(cli, word, ret, reason);
}

/* Values given now win over the old ones. */
static bool add_values(struct cli *cli, const struct cmd_resume_opts *o, struct launch *l,
	size_t count, const char *const *words)
{
	bool stdin_used = false;
	AUTO_JSON *given = values_read(cli, &o->template.values, count - 1, words + 1, &stdin_used);

	if (!given || !launch_secrets(cli, &o->launch, l) ||
		!launch_options(cli, &o->launch, &o->run, l))
		return false;
	if (l->recipe &&
		!public_arguments_check(l->recipe->arguments, given, CALLER_PERSON, &cli->report))
		return false;
	json_object_update(l->values, given);
	return true;
}

/* The run works where it was started, unless -C says otherwise. */
static bool go_to_start(
	struct cli *cli, const struct cmd_resume_opts *o, const struct run_look *look)
{
	AUTO_BUF dir = BUF_INIT;

	buf_add(&dir, look->row.cwd);
	if (o->common.dir || !dir.len || chdir(buf_cstr(&dir)) == 0)
		return true;
	report_errno(
		&cli->report, errno, "cannot go to %s, where the run was started", buf_cstr(&dir));
	return report_hint(&cli->report, "-C DIR names another directory");
}

/* The plan with the values as they are now. */
static bool plan_again(struct cli *cli, struct launch *l)
{
	plan_unref(l->plan);
	l->plan = plan_new(l->graph, l->values, &cli->report);
	return l->plan != NULL;
}

/* -- resume --------------------------------------------------------------------------------------
 */

/* A run that has come to its end gives the same result again. */
static int answer_ended(
	struct cli *cli, const struct cmd_resume_opts *o, const struct run_look *look)
{
	int status = run_answer(cli, look, o->common.json, o->run.quiet);

	return status ? status : runs_exit(look, o->run.strict, o->run.tolerate);
}

/* Whatever is left of a killed supervisor's trees is ended before anything is started beside it. */
static void end_leftovers(const struct launch *l, const struct run_look *look)
{
	size_t n = leftovers_end(l->id, l->generation, look->row.pid_start);
	AUTO_BUF line = BUF_INIT;

	if (!n)
		return;
	buf_printf(&line, "roux: ended %zu process%s that the run had left behind\n", n,
		n == 1 ? "" : "es");
	cli_say(buf_str(&line));
}

/* What runs again and why. False: it was not to be run without being asked. */
static bool explain(struct cli *cli, const struct cmd_resume_opts *o, struct launch *l)
{
	AUTO_BUF text = BUF_INIT;
	AUTO_BUF doubt = BUF_INIT;
	struct leaves *leaves = leaves_read(run_file(&l->arena, l->dir, LEAVES_FILE), &cli->report);

	if (!leaves)
		return false;
	resume_in_doubt(leaves, &doubt);
	resume_explain(l, leaves, &text);
	bool lacks = resume_lacks_input(l, leaves);
	leaves_free(leaves);
	if (lacks) {
		report_error(&cli->report, (struct where){ 0 },
			"the standard input was not read to its end before the run was cut short");
		return report_hint(&cli->report,
			"start it again with its input; %.*s/stdin.part has what came",
			STR(l->dir));
	}
	if (doubt.len && o->in_doubt == DOUBT_STOP) {
		report_error(&cli->report, (struct where){ 0 },
			"in doubt: %s was running when the run was cut short", buf_cstr(&doubt));
		return report_hint(
			&cli->report, "see what it has done, then resume with --in-doubt rerun");
	}
	if (!o->run.quiet && !o->common.json)
		cli_say(buf_str(&text));
	return true;
}

/* The path of what failed the run, and so has to be taken back; empty: no command has, the machine
 * did. */
static struct str failed_node(const struct launch *l, const struct run_look *look)
{
	const json_t *failures = json_object_get(look->result, "failures");
	const json_t *total = json_object_get(look->result, "failures_total");
	struct str node = look_text(look->result, "failed_node");

	if (!status_rests(look->status, STATUS_BROKEN))
		return S("");
	if (node.len)
		return node;
	if (status_is(look->status, ROUX_TIMEOUT))
		return node_root_path(l->graph->root);
	/* Past the number that is listed nobody knows any more which it was. */
	return (size_t)json_integer_value(total) > json_array_size(failures) ? S(".") : S("");
}

static int resume_locked(struct cli *cli, const struct cmd_resume_opts *o, struct launch *l,
	struct run_look *look, size_t count, const char *const *words)
{
	struct str failed = failed_node(l, look);
	struct str retried = look_text(look->result, "retried_node");

	l->row.created = look->row.created;
	l->row.seq = look->row.seq;
	l->detached = o->launch.detach;
	if (!add_values(cli, o, l, count, words) || !plan_again(cli, l))
		return cli_refuse(cli, o->common.json);
	/* One that came to its end has left only what was meant to stay. */
	if (!look->result)
		end_leftovers(l, look);
	partial_files_remove(l->dir.p, 0);
	if (failed.len && !resume_take_back(l, failed, retried, &cli->report))
		return cli_refuse(cli, o->common.json);
	if (!explain(cli, o, l))
		return launch_refuse(cli, o->common.json, "cannot go on");
	if (!freeze_write(l, &cli->report))
		return cli_refuse(cli, o->common.json);
	return launch_resume(cli, l, &o->run, o->common.json);
}

/* Somebody else may have gone on with it since we looked. */
static bool still_as_seen(const struct run_look *look, struct report *r)
{
	AUTO_JSON *run = freeze_json(look->dir, "run.json", false, r);

	return run && json_integer_value(json_object_get(run, "pid")) == look->row.pid &&
	       (uint64_t)json_integer_value(json_object_get(run, "pid_start")) ==
		       look->row.pid_start;
}

static bool refuse_running(const struct run_look *look, struct report *r)
{
	report_error(r, (struct where){ 0 }, "the run '%.*s' is running", STR(look->id));
	return report_hint(r, "`roux wait %.*s` waits for its end", STR(look->id));
}

static bool refuse_unbegun(const struct run_look *look, struct report *r)
{
	report_error(
		r, (struct where){ 0 }, "the run '%.*s' was ended before it began", STR(look->id));
	return report_hint(r, "nothing of it has been run: start it again");
}

static int resume(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct cmd_resume_opts *o = opts;
	struct launch l = LAUNCH_INIT;
	AUTO_LOOK look = { 0 };
	const char *reason = NULL;
	int status;

	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	if (!find_run(cli, words[0], &look, &reason))
		return run_operand_refuse(cli, o->common.json, words[0], reason);
	if (status_rests(look.status, STATUS_COMPLETE))
		return answer_ended(cli, o, &look);
	if (!go_to_start(cli, o, &look))
		return cli_refuse(cli, o->common.json);
	int locked = look.live ? -EWOULDBLOCK : run_lock(look.dir.p, &l.lock);
	if (locked == -EWOULDBLOCK) {
		refuse_running(&look, &cli->report);
		status = launch_refuse(cli, o->common.json, "running");
	} else if (!look.start) {
		refuse_unbegun(&look, &cli->report);
		status = launch_refuse(cli, o->common.json, "not begun");
	} else if (locked == 0 && !still_as_seen(&look, &cli->report)) {
		launch_done(&l);
		return resume(host, c, opts, count, words);
	} else if (locked < 0) {
		report_errno(&cli->report, -locked, "cannot lock %.*s", STR(look.dir));
		status = cli_refuse(cli, o->common.json);
	} else if (!launch_thaw(&l, look.dir, &cli->report)) {
		status = cli_refuse(cli, o->common.json);
	} else {
		status = resume_locked(cli, o, &l, &look, count, words);
	}
	launch_done(&l);
	return status;
}

int cli_resume(struct cli *cli, const char *run, const struct common_opts *o)
{
	const struct cmd_resume_opts opts = { .run = RUN_OPTS_DEFAULTS, .common = *o };

	return resume(cli, &cmd_resume, &opts, 1, &run);
}

/* -- rerun ---------------------------------------------------------------------------------------
 */

/* Where it begins: what was asked for, or the first failure, or the beginning. */
static bool choose_node(struct cli *cli, const struct cmd_resume_opts *o, const struct launch *l,
	const struct run_look *look, struct buf *node)
{
	const json_t *first = json_array_get(json_object_get(look->result, "failures"), 0);

	if (o->from)
		return rerun_node(l, look->dir, str_of(o->from), node, &cli->report);
	if (o->only) {
		report_error(&cli->report, (struct where){ 0 }, "--only needs --from NODE");
		return report_hint(
			&cli->report, "`roux graph run:%.*s` shows the nodes", STR(look->id));
	}
	rerun_nearest(l, look->dir, look_text(first, "path"), node);
	return true;
}

static int rerun_thawed(struct cli *cli, const struct cmd_resume_opts *o, struct launch *l,
	const struct run_look *look, size_t count, const char *const *words)
{
	AUTO_BUF node = BUF_INIT;
	struct str name = l->recipe ? l->recipe->file->id : S("run");

	l->id = S("");
	if (!choose_node(cli, o, l, look, &node))
		return o->from ? launch_refuse(cli, o->common.json, "no such node")
			       : cli_refuse(cli, o->common.json);
	if (!add_values(cli, o, l, count, words))
		return cli_refuse(cli, o->common.json);
	if (!l->id.len)
		l->id = run_id_make(&l->arena, name);
	l->dir = run_directory(&l->arena, l->root, l->id);
	l->rerun_of = look->id;
	l->how = S("rerun");
	l->detached = o->launch.detach && !o->foreground;
	l->only = o->only ? buf_str(&node) : S("");
	if (!l->graph->steps)
		run_add_values(l->values, l->id, l->dir);
	if (!plan_again(cli, l))
		return cli_refuse(cli, o->common.json);
	return launch_start(cli, l, &o->run, o->common.json, true,
		&(struct launch_from){ look->dir, buf_str(&node) });
}

static int rerun(void *host, const struct command *c, const void *opts, size_t count,
	const char *const *words)
{
	struct cli *cli = host;
	const struct cmd_resume_opts *o = opts;
	struct launch l = LAUNCH_INIT;
	AUTO_LOOK look = { 0 };
	const char *reason = NULL;
	int status;

	(void)c;
	if (!cli_enter(cli, &o->common))
		return cli_refuse(cli, o->common.json);
	if (!find_run(cli, words[0], &look, &reason))
		return run_operand_refuse(cli, o->common.json, words[0], reason);
	if (look.live) {
		refuse_running(&look, &cli->report);
		status = launch_refuse(cli, o->common.json, "running");
	} else if (!go_to_start(cli, o, &look) || !launch_thaw(&l, look.dir, &cli->report)) {
		status = cli_refuse(cli, o->common.json);
	} else {
		status = rerun_thawed(cli, o, &l, &look, count, words);
	}
	launch_done(&l);
	return status;
}

/* -- tables --------------------------------------------------------------------------------------
 */

static const struct cmd_resume_opts defaults = { .run = RUN_OPTS_DEFAULTS };

static const struct command_example resume_examples[] = {
	{ "roux resume nightly", "go on where it was cut short or failed" },
};

static const struct command_example rerun_examples[] = {
	{ "roux rerun nightly --from report", "the node labelled report and what follows" },
};

const struct command cmd_resume = {
	.name = "resume",
	.operands = "RUN [name=value]...",
	.summary = "go on with a run that was cut short or failed",
	.details =
		"Commands whose end was recorded are not executed again: their output is what the "
		"next ones read. The run goes on as it was started, whatever became of the recipe "
		"since. A failed run tries again what failed it.",
	.examples = resume_examples,
	.example_count = ARRAY_SIZE(resume_examples),
	.sets = resume_sets,
	.set_count = ARRAY_SIZE(resume_sets),
	.options_size = sizeof(struct cmd_resume_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RUN,
	.run = resume,
};

const struct command cmd_rerun = {
	.name = "rerun",
	.operands = "RUN [name=value]...",
	.summary = "do a part of an ended run again, as a new run",
	.details =
		"Runs NODE and everything that follows it; what comes before is taken over with "
		"its recorded results. Without --from it begins with the first node that failed. "
		"The old run is not touched.",
	.examples = rerun_examples,
	.example_count = ARRAY_SIZE(rerun_examples),
	.sets = rerun_sets,
	.set_count = ARRAY_SIZE(rerun_sets),
	.options_size = sizeof(struct cmd_resume_opts),
	.defaults = &defaults,
	.min_operands = 1,
	.max_operands = OPERANDS_ANY,
	.complete = COMPLETE_RUN,
	.run = rerun,
};
